// SPDX-License-Identifier: BSD-2-Clause
/* Finds the run-time's description of a Go program by the pointers in it. */
#include "elf/go_module.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "elf/elf_relocation.h"

/* Offsets of moduledata, src/runtime/symtab.go, since Go 1.18. */
#define FUNCTION_NAMES 8
#define FIRST_FUNCTION 160
#define TEXT	       176

#define MAX_SEARCH_BYTES    (128U << 20)
#define SEARCH_WINDOW_BYTES (256U << 10)

struct search {
	const struct elf_file *file;
	uint64_t table, names; /* addresses as linked */
	uint64_t first;	       /* start of the first function, after that of the text */
	uint64_t text;	       /* what is found; 0: nothing */
};

/* A pointer, which the dynamic loader may have yet to write. */
static uint64_t read_pointer(const struct elf_file *file, uint64_t address)
{
	Elf64_Rela relocation;
	uint64_t value;

	if (elf_relocation_find(file, ELF_RELOCATIONS_WITHOUT_TARGET, address, &relocation))
		return (uint64_t)relocation.r_addend;
	return elf_file_read_address(file, address, &value, sizeof(value)) ? 0 : value;
}

/* Other words than a description's may point to the table, too. */
static bool take_candidate(struct search *search, uint64_t address)
{
	uint64_t text;

	if (address % sizeof(uint64_t) ||
	    read_pointer(search->file, address + FUNCTION_NAMES) != search->names)
		return false;
	text = read_pointer(search->file, address + TEXT);
	if (!text || read_pointer(search->file, address + FIRST_FUNCTION) != text + search->first)
		return false;
	search->text = text;
	return true;
}

static bool take_relocation(void *context, const Elf64_Rela *relocation)
{
	struct search *search = context;

	return (uint64_t)relocation->r_addend == search->table &&
	       take_candidate(search, relocation->r_offset);
}

static bool search_segment(struct search *search, const struct elf_segment *segment)
{
	_cleanup_free_ uint8_t *window = malloc(SEARCH_WINDOW_BYTES);

	/* Pointers are aligned: none lies across two windows. */
	for (uint64_t done = 0; window && done < segment->file_size; done += SEARCH_WINDOW_BYTES) {
		uint64_t left = segment->file_size - done;
		size_t step = left < SEARCH_WINDOW_BYTES ? (size_t)left : SEARCH_WINDOW_BYTES;
		const uint8_t *at = window;

		if (elf_file_read(search->file, segment->offset + done, window, step))
			return false;
		for (; (at = memmem(at, step - (size_t)(at - window), &search->table,
				    sizeof(search->table)));
		     at++)
			if (take_candidate(search,
					   segment->address + done + (uint64_t)(at - window)))
				return true;
	}
	return false;
}

bool go_module_find_text(const struct elf_file *file, const struct go_table *table,
			 uint64_t *ret_text)
{
	struct search search = {.file = file};
	uint64_t left = MAX_SEARCH_BYTES;
	uint32_t first;

	if (!elf_segments_address(&file->segments, table->offset, &search.table) ||
	    elf_file_read(file, table->offset + table->functions_offset, &first, sizeof(first)))
		return false;
	search.names = search.table + table->names_offset;
	search.first = first;
	elf_relocation_each(file, ELF_RELOCATIONS_WITHOUT_TARGET, take_relocation, &search);
	for (size_t i = 0; i < file->segments.count && !search.text; i++) {
		const struct elf_segment *segment = &file->segments.items[i];

		if (segment->type != PT_LOAD || segment->flags & PF_X || segment->file_size > left)
			continue;
		left -= segment->file_size;
		search_segment(&search, segment);
	}
	*ret_text = search.text;
	return search.text != 0;
}
