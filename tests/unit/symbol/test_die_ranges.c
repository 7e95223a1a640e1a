// SPDX-License-Identifier: BSD-2-Clause
/* Tests for symbol/dwarf/die_ranges: lists of split units, of both kinds, whole and damaged. */
#include "symbol/dwarf/die_ranges.h"

#include <dwarf.h>
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* An entry with one attribute. */
struct entry {
	struct dwarf_image image;
	Dwarf_Die die;
};

static void make_entry(struct entry *entry, unsigned int version, unsigned int form,
		       const void *value, size_t size)
{
	/* A unit of this code, without children; the attribute; ends. */
	const uint8_t abbrev[] = {1, DW_TAG_compile_unit, 0, DW_AT_ranges, (uint8_t)form, 0, 0, 0};
	const struct elf_file file = {.is_64 = true, .machine = EM_X86_64};
	uint8_t info[64] = {0};
	size_t at = version < 5 ? 11 : 12;
	struct dwarf_source sources[DWARF_SECTION_COUNT] = {0};

	info[4] = (uint8_t)version;
	if (version < 5) {
		info[10] = 8;
	} else {
		info[6] = DW_UT_compile;
		info[7] = 8;
	}
	info[at] = 1;
	memcpy(info + at + 1, value, size);
	info[0] = (uint8_t)(at + 1 + size - 4);
	sources[DWARF_SECTION_INFO] = (struct dwarf_source){.bytes = info, .size = at + 1 + size};
	sources[DWARF_SECTION_ABBREV] =
		(struct dwarf_source){.bytes = abbrev, .size = sizeof(abbrev)};
	assert_int_equal(dwarf_image_open(&entry->image, &file, sources), 0);
	assert_non_null(dwarf_offdie(entry->image.dwarf, at, &entry->die));
}

struct range {
	uint64_t start, end;
};

#define RANGES_MAX 8

/* Those of a list; how many there are. */
static size_t read_ranges(const struct split_ranges *split, unsigned int form, const void *value,
			  size_t size, struct range ranges[RANGES_MAX])
{
	struct entry entry;
	struct die_ranges at;
	size_t count = 0;

	make_entry(&entry, split->version, form, value, size);
	die_ranges_begin(&at, &entry.die, split);
	while (count < RANGES_MAX && die_ranges_next(&at, &ranges[count].start, &ranges[count].end))
		count++;
	dwarf_image_done(&entry.image);
	return count;
}

static struct memory_range range_of(const void *bytes, size_t size)
{
	return (struct memory_range){bytes, (const uint8_t *)bytes + size};
}

static void reads_pairs_of_the_older_version(void **state)
{
	/* One that is before the list's base, two, a new base, one, the end, and one behind it. */
	const uint64_t lists[] = {77,	  78, 0x10, 0x20, 0x30, 0x30, UINT64_MAX,
				  0x5000, 1,  2,    0,	  0,	3,    4};
	const struct split_ranges split = {.lists = range_of(lists, sizeof(lists)),
					   .lists_base = 8,
					   .low_pc = 0x1000,
					   .version = 4,
					   .address_size = 8,
					   .offset_size = 4};
	const uint32_t offset = 8, beyond = sizeof(lists) - 8;
	struct range ranges[RANGES_MAX];

	assert_int_equal(read_ranges(&split, DW_FORM_sec_offset, &offset, 4, ranges), 4);
	assert_int_equal(ranges[0].start, 0x1010);
	assert_int_equal(ranges[0].end, 0x1020);
	assert_int_equal(ranges[1].start, 0x1030);
	assert_int_equal(ranges[1].end, 0x1030);
	/* A base is an empty range. */
	assert_int_equal(ranges[2].start, ranges[2].end);
	assert_int_equal(ranges[3].start, 0x5001);
	assert_int_equal(ranges[3].end, 0x5002);
	/* Producers of version 3 wrote this form. */
	assert_int_equal(read_ranges(&split, DW_FORM_data4, &offset, 4, ranges), 4);
	/* The list ends before its end is said. */
	assert_int_equal(read_ranges(&split, DW_FORM_sec_offset, &beyond, 4, ranges), 0);
}

static void pairs_of_32_bits_are_read(void **state)
{
	const uint32_t lists[] = {0x10, 0x20, UINT32_MAX, 0x7000, 1, 2};
	const struct split_ranges split = {.lists = range_of(lists, sizeof(lists)),
					   .low_pc = 0x400,
					   .version = 4,
					   .address_size = 4,
					   .offset_size = 4};
	const uint32_t offset = 0;
	struct range ranges[RANGES_MAX];

	/* The section ends, not the list. */
	assert_int_equal(read_ranges(&split, DW_FORM_sec_offset, &offset, 4, ranges), 3);
	assert_int_equal(ranges[0].start, 0x410);
	assert_int_equal(ranges[2].start, 0x7001);
	assert_int_equal(ranges[2].end, 0x7002);
}

#define ADDRESS(value) (value) & 0xff, (value) >> 8 & 0xff, 0, 0, 0, 0, 0, 0

static const uint64_t addresses[] = {0x1000, 0x2000, 0x3000};

static const uint8_t lists_5[] = {
	/* table of two lists, from here on */
	8, 0, 0, 0, 200, 0, 0, 0,
	/* the first one */
	DW_RLE_startx_endx, 0, 1, DW_RLE_startx_length, 1, 0x90, 0x01, DW_RLE_offset_pair, 1, 2,
	DW_RLE_base_addressx, 2, DW_RLE_offset_pair, 3, 4, DW_RLE_base_address, ADDRESS(0x5000),
	DW_RLE_offset_pair, 5, 6, DW_RLE_start_end, ADDRESS(0x6000), ADDRESS(0x6100),
	DW_RLE_start_length, ADDRESS(0x7000), 0x20, DW_RLE_end_of_list,
	/* never reached */
	DW_RLE_offset_pair, 7, 8};

static struct split_ranges split_5(const uint8_t *lists, size_t size)
{
	return (struct split_ranges){.lists = range_of(lists, size),
				     .addresses = range_of(addresses, sizeof(addresses)),
				     .low_pc = 0x100,
				     .version = 5,
				     .address_size = 8,
				     .offset_size = 4};
}

static void reads_every_kind_of_entry(void **state)
{
	static const struct range expected[] = {
		{0x1000, 0x2000}, {0x2000, 0x2090}, {0x101, 0x102},   {0, 0},
		{0x3003, 0x3004}, {0, 0},	    {0x5005, 0x5006}, {0x6000, 0x6100},
	};
	struct split_ranges split = split_5(lists_5, sizeof(lists_5));
	struct range ranges[RANGES_MAX];
	const uint32_t first = 8, last = 8 + 44;

	assert_int_equal(read_ranges(&split, DW_FORM_rnglistx, "\0", 1, ranges), RANGES_MAX);
	for (size_t i = 0; i < RANGES_MAX; i++) {
		assert_int_equal(ranges[i].start, expected[i].start);
		assert_int_equal(ranges[i].end, expected[i].end);
	}
	assert_int_equal(read_ranges(&split, DW_FORM_sec_offset, &first, 4, ranges), RANGES_MAX);
	assert_int_equal(ranges[0].end, 0x2000);
	/* From the second last on. */
	assert_int_equal(lists_5[last], DW_RLE_start_length);
	assert_int_equal(read_ranges(&split, DW_FORM_sec_offset, &last, 4, ranges), 1);
	assert_int_equal(ranges[0].start, 0x7000);
	assert_int_equal(ranges[0].end, 0x7020);
}

static void lists_that_lead_outside_have_no_ranges(void **state)
{
	struct split_ranges split = split_5(lists_5, sizeof(lists_5)), none = split;
	const uint32_t beyond = 5000;
	struct range ranges[RANGES_MAX];

	/* The second one is behind the section; others are not in the table, or no number. */
	assert_int_equal(read_ranges(&split, DW_FORM_rnglistx, "\1", 1, ranges), 0);
	assert_int_equal(read_ranges(&split, DW_FORM_rnglistx, "\x7f", 1, ranges), 0);
	assert_int_equal(read_ranges(&split, DW_FORM_rnglistx,
				     "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, ranges),
			 0);
	assert_int_equal(read_ranges(&split, DW_FORM_sec_offset, &beyond, 4, ranges), 0);
	assert_int_equal(read_ranges(&split, DW_FORM_data8, "\0\0\0\0\0\0\0\0", 8, ranges), 0);
	split.lists_base = UINT64_MAX;
	assert_int_equal(read_ranges(&split, DW_FORM_rnglistx, "\0", 1, ranges), 0);
	none.lists = (struct memory_range){0};
	assert_int_equal(read_ranges(&none, DW_FORM_rnglistx, "\0", 1, ranges), 0);
}

/* Wherever the section ends, what was read before is right, and nothing more is read. */
static void cut_lists_end_early(void **state)
{
	struct range all[RANGES_MAX], ranges[RANGES_MAX];
	struct split_ranges split = split_5(lists_5, sizeof(lists_5));
	size_t before = 0;

	assert_int_equal(read_ranges(&split, DW_FORM_rnglistx, "\0", 1, all), RANGES_MAX);
	for (size_t size = 0; size < sizeof(lists_5); size++) {
		size_t count;

		split = split_5(lists_5, size);
		count = read_ranges(&split, DW_FORM_rnglistx, "\0", 1, ranges);
		assert_true(count >= before && count <= RANGES_MAX);
		assert_memory_equal(ranges, all, count * sizeof(all[0]));
		before = count;
	}
	assert_int_equal(before, RANGES_MAX);
}

static void addresses_that_are_not_there_end_the_list(void **state)
{
	static const uint8_t lists[][16] = {
		{DW_RLE_startx_length, 3, 1},
		{DW_RLE_startx_endx, 0, 0x7f},
		{DW_RLE_base_addressx, 3, DW_RLE_offset_pair, 1, 2},
		{DW_RLE_startx_length, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 1},
		{0x7f, 1, 2},
	};
	const uint32_t offset = 0;
	struct range ranges[RANGES_MAX];

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct split_ranges split = split_5(lists[i], sizeof(lists[i]));

		assert_int_equal(read_ranges(&split, DW_FORM_sec_offset, &offset, 4, ranges), 0);
		split.addresses = (struct memory_range){0};
		assert_int_equal(read_ranges(&split, DW_FORM_sec_offset, &offset, 4, ranges), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_pairs_of_the_older_version),
		cmocka_unit_test(pairs_of_32_bits_are_read),
		cmocka_unit_test(reads_every_kind_of_entry),
		cmocka_unit_test(lists_that_lead_outside_have_no_ranges),
		cmocka_unit_test(cut_lists_end_early),
		cmocka_unit_test(addresses_that_are_not_there_end_the_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
