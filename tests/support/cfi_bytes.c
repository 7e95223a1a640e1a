// SPDX-License-Identifier: BSD-2-Clause
/* Writes CIEs and FDEs. */
#include "cfi_bytes.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

void cfi_bytes_put(struct cfi_bytes *bytes, const void *data, size_t size)
{
	if (bytes->size + size > bytes->capacity) {
		bytes->capacity = (bytes->size + size) * 2;
		bytes->data = realloc(bytes->data, bytes->capacity);
		if (!bytes->data)
			err(1, "call frame information");
	}
	memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
}

void cfi_bytes_done(struct cfi_bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct cfi_bytes){0};
}

/* Leaves room for the length; the offset goes to end_entry(). */
static size_t begin_entry(struct cfi_bytes *bytes)
{
	static const uint32_t length;
	size_t start = bytes->size;

	cfi_bytes_put(bytes, &length, sizeof(length));
	return start;
}

static void end_entry(struct cfi_bytes *bytes, size_t start)
{
	uint32_t length;

	while ((bytes->size - start) % 8 != 0)
		cfi_bytes_put(bytes, "", 1);
	length = (uint32_t)(bytes->size - start - sizeof(length));
	memcpy(bytes->data + start, &length, sizeof(length));
}

static void put_cie(struct cfi_bytes *bytes, const char *augmentation, uint8_t version,
		    const void *factors, uint8_t return_address, const void *program,
		    size_t program_size)
{
	uint32_t id = bytes->is_debug_frame ? UINT32_MAX : 0;
	size_t start = begin_entry(bytes);

	bytes->last_cie = start;
	cfi_bytes_put(bytes, &id, sizeof(id));
	cfi_bytes_put(bytes, &version, 1);
	cfi_bytes_put(bytes, augmentation, strlen(augmentation) + 1);
	if (version == 4)
		cfi_bytes_put(bytes, "\x08\x00", 2); /* address size, no segments */
	cfi_bytes_put(bytes, factors, 2);
	cfi_bytes_put(bytes, &return_address, 1);
	if (augmentation[0] == 'z')
		cfi_bytes_put(bytes, "\x01\x04", 2); /* one byte: addresses are absolute u64 */
	cfi_bytes_put(bytes, program, program_size);
	end_entry(bytes, start);
}

void cfi_bytes_raw_cie(struct cfi_bytes *bytes, const char *augmentation, uint8_t version,
		       uint8_t return_address, const void *program, size_t program_size)
{
	put_cie(bytes, augmentation, version, "\x01\x78", return_address, program, program_size);
}

void cfi_bytes_cie(struct cfi_bytes *bytes, const char *augmentation)
{
	cfi_bytes_raw_cie(bytes, augmentation, 1, 16, "\x0c\x07\x08\x90\x01", 5);
}

void cfi_bytes_cie_arm64(struct cfi_bytes *bytes)
{
	put_cie(bytes, "zR", 1, "\x04\x78", 30, "\x0c\x1f\x00", 3);
}

void cfi_bytes_fde(struct cfi_bytes *bytes, uint64_t start, uint64_t size, const void *program,
		   size_t program_size)
{
	size_t entry = begin_entry(bytes);
	uint32_t cie =
		(uint32_t)(bytes->is_debug_frame ? bytes->last_cie : bytes->size - bytes->last_cie);

	cfi_bytes_put(bytes, &cie, sizeof(cie));
	cfi_bytes_put(bytes, &start, sizeof(start));
	cfi_bytes_put(bytes, &size, sizeof(size));
	/* The CIEs made here have augmentation data, or belong to .debug_frame. */
	if (!bytes->is_debug_frame)
		cfi_bytes_put(bytes, "", 1);
	cfi_bytes_put(bytes, program, program_size);
	end_entry(bytes, entry);
}
