// SPDX-License-Identifier: BSD-2-Clause
/* Tests for symbol/dwarf/split_package: units by id, and indexes that lie. */
#include "symbol/dwarf/split_package.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "elf_sections.h"

#define SLOTS	4
#define UNITS	2
#define COLUMNS 3
/* In words: header, ids, rows, names of columns, offsets, sizes. */
#define AT_IDS	   4
#define AT_ROWS	   (AT_IDS + 2 * SLOTS)
#define AT_COLUMNS (AT_ROWS + SLOTS)
#define AT_OFFSETS (AT_COLUMNS + COLUMNS)
#define AT_SIZES   (AT_OFFSETS + UNITS * COLUMNS)
#define WORDS	   (AT_SIZES + UNITS * COLUMNS)
/* Both begin at slot 1; the second goes on by 3. */
#define FIRST	0x0000000000000001ULL
#define SECOND	0x0000000200000005ULL
#define MISSING 0x0000000000000002ULL

static const uint8_t info[40], abbrev[30];

/* Columns: info, abbreviations, and one that names do not need. */
static void make_index(uint32_t index[WORDS], uint32_t version)
{
	const uint64_t ids[SLOTS] = {SECOND, FIRST, 0, 0};
	const uint32_t rows[SLOTS] = {2, 1, 0, 0};
	const uint32_t rest[] = {1,  3,	 5,	/**/ 0,	 0,  99999, /**/ 16, 10, 99999, /**/
				 16, 10, 99999, /**/ 24, 20, 99999};

	memset(index, 0, WORDS * sizeof(*index));
	index[0] = version;
	index[1] = COLUMNS;
	index[2] = UNITS;
	index[3] = SLOTS;
	memcpy(index + AT_IDS, ids, sizeof(ids));
	memcpy(index + AT_ROWS, rows, sizeof(rows));
	memcpy(index + AT_COLUMNS, rest, sizeof(rest));
}

static int open_index(struct split_package *package, const void *index, size_t size)
{
	const struct elf_section_bytes sections[] = {
		{".debug_cu_index", index, size},
		{".debug_info.dwo", info, sizeof(info)},
		{".debug_abbrev.dwo", abbrev, sizeof(abbrev)},
	};

	return split_package_open(package, elf_sections_open(sections, 3));
}

static void finds_units_by_id(void **state)
{
	static const uint32_t versions[] = {2, 5, 5 | 0x7777 << 16};

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct dwarf_source sources[DWARF_SECTION_COUNT] = {0};
		struct split_package package;
		uint32_t index[WORDS];

		make_index(index, versions[i]);
		assert_int_equal(open_index(&package, index, sizeof(index)), 0);
		assert_int_equal(split_package_find(&package, FIRST, sources), 0);
		assert_int_equal(sources[DWARF_SECTION_INFO].offset, 0);
		assert_int_equal(sources[DWARF_SECTION_INFO].size, 16);
		assert_int_equal(sources[DWARF_SECTION_ABBREV].size, 10);
		assert_null(sources[DWARF_SECTION_LINE].section);
		assert_int_equal(split_package_find(&package, SECOND, sources), 0);
		assert_int_equal(sources[DWARF_SECTION_INFO].offset, 16);
		assert_int_equal(sources[DWARF_SECTION_INFO].size, 24);
		assert_int_equal(sources[DWARF_SECTION_ABBREV].offset, 10);
		assert_int_equal(sources[DWARF_SECTION_ABBREV].size, 20);
		assert_int_equal(split_package_find(&package, MISSING, sources), -ENOENT);
		assert_int_equal(split_package_find(&package, 0, sources), -ENOENT);
		split_package_done(&package);
		assert_int_equal(package.fd, -1);
	}
}

/* Lists of ranges have another number in the older version; here the section is missing. */
static void columns_mean_what_the_version_says(void **state)
{
	struct dwarf_source sources[DWARF_SECTION_COUNT] = {0};
	struct split_package package;
	uint32_t index[WORDS];

	make_index(index, 2);
	index[AT_COLUMNS + 2] = 8;
	assert_int_equal(open_index(&package, index, sizeof(index)), 0);
	assert_int_equal(split_package_find(&package, FIRST, sources), 0);
	split_package_done(&package);
	for (uint32_t column = 4; column <= 8; column += 2) {
		make_index(index, 5);
		index[AT_COLUMNS + 2] = column;
		assert_int_equal(open_index(&package, index, sizeof(index)), 0);
		assert_int_equal(split_package_find(&package, FIRST, sources), -EBADMSG);
		split_package_done(&package);
	}
}

static void parts_outside_of_their_section_are_refused(void **state)
{
	static const struct {
		size_t at;
		uint32_t value;
	} lies[] = {
		{AT_OFFSETS, 41},	  {AT_SIZES, 41},	  {AT_OFFSETS, 30},
		{AT_OFFSETS, UINT32_MAX}, {AT_SIZES, UINT32_MAX}, {AT_SIZES + 1, 31},
	};

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct dwarf_source sources[DWARF_SECTION_COUNT] = {0};
		struct split_package package;
		uint32_t index[WORDS];

		make_index(index, 5);
		index[lies[i].at] = lies[i].value;
		assert_int_equal(open_index(&package, index, sizeof(index)), 0);
		assert_int_equal(split_package_find(&package, FIRST, sources), -EBADMSG);
		assert_int_equal(split_package_find(&package, SECOND, sources), 0);
		split_package_done(&package);
	}
}

/* Every slot is taken, and no row is there. */
static void a_full_index_is_searched_once(void **state)
{
	struct dwarf_source sources[DWARF_SECTION_COUNT] = {0};
	struct split_package package;
	uint32_t index[WORDS];

	make_index(index, 5);
	for (size_t i = 0; i < SLOTS; i++)
		index[AT_ROWS + i] = UINT32_MAX;
	assert_int_equal(open_index(&package, index, sizeof(index)), 0);
	assert_int_equal(split_package_find(&package, FIRST, sources), -ENOENT);
	assert_int_equal(split_package_find(&package, MISSING, sources), -ENOENT);
	split_package_done(&package);
}

static void headers_that_lie_are_refused(void **state)
{
	static const struct {
		size_t at;
		uint32_t value;
	} lies[] = {
		{0, 0},		 {0, 3},	   {0, 4},	   {0, 6},	    {1, 17},
		{1, UINT32_MAX}, {1, COLUMNS + 1}, {2, UNITS + 1}, {2, UINT32_MAX}, {3, 0},
		{3, 3},		 {3, 8},	   {3, 1U << 31},  {3, UINT32_MAX},
	};
	struct split_package package;
	uint32_t index[WORDS];

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		make_index(index, 5);
		index[lies[i].at] = lies[i].value;
		assert_int_equal(open_index(&package, index, sizeof(index)), -ENOEXEC);
		assert_int_equal(package.fd, -1);
	}
	make_index(index, 5);
	for (size_t size = 0; size < sizeof(index); size++)
		assert_int_equal(open_index(&package, index, size), -ENOEXEC);
}

static void other_files_are_no_packages(void **state)
{
	const struct elf_section_bytes other = {".debug_info.dwo", info, sizeof(info)};
	struct split_package package;
	int pipe_ends[2];

	assert_int_equal(split_package_open(&package, elf_sections_open(&other, 1)), -ENOEXEC);
	assert_int_equal(pipe2(pipe_ends, O_CLOEXEC), 0);
	assert_true(split_package_open(&package, pipe_ends[0]) < 0);
	close(pipe_ends[1]);
	/* It was taken over all the same. */
	assert_int_equal(fcntl(pipe_ends[0], F_GETFD), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_units_by_id),
		cmocka_unit_test(columns_mean_what_the_version_says),
		cmocka_unit_test(parts_outside_of_their_section_are_refused),
		cmocka_unit_test(a_full_index_is_searched_once),
		cmocka_unit_test(headers_that_lie_are_refused),
		cmocka_unit_test(other_files_are_no_packages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
