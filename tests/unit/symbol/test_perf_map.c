// SPDX-License-Identifier: BSD-2-Clause
/* Tests reading of perf map files, good and hostile. */
#include "symbol/jit/perf_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"

static char path[] = "/tmp/pkbpf-map-XXXXXX";

static int open_text(const char *text, size_t size)
{
	int fd;

	strcpy(path, "/tmp/pkbpf-map-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, text, size), (ssize_t)size);
	return fd;
}

/* Names at the addresses, "-" for none. */
static void assert_names(const char *text, size_t size, const uint64_t *addresses,
			 const char *const *names, size_t count)
{
	int fd = open_text(text, size);
	struct perf_map map;

	assert_int_equal(perf_map_read(fd, &map), 0);
	for (size_t i = 0; i < count; i++) {
		const struct perf_map_entry *entry = perf_map_find(&map, addresses[i]);
		char name[PERF_MAP_MAX_NAME_BYTES] = "-";

		if (entry)
			assert_int_equal(perf_map_read_name(fd, entry, name, sizeof(name)), 0);
		assert_string_equal(name, names[i]);
	}
	for (size_t i = 1; i < map.count; i++)
		assert_true(map.entries[i - 1].start + map.entries[i - 1].size <=
			    map.entries[i].start);
	perf_map_done(&map);
	close(fd);
}

#define check(text, addresses, names)                                                              \
	assert_names(text, strlen(text), addresses, names, ARRAY_SIZE(addresses))

static void reads_what_runtimes_write(void **state)
{
	const uint64_t addresses[] = {0x7f0010000000, 0x7f001000001f, 0x7f0010000020,
				      0x7f0020000000, 0x7f0030000005, 0x7f0040000001};
	const char *const names[] = {
		"py::main:/app/run.py",
		"py::main:/app/run.py",
		"-",
		"java.lang.String java.util.Formatter.format(java.lang.String, java.lang.Object[])",
		"JS:*f /app/x.js:10:5",
		"last line without an end"};

	check("7f0010000000 20 py::main:/app/run.py\n"
	      "0x00007f0020000000 0x0000000000000100 java.lang.String "
	      "java.util.Formatter.format(java.lang.String, java.lang.Object[])\n"
	      "7F0030000000\tA JS:*f /app/x.js:10:5\r\n"
	      "7f0040000000 10 last line without an end",
	      addresses, names);
}

static void later_line_wins_where_lines_overlap(void **state)
{
	const uint64_t addresses[] = {0x1000, 0x10ff, 0x1100, 0x11ff, 0x1200, 0x12ff,
				      0x3000, 0x3080, 0x30ff, 0x4000, 0x4050};
	const char *const names[] = {"old",  "old",   "middle", "middle", "old",  "old",
				     "left", "right", "right",	"again",  "again"};

	check("1000 300 old\n"
	      "1100 100 middle\n"
	      "3000 100 left\n3080 80 right\n"
	      "4000 100 first\n4000 100 second\n4000 100 again\n",
	      addresses, names);
}

static void earlier_line_keeps_what_a_later_one_leaves(void **state)
{
	const uint64_t addresses[] = {0x2050, 0x2100, 0x2150, 0x21ff, 0x2200};
	const char *const names[] = {"late", "late", "early", "early", "-"};

	check("2100 100 early\n2000 150 late\n", addresses, names);
}

static void lines_that_do_not_parse_are_passed_over(void **state)
{
	const uint64_t addresses[] = {0x1000, 0x2000, 0x5000};
	const char *const names[] = {"good", "-", "also good"};

	check("\n\n \nhello\n1000\n1000 \n1000 10\n1000 10 \n0x 10 x\n-1 10 x\n1000  zz x\n"
	      "1000 10 good\n"
	      "2000 0 empty\n2000 100000000 four gigabytes\n10000000000002000 10 too many digits\n"
	      "ffffffffffffffff 10 wraps\n"
	      "5000 10 also good\n",
	      addresses, names);
}

static void line_of_megabytes_is_passed_over(void **state)
{
	size_t size = 3U << 20;
	char *text = malloc(size);
	const uint64_t addresses[] = {0x1000, 0x2000, 0x3000};
	const char *const names[] = {"first", "-", "last"};

	assert_non_null(text);
	memset(text, 'x', size);
	memcpy(text, "1000 10 first\n2000 10 ", 22);
	memcpy(text + size - 14, "\n3000 10 last\n", 14);
	assert_names(text, size, addresses, names, 3);
	free(text);
}

static void long_name_is_cut(void **state)
{
	char text[4 * PERF_MAP_MAX_NAME_BYTES] = "1000 10 ";
	struct perf_map map;
	char name[PERF_MAP_MAX_NAME_BYTES];
	int fd;

	memset(text + 8, 'n', sizeof(text) - 9);
	fd = open_text(text, strlen(text));
	assert_int_equal(perf_map_read(fd, &map), 0);
	assert_int_equal(perf_map_read_name(fd, perf_map_find(&map, 0x1000), name, sizeof(name)),
			 0);
	assert_int_equal(strlen(name), sizeof(name) - 1);
	perf_map_done(&map);
	close(fd);
}

static void name_is_not_taken_from_a_file_that_changed(void **state)
{
	int fd = open_text("1000 10 before\n", 15);
	char name[64];
	struct perf_map map;

	assert_int_equal(perf_map_read(fd, &map), 0);
	assert_int_equal(pwrite(fd, "2000 10 after.\n", 15, 0), 15);
	assert_true(perf_map_read_name(fd, perf_map_find(&map, 0x1000), name, sizeof(name)) < 0);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_true(perf_map_read_name(fd, perf_map_find(&map, 0x1000), name, sizeof(name)) < 0);
	perf_map_done(&map);
	close(fd);
}

/* Every entry against the slow way: the last line that covers the address. */
static void agrees_with_a_plain_search_on_random_overlaps(void **state)
{
	enum { LINES = 400, SPACE = 2000 };
	char text[LINES * 32];
	uint32_t starts[LINES], sizes[LINES], value = 2463534242U;
	struct perf_map map;
	size_t size = 0;
	int fd;

	for (size_t i = 0; i < LINES; i++) {
		value ^= value << 13;
		value ^= value >> 17;
		value ^= value << 5;
		starts[i] = 1 + value % SPACE;
		sizes[i] = 1 + (value >> 16) % (i % 10 == 0 ? SPACE : 20);
		size += (size_t)sprintf(text + size, "%x %x n%zu\n", starts[i], sizes[i], i);
	}
	fd = open_text(text, size);
	assert_int_equal(perf_map_read(fd, &map), 0);
	for (uint32_t address = 0; address < 2 * SPACE + 10; address++) {
		const struct perf_map_entry *entry = perf_map_find(&map, address);
		char name[64] = "-", expected[64] = "-";

		for (size_t i = 0; i < LINES; i++)
			if (address >= starts[i] && address - starts[i] < sizes[i])
				sprintf(expected, "n%zu", i);
		if (entry)
			assert_int_equal(perf_map_read_name(fd, entry, name, sizeof(name)), 0);
		assert_string_equal(name, expected);
	}
	perf_map_done(&map);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_runtimes_write),
		cmocka_unit_test(later_line_wins_where_lines_overlap),
		cmocka_unit_test(earlier_line_keeps_what_a_later_one_leaves),
		cmocka_unit_test(lines_that_do_not_parse_are_passed_over),
		cmocka_unit_test(line_of_megabytes_is_passed_over),
		cmocka_unit_test(long_name_is_cut),
		cmocka_unit_test(name_is_not_taken_from_a_file_that_changed),
		cmocka_unit_test(agrees_with_a_plain_search_on_random_overlaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
