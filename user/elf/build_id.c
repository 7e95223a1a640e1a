// SPDX-License-Identifier: BSD-2-Clause
/* Finds the GNU build id note in an ELF file. */
#include "elf/build_id.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A note block holds a handful of short notes; core-like giants are not worth reading. */
#define MAX_NOTE_BYTES (64U << 10)

bool build_id_find_in_notes(const void *notes, size_t size, struct build_id *ret_id)
{
	const uint8_t *at = notes;

	while (size >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr header; /* the same three words in both classes */
		uint64_t name_size, data_size;

		memcpy(&header, at, sizeof(header));
		at += sizeof(header);
		size -= sizeof(header);
		name_size = ((uint64_t)header.n_namesz + 3) & ~3ULL;
		data_size = ((uint64_t)header.n_descsz + 3) & ~3ULL;
		/* The padding behind the last note may be missing. */
		if (name_size > size || header.n_descsz > size - name_size)
			return false;
		if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
		    memcmp(at, "GNU", 4) == 0 && header.n_descsz > 0 &&
		    header.n_descsz <= BUILD_ID_MAX_BYTES) {
			ret_id->size = header.n_descsz;
			memcpy(ret_id->bytes, at + name_size, header.n_descsz);
			return true;
		}
		if (data_size > size - name_size)
			return false;
		at += name_size + data_size;
		size -= name_size + data_size;
	}
	return false;
}

static bool find_at(const struct elf_file *file, uint64_t offset, uint64_t size,
		    struct build_id *ret_id)
{
	bool found;
	void *notes;

	if (size > MAX_NOTE_BYTES)
		return false;
	notes = malloc(size + 1);
	found = notes && !elf_file_read(file, offset, notes, size) &&
		build_id_find_in_notes(notes, size, ret_id);
	free(notes);
	return found;
}

int build_id_read(const struct elf_file *file, struct build_id *ret_id)
{
	/* Sections first: a debug file keeps the program headers of the file it was split from, but
	 * their offsets point at whatever is there now. */
	for (size_t i = 0; i < file->section_count; i++)
		if (file->sections[i].type == SHT_NOTE &&
		    find_at(file, file->sections[i].offset, file->sections[i].size, ret_id))
			return 0;
	for (size_t i = 0; i < file->segments.count; i++) {
		const struct elf_segment *segment = &file->segments.items[i];

		if (segment->type == PT_NOTE &&
		    find_at(file, segment->offset, segment->file_size, ret_id))
			return 0;
	}
	return -ENOENT;
}

void build_id_format(const struct build_id *id, char *text)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < id->size; i++) {
		*text++ = digits[id->bytes[i] >> 4];
		*text++ = digits[id->bytes[i] & 15];
	}
	*text = '\0';
}

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}
