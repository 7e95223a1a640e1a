// SPDX-License-Identifier: BSD-2-Clause
/* Function starts from .eh_frame_hdr, read and bounded entry by entry. */
#include "elf/elf_functions.h"

#include <errno.h>
#include <stdlib.h>

#include "elf/cfi_reader.h"

/* The one encoding of search tables that linkers write: of 4 signed bytes, relative to the
 * header. */
#define SEARCH_TABLE_ENCODING (CFI_POINTER_DATA_RELATIVE | CFI_POINTER_S32)

/* At one address. */
#define MAX_EMPTY_FUNCTIONS 16

struct header {
	uint64_t address;
	uint64_t frames; /* address of .eh_frame */
	uint64_t count;
	uint64_t table, table_size; /* in the file; size 0: none of a known encoding */
};

/* A frame description as far as it matters here, in the usual encoding. */
struct description {
	uint32_t length, cie;
	int32_t start; /* relative to this field */
	uint32_t size;
};

static bool read_header(const struct elf_file *file, struct header *ret_header)
{
	const struct elf_segment *segment = elf_segments_find(&file->segments, PT_GNU_EH_FRAME);
	uint8_t bytes[4 + 2 * sizeof(uint64_t)];
	struct cfi_reader reader = {.at = bytes, .end = bytes + sizeof(bytes)};
	uint8_t frames_encoding, count_encoding, table_encoding;
	struct header header;

	if (!segment)
		return false;
	if (segment->file_size < sizeof(bytes))
		reader.end = bytes + segment->file_size;
	if (elf_file_read(file, segment->offset, bytes, cfi_reader_left(&reader)) ||
	    cfi_read_u8(&reader) != 1) /* version */
		return false;
	frames_encoding = cfi_read_u8(&reader);
	count_encoding = cfi_read_u8(&reader);
	table_encoding = cfi_read_u8(&reader);
	header = (struct header){.address = segment->address};
	header.frames =
		cfi_read_pointer(&reader, frames_encoding, segment->address + 4, segment->address);
	if (reader.failed)
		return false;
	header.count = cfi_read_value(&reader, count_encoding);
	if (!reader.failed && table_encoding == SEARCH_TABLE_ENCODING) {
		header.table = segment->offset + (uint64_t)(reader.at - bytes);
		header.table_size = segment->file_size - (uint64_t)(reader.at - bytes);
	}
	*ret_header = header;
	return true;
}

bool elf_functions_find_frames(const struct elf_file *file, uint64_t *ret_address)
{
	struct header header;

	if (!read_header(file, &header))
		return false;
	*ret_address = header.frames;
	return true;
}

int elf_functions_load(struct elf_functions *functions, const struct elf_file *file)
{
	struct elf_function_entry *entries;
	struct header header;
	int err;

	if (!read_header(file, &header) || header.table_size == 0)
		return -ENOENT;
	if (header.count == 0 || header.count > ELF_FUNCTIONS_MAX ||
	    header.count > header.table_size / sizeof(*entries))
		return -EBADMSG;
	entries = malloc(header.count * sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	err = elf_file_read(file, header.table, entries, header.count * sizeof(*entries));
	/* A table out of order would only make the search miss, never leave its bounds. */
	if (err) {
		free(entries);
		return err;
	}
	*functions = (struct elf_functions){
		.entries = entries, .count = header.count, .base = header.address};
	return 0;
}

static const struct elf_function_entry *last_at_or_before(const struct elf_functions *functions,
							  uint64_t address)
{
	int64_t wanted = (int64_t)(address - functions->base);
	size_t low = 0, high = functions->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (functions->entries[middle].start <= wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &functions->entries[low - 1] : NULL;
}

/* Size of the function that a description says begins at start; 0: it cannot be read. */
static uint32_t read_size(const struct elf_file *file, uint64_t fde, uint64_t start)
{
	struct description description;

	/* A function without a byte begins where the next one does, and linkers keep one of their
	 * two entries, perhaps the wrong one. The other description follows. */
	for (unsigned int i = 0; i < MAX_EMPTY_FUNCTIONS; i++) {
		/* The description must speak of the same start in the encoding assumed here; then
		 * its size can be believed. */
		if (elf_file_read_address(file, fde, &description, sizeof(description)) ||
		    fde + offsetof(struct description, start) +
				    (uint64_t)(int64_t)description.start !=
			    start)
			return 0;
		if (description.size)
			return description.size;
		fde += sizeof(description.length) + description.length;
	}
	return 0;
}

int elf_functions_find(struct elf_functions *functions, const struct elf_file *file,
		       uint64_t address, uint64_t *ret_start)
{
	const struct elf_function_entry *entry = last_at_or_before(functions, address);
	uint64_t start, fde;
	uint32_t size;

	if (!entry)
		return -ENOENT;
	if (entry == functions->last && address - functions->last_start < functions->last_size) {
		*ret_start = functions->last_start;
		return 0;
	}
	start = functions->base + (uint64_t)(int64_t)entry->start;
	fde = functions->base + (uint64_t)(int64_t)entry->fde;
	size = read_size(file, fde, start);
	if (address - start >= size)
		return -ENOENT;
	functions->last = entry;
	functions->last_start = start;
	functions->last_size = size;
	*ret_start = start;
	return 0;
}

uint64_t elf_functions_end(struct elf_functions *functions, const struct elf_file *file,
			   uint64_t address)
{
	const struct elf_function_entry *entry;
	uint64_t start;

	if (functions->count == 0)
		return UINT64_MAX;
	if (elf_functions_find(functions, file, address, &start) == 0)
		return start + functions->last_size;
	entry = last_at_or_before(functions, address);
	entry = entry ? entry + 1 : functions->entries;
	if (entry == functions->entries + functions->count)
		return UINT64_MAX;
	start = functions->base + (uint64_t)(int64_t)entry->start;
	/* In a table out of order the next may lie before. */
	return start > address ? start : UINT64_MAX;
}

void elf_functions_done(struct elf_functions *functions)
{
	free(functions->entries);
	*functions = (struct elf_functions){0};
}
