// SPDX-License-Identifier: BSD-2-Clause
/* Tests reading of perf map files, good and hostile. */
#include "symbol/jit/code_reader.h"

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

struct wanted {
	const uint64_t *addresses;
	char (*names)[CODE_MAX_NAME_BYTES];
	size_t count;
};

static bool take_entry(void *context, const struct code_entry *entry, uint64_t offset)
{
	struct wanted *wanted = context;

	for (size_t i = 0; i < wanted->count; i++)
		if (wanted->addresses[i] - entry->start < entry->size)
			snprintf(wanted->names[i], sizeof(wanted->names[i]), "%.*s",
				 (int)entry->name_size, entry->name);
	return true;
}

static bool take_one(void *context, const struct code_entry *entry, uint64_t offset)
{
	take_entry(context, entry, offset);
	return false;
}

/* The last name of each address, "-" for none. */
static void read_names(int fd, uint64_t size, uint64_t piece, struct wanted *wanted)
{
	static char buffer[CODE_READER_BYTES];
	struct code_reader reader = {.fd = fd, .buffer = buffer};
	struct code_cursor cursor;

	for (size_t i = 0; i < wanted->count; i++)
		strcpy(wanted->names[i], "-");
	code_reader_begin(&reader, &cursor);
	while (code_reader_read(&reader, &cursor, size, true, piece,
				&(struct code_taker){take_entry, wanted}) > 0)
		;
	assert_int_equal(cursor.offset, size);
}

static void reading_stops_behind_a_line_when_it_is_enough(void **state)
{
	static const char text[] = "10 10 a\nno entry\n10 10 b\n";
	static const uint64_t address = 0x18;
	static char buffer[CODE_READER_BYTES];
	char name[1][CODE_MAX_NAME_BYTES] = {""};
	struct wanted wanted = {&address, name, 1};
	struct code_reader reader = {.fd = open_text(text, sizeof(text) - 1), .buffer = buffer};
	struct code_cursor cursor;

	code_reader_begin(&reader, &cursor);
	assert_int_equal(code_reader_read(&reader, &cursor, sizeof(text) - 1, true, UINT64_MAX,
					  &(struct code_taker){take_one, &wanted}),
			 1);
	assert_string_equal(name[0], "a");
	assert_int_equal(cursor.offset, 8);
	assert_int_equal(code_reader_read(&reader, &cursor, sizeof(text) - 1, true, UINT64_MAX,
					  &(struct code_taker){take_one, &wanted}),
			 0);
	assert_string_equal(name[0], "b");
	close(reader.fd);
}

static void assert_names(const char *text, size_t size, const uint64_t *addresses,
			 const char *const *names, size_t count)
{
	int fd = open_text(text, size);
	struct wanted wanted = {addresses, calloc(count, CODE_MAX_NAME_BYTES), count};

	for (uint64_t piece = 1; piece <= size; piece *= 64) {
		read_names(fd, size, piece, &wanted);
		for (size_t i = 0; i < count; i++)
			assert_string_equal(wanted.names[i], names[i]);
	}
	free(wanted.names);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reading_stops_behind_a_line_when_it_is_enough),
		cmocka_unit_test(reads_what_runtimes_write),
		cmocka_unit_test(later_line_wins_where_lines_overlap),
		cmocka_unit_test(earlier_line_keeps_what_a_later_one_leaves),
		cmocka_unit_test(lines_that_do_not_parse_are_passed_over),
		cmocka_unit_test(line_of_megabytes_is_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
