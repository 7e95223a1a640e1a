// SPDX-License-Identifier: BSD-2-Clause
/* Tests reading of jitdumps, good and hostile. */
#include "symbol/jit/jitdump.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/jit/code_reader.h"

struct dump {
	uint8_t bytes[4096];
	size_t size;
};

static void put(struct dump *dump, const void *data, size_t size)
{
	memcpy(dump->bytes + dump->size, data, size);
	dump->size += size;
}

static void put_header(struct dump *dump, uint64_t flags)
{
	const uint32_t words[] = {0x4a695444, 1, 40, 62, 0, 4711};
	const uint64_t more[] = {0, flags};

	put(dump, words, sizeof(words));
	put(dump, more, sizeof(more));
}

static void put_load(struct dump *dump, uint64_t address, uint64_t size, uint64_t index,
		     const char *name)
{
	const uint32_t header[] = {0, (uint32_t)(56 + strlen(name) + 1 + size)};
	const uint32_t ids[] = {4711, 4711};
	const uint64_t time_ns = 1000 + index, code[] = {address, address, size, index};

	put(dump, header, sizeof(header));
	put(dump, &time_ns, sizeof(time_ns));
	put(dump, ids, sizeof(ids));
	put(dump, code, sizeof(code));
	put(dump, name, strlen(name) + 1);
	for (uint64_t i = 0; i < size; i++)
		put(dump, "\x90", 1);
}

static void put_move(struct dump *dump, uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
	const uint32_t header[] = {1, 64}, ids[] = {4711, 4711};
	const uint64_t time_ns = 5000, code[] = {to, from, to, size, index};

	put(dump, header, sizeof(header));
	put(dump, &time_ns, sizeof(time_ns));
	put(dump, ids, sizeof(ids));
	put(dump, code, sizeof(code));
}

struct seen {
	char text[1024];
	struct code_entry last;
};

static bool take_entry(void *context, const struct code_entry *entry, uint64_t offset)
{
	struct seen *seen = context;
	size_t length = strlen(seen->text);

	snprintf(seen->text + length, sizeof(seen->text) - length, "%llx+%x %.*s;",
		 (unsigned long long)entry->start, entry->size,
		 (int)(entry->name ? entry->name_size : 1), entry->name ? entry->name : "?");
	seen->last = *entry;
	return true;
}

static int open_dump(const struct dump *dump)
{
	int fd = memfd_create("dump", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, dump->bytes, dump->size, 0), dump->size);
	return fd;
}

static char buffer[CODE_READER_BYTES];

static struct seen read_dump(const struct dump *dump, struct code_cursor *ret_cursor)
{
	struct code_reader reader = {.fd = open_dump(dump), .buffer = buffer};
	struct seen seen = {0};

	code_reader_begin(&reader, ret_cursor);
	assert_true(reader.is_jitdump);
	while (code_reader_read(&reader, ret_cursor, dump->size, true, 64,
				&(struct code_taker){take_entry, &seen}) > 0)
		;
	close(reader.fd);
	return seen;
}

static void records_give_name_place_and_time(void **state)
{
	struct dump dump = {0};
	struct code_cursor cursor;
	struct seen seen;

	put_header(&dump, 0);
	put_load(&dump, 0x1000, 0x20, 1, "f");
	put_load(&dump, 0x2000, 0x40, 2, "a longer name");
	seen = read_dump(&dump, &cursor);
	assert_string_equal(seen.text, "1000+20 f;2000+40 a longer name;");
	assert_int_equal(seen.last.time_ns, 1002);
	assert_int_equal(cursor.offset, dump.size);
}

static void times_of_another_clock_are_not_known(void **state)
{
	struct dump dump = {0};
	struct code_cursor cursor;

	put_header(&dump, 1);
	put_load(&dump, 0x1000, 0x20, 1, "f");
	assert_int_equal(read_dump(&dump, &cursor).last.time_ns, 0);
}

static void code_that_moves_keeps_its_name(void **state)
{
	struct dump dump = {0};
	struct code_cursor cursor;
	struct code_reader reader;
	char name[CODE_MAX_NAME_BYTES];
	uint32_t records = 100;
	struct seen seen;

	put_header(&dump, 0);
	put_load(&dump, 0x1000, 0x20, 7, "f");
	put_load(&dump, 0x2000, 0x20, 8, "g");
	put_move(&dump, 0x1000, 0x3000, 0x20, 7);
	seen = read_dump(&dump, &cursor);
	assert_string_equal(seen.text, "1000+20 f;2000+20 g;3000+20 ?;");
	reader = (struct code_reader){.fd = open_dump(&dump), .buffer = buffer};
	assert_int_equal(
		code_reader_find_index(&reader, dump.size, seen.last.index, &records, name), 1);
	assert_int_equal(name[0], 'f');
	assert_int_equal(code_reader_find_index(&reader, dump.size, 99, &records, name), 0);
	assert_int_equal(records, 96);
	close(reader.fd);
}

/* A dump in which all code moves takes a search of all of it for each. */
static void searches_for_names_end(void **state)
{
	struct dump dump = {0};
	struct code_reader reader;
	char name[CODE_MAX_NAME_BYTES];
	uint32_t records = 1;

	put_header(&dump, 0);
	put_load(&dump, 0x1000, 0x20, 7, "f");
	put_load(&dump, 0x2000, 0x20, 8, "g");
	reader = (struct code_reader){.fd = open_dump(&dump), .buffer = buffer};
	assert_int_equal(code_reader_find_index(&reader, dump.size, 8, &records, name), 0);
	assert_int_equal(records, 0);
	assert_int_equal(code_reader_find_index(&reader, dump.size, 7, &records, name), 0);
	close(reader.fd);
}

static bool take_one(void *context, const struct code_entry *entry, uint64_t offset)
{
	take_entry(context, entry, offset);
	return false;
}

static void reading_stops_behind_a_record_when_it_is_enough(void **state)
{
	struct dump dump = {0};
	struct code_reader reader;
	struct code_cursor cursor;
	struct seen seen = {0};

	put_header(&dump, 0);
	put_load(&dump, 0x1000, 0x20, 7, "f");
	put_load(&dump, 0x2000, 0x20, 8, "g");
	reader = (struct code_reader){.fd = open_dump(&dump), .buffer = buffer};
	code_reader_begin(&reader, &cursor);
	assert_int_equal(code_reader_read(&reader, &cursor, dump.size, true, UINT64_MAX,
					  &(struct code_taker){take_one, &seen}),
			 1);
	assert_string_equal(seen.text, "1000+20 f;");
	assert_int_equal(code_reader_read(&reader, &cursor, dump.size, true, UINT64_MAX,
					  &(struct code_taker){take_one, &seen}),
			 0);
	assert_string_equal(seen.text, "1000+20 f;2000+20 g;");
	close(reader.fd);
}

static void record_that_is_being_written_is_left(void **state)
{
	struct dump dump = {0};
	struct code_cursor cursor;
	size_t whole;

	put_header(&dump, 0);
	put_load(&dump, 0x1000, 0x20, 1, "f");
	whole = dump.size;
	put_load(&dump, 0x2000, 0x20, 2, "g");
	dump.size -= 5;
	assert_string_equal(read_dump(&dump, &cursor).text, "1000+20 f;");
	assert_int_equal(cursor.offset, whole);
}

static void nothing_is_read_behind_a_record_without_length(void **state)
{
	struct dump dump = {0};
	struct code_cursor cursor;

	put_header(&dump, 0);
	put(&dump, (const uint32_t[]){0, 3, 0, 0}, 16);
	put_load(&dump, 0x1000, 0x20, 1, "f");
	assert_string_equal(read_dump(&dump, &cursor).text, "");
	assert_int_equal(cursor.offset, dump.size);
}

static void places_that_wrap_are_passed_over(void **state)
{
	struct dump dump = {0};
	struct code_cursor cursor;

	put_header(&dump, 0);
	put_load(&dump, UINT64_MAX - 3, 0x20, 1, "wraps");
	put_load(&dump, 0x1000, 0, 2, "empty");
	put_load(&dump, 0x1000, 1, 3, "");
	assert_string_equal(read_dump(&dump, &cursor).text, "");
}

static void other_files_are_no_jitdumps(void **state)
{
	struct jitdump_header header;
	struct dump dump = {0};

	put_header(&dump, 0);
	assert_false(jitdump_parse_header(dump.bytes, 39, &header));
	dump.bytes[0] = 'X';
	assert_false(jitdump_parse_header(dump.bytes, 40, &header));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_give_name_place_and_time),
		cmocka_unit_test(times_of_another_clock_are_not_known),
		cmocka_unit_test(code_that_moves_keeps_its_name),
		cmocka_unit_test(searches_for_names_end),
		cmocka_unit_test(reading_stops_behind_a_record_when_it_is_enough),
		cmocka_unit_test(record_that_is_being_written_is_left),
		cmocka_unit_test(nothing_is_read_behind_a_record_without_length),
		cmocka_unit_test(places_that_wrap_are_passed_over),
		cmocka_unit_test(other_files_are_no_jitdumps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
