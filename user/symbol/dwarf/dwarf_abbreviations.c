// SPDX-License-Identifier: BSD-2-Clause
/* Measures abbreviation tables (DWARF 5, 7.5.3) without keeping anything of them. */
#include "symbol/dwarf/dwarf_abbreviations.h"

#include <dwarf.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/array.h"
#include "symbol/dwarf/dwarf_index.h"

struct reader {
	const uint8_t *at, *end;
};

/* 0 at the end, too: it ends whatever is read. */
static uint64_t read_uleb128(struct reader *reader)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	while (reader->at < reader->end) {
		uint8_t byte = *reader->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80))
			return value;
	}
	return 0;
}

static void skip_table(struct reader *reader)
{
	while (read_uleb128(reader)) {
		uint64_t name, form;

		read_uleb128(reader); /* the tag */
		if (reader->at < reader->end)
			reader->at++; /* whether there are children */
		do {
			name = read_uleb128(reader);
			form = read_uleb128(reader);
			if (form == DW_FORM_implicit_const)
				read_uleb128(reader);
		} while ((name || form) && reader->at < reader->end);
	}
}

static int compare_offsets(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

struct offset_list {
	uint64_t *items;
	size_t count, capacity;
};

/* Of each unit's table. */
static bool read_offsets(Dwarf *dwarf, bool of_types, struct offset_list *offsets)
{
	Dwarf_Off offset = 0, next, abbreviations;
	uint64_t type_signature;
	Dwarf_Off type_offset;
	size_t header_size;

	while (dwarf_next_unit(dwarf, offset, &next, &header_size, NULL, &abbreviations, NULL, NULL,
			       of_types ? &type_signature : NULL,
			       of_types ? &type_offset : NULL) == 0) {
		uint64_t *item = array_add(offsets);

		if (!item || next <= offset || offsets->count > DWARF_INDEX_MAX_UNITS)
			return false;
		*item = abbreviations;
		offset = next;
	}
	return true;
}

static bool tables_fit(const struct offset_list *offsets, const uint8_t *section, size_t size)
{
	uint64_t start = 0, end = 0, total = 0;

	for (size_t i = 0; i < offsets->count; i++) {
		uint64_t offset = offsets->items[i];

		if (offset >= size)
			continue; /* libdw refuses the unit */
		if (i == 0 || offset != start) {
			struct reader reader = {section + offset, section + size};

			if (offset < end)
				return false;
			skip_table(&reader);
			start = offset;
			end = (uint64_t)(reader.at - section);
		}
		total += end - start;
		if (total > DWARF_ABBREVIATIONS_MAX_BYTES)
			return false;
	}
	return true;
}

bool dwarf_abbreviations_fit(Dwarf *dwarf, const void *section, size_t size)
{
	struct offset_list offsets = {0};
	bool fit;

	fit = read_offsets(dwarf, false, &offsets) && read_offsets(dwarf, true, &offsets);
	if (fit && offsets.count > 0) {
		qsort(offsets.items, offsets.count, sizeof(*offsets.items), compare_offsets);
		fit = tables_fit(&offsets, section, size);
	}
	free(offsets.items);
	return fit;
}
