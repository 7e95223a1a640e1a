// SPDX-License-Identifier: BSD-2-Clause
/* Function starts from .eh_frame_hdr, read and bounded entry by entry. */
#include "symbol/elf/elf_functions.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

/* The one encoding that linkers write: pointers of 4 signed bytes, relative to the field or to the
 * header. */
#define ENCODING_PCREL_SDATA4	0x1b
#define ENCODING_DATAREL_SDATA4 0x3b
#define ENCODING_UDATA4		0x03

struct header {
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	int32_t frame;
	uint32_t count;
};

/* A frame description as far as it matters here, in the usual encoding. */
struct description {
	uint32_t length, cie;
	int32_t start; /* relative to this field */
	uint32_t size;
};

static const struct elf_segment *find_header(const struct elf_file *file)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		if (file->segments[i].type == PT_GNU_EH_FRAME)
			return &file->segments[i];
	}
	return NULL;
}

int elf_functions_load(struct elf_functions *functions, const struct elf_file *file)
{
	const struct elf_segment *segment = find_header(file);
	struct elf_function_entry *entries;
	struct header header;
	int err;

	if (!segment || segment->file_size < sizeof(header))
		return -ENOENT;
	err = elf_file_read(file, segment->offset, &header, sizeof(header));
	if (err)
		return err;
	if (header.version != 1 || header.frame_encoding != ENCODING_PCREL_SDATA4 ||
	    header.count_encoding != ENCODING_UDATA4 ||
	    header.table_encoding != ENCODING_DATAREL_SDATA4)
		return -ENOENT;
	if (header.count == 0 || header.count > ELF_FUNCTIONS_MAX ||
	    header.count > (segment->file_size - sizeof(header)) / sizeof(*entries))
		return -EBADMSG;
	entries = malloc(header.count * sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	err = elf_file_read(file, segment->offset + sizeof(header), entries,
			    header.count * sizeof(*entries));
	/* A table out of order would only make the search miss, never leave its bounds. */
	if (err) {
		free(entries);
		return err;
	}
	*functions = (struct elf_functions){
		.entries = entries, .count = header.count, .base = segment->address};
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

int elf_functions_find(struct elf_functions *functions, const struct elf_file *file,
		       const struct elf_segment *segments, size_t segment_count, uint64_t address,
		       uint64_t *ret_start)
{
	const struct elf_function_entry *entry = last_at_or_before(functions, address);
	struct description description;
	uint64_t start, fde, offset, left;

	if (!entry)
		return -ENOENT;
	if (entry == functions->last && address - functions->last_start < functions->last_size) {
		*ret_start = functions->last_start;
		return 0;
	}
	start = functions->base + (uint64_t)(int64_t)entry->start;
	fde = functions->base + (uint64_t)(int64_t)entry->fde;
	if (!elf_segments_offset(segments, segment_count, fde, &offset, &left) ||
	    elf_file_read(file, offset, &description, sizeof(description)))
		return -ENOENT;
	/* The description must speak of the same start in the encoding assumed here; then its size
	 * can be believed. */
	if (fde + offsetof(struct description, start) + (uint64_t)(int64_t)description.start !=
		    start ||
	    address - start >= description.size)
		return -ENOENT;
	functions->last = entry;
	functions->last_start = start;
	functions->last_size = description.size;
	*ret_start = start;
	return 0;
}

uint64_t elf_functions_end(struct elf_functions *functions, const struct elf_file *file,
			   const struct elf_segment *segments, size_t segment_count,
			   uint64_t address)
{
	const struct elf_function_entry *entry;
	uint64_t start;

	if (functions->count == 0)
		return UINT64_MAX;
	if (elf_functions_find(functions, file, segments, segment_count, address, &start) == 0)
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
