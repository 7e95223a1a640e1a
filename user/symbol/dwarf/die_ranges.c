// SPDX-License-Identifier: BSD-2-Clause
/* Reads range lists of split units; of others libdw does. */
#include "symbol/dwarf/die_ranges.h"

#include <dwarf.h>

static uint64_t read_word(struct cfi_reader *reader, unsigned int size)
{
	return size == 8 ? cfi_read_u64(reader) : cfi_read_u32(reader);
}

static struct cfi_reader reader_at(const struct memory_range *range, uint64_t offset)
{
	struct cfi_reader reader = {range->start, range->end, false};

	if (range->start)
		cfi_skip(&reader, offset);
	else
		reader.failed = true;
	return reader;
}

/* Where the list of the attribute begins. libdw knows only offsets in sections that it has. */
static struct cfi_reader find_list(const struct split_ranges *split, Dwarf_Attribute *attribute)
{
	/* Behind every entry the image has more bytes than a number takes. */
	struct cfi_reader number = {attribute->valp, attribute->valp + 16, false}, entry;
	uint64_t offset, index;

	switch (dwarf_whatform(attribute)) {
	case DW_FORM_rnglistx:
		index = cfi_read_uleb128(&number);
		if (index > UINT32_MAX)
			return (struct cfi_reader){.failed = true};
		entry = reader_at(&split->lists, split->lists_base + index * split->offset_size);
		offset = split->lists_base + read_word(&entry, split->offset_size);
		return entry.failed ? entry : reader_at(&split->lists, offset);
	case DW_FORM_sec_offset:
		offset = read_word(&number, split->offset_size);
		break;
	case DW_FORM_data4:
		offset = cfi_read_u32(&number);
		break;
	default:
		return (struct cfi_reader){.failed = true};
	}
	return reader_at(&split->lists, split->version < 5 ? split->lists_base + offset : offset);
}

void die_ranges_begin(struct die_ranges *ranges, Dwarf_Die *die, const struct split_ranges *split)
{
	Dwarf_Attribute attribute;

	*ranges = (struct die_ranges){.die = die};
	if (!split || !dwarf_attr(die, DW_AT_ranges, &attribute))
		return;
	ranges->split = split;
	ranges->base = split->low_pc;
	ranges->reader = find_list(split, &attribute);
}

/* Before version 5: pairs. */
static bool next_pair(struct die_ranges *ranges, uint64_t *ret_start, uint64_t *ret_end)
{
	unsigned int size = ranges->split->address_size;
	uint64_t escape = size == 8 ? UINT64_MAX : UINT32_MAX;
	uint64_t start = read_word(&ranges->reader, size);
	uint64_t end = read_word(&ranges->reader, size);

	if (ranges->reader.failed || (start == 0 && end == 0))
		return false;
	*ret_start = *ret_end = 0;
	if (start == escape) {
		ranges->base = end;
	} else {
		*ret_start = ranges->base + start;
		*ret_end = ranges->base + end;
	}
	return true;
}

static uint64_t read_indexed(struct die_ranges *ranges)
{
	const struct split_ranges *split = ranges->split;
	uint64_t index = cfi_read_uleb128(&ranges->reader), address;
	struct cfi_reader entry;

	if (index > UINT32_MAX)
		ranges->reader.failed = true;
	entry = reader_at(&split->addresses, (uint64_t)(uint32_t)index * split->address_size);
	address = read_word(&entry, split->address_size);
	ranges->reader.failed |= entry.failed;
	return address;
}

static bool next_entry(struct die_ranges *ranges, uint64_t *ret_start, uint64_t *ret_end)
{
	struct cfi_reader *reader = &ranges->reader;
	unsigned int size = ranges->split->address_size;
	uint64_t start = 0, end = 0;

	switch (cfi_read_u8(reader)) {
	case DW_RLE_base_addressx:
		ranges->base = read_indexed(ranges);
		break;
	case DW_RLE_startx_endx:
		start = read_indexed(ranges);
		end = read_indexed(ranges);
		break;
	case DW_RLE_startx_length:
		start = read_indexed(ranges);
		end = start + cfi_read_uleb128(reader);
		break;
	case DW_RLE_offset_pair:
		start = ranges->base + cfi_read_uleb128(reader);
		end = ranges->base + cfi_read_uleb128(reader);
		break;
	case DW_RLE_base_address:
		ranges->base = read_word(reader, size);
		break;
	case DW_RLE_start_end:
		start = read_word(reader, size);
		end = read_word(reader, size);
		break;
	case DW_RLE_start_length:
		start = read_word(reader, size);
		end = start + cfi_read_uleb128(reader);
		break;
	default: /* the end, too */
		return false;
	}
	*ret_start = start;
	*ret_end = end;
	return !reader->failed;
}

bool die_ranges_next(struct die_ranges *ranges, uint64_t *ret_start, uint64_t *ret_end)
{
	Dwarf_Addr start, end;

	if (ranges->split) {
		if (ranges->reader.failed)
			return false;
		return ranges->split->version < 5 ? next_pair(ranges, ret_start, ret_end)
						  : next_entry(ranges, ret_start, ret_end);
	}
	ranges->offset = dwarf_ranges(ranges->die, ranges->offset, &ranges->base, &start, &end);
	if (ranges->offset <= 0)
		return false;
	*ret_start = start;
	*ret_end = end;
	return true;
}
