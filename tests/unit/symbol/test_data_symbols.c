// SPDX-License-Identifier: BSD-2-Clause
/* Names of variables of this very program, and what files and readers that lie give. */
#include "symbol/elf/data_symbols.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "base/array.h"
#include "process/procfs_maps.h"
#include "reader/readers.h"
#include "symbol/elf/data_namer.h"
#include "symbol/elf/data_service.h"
#include "symbol_fixture.h"

struct pair {
	long before, inside;
};

static struct pair variable_in_bss;
struct pair exported_variable = {1, 2};
static const struct pair constant = {3, 4};

static struct procfs_mapping code;

static void take_code(void *context, const struct procfs_mapping *mapping)
{
	uint64_t here = (uint64_t)&take_code;

	(void)context;
	if (here >= mapping->start && here < mapping->end)
		code = *mapping;
}

static int find_code(void **state)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY);
	int err = procfs_maps_read(proc, (uint32_t)getpid(), take_code, NULL);

	(void)state;
	close(proc);
	return err;
}

static struct data_place place_of(const void *address)
{
	return (struct data_place){code.start, code.end, code.file_offset, (uint64_t)address};
}

static int name_of(const char *path, const struct data_place *place, char *text, size_t size)
{
	int fd = open(path, O_RDONLY), err;
	struct data_symbols symbols;

	assert_true(fd >= 0);
	err = data_symbols_read(&symbols, fd);
	if (!err) {
		err = data_symbols_name(&symbols, fd, place, text, size);
		data_symbols_done(&symbols);
	}
	close(fd);
	return err;
}

static void expect_name(const void *address, const char *wanted)
{
	struct data_place place = place_of(address);
	char text[DATA_NAME_SIZE] = "";

	assert_int_equal(name_of("/proc/self/exe", &place, text, sizeof(text)), 0);
	assert_string_equal(text, wanted);
}

static void variables_have_their_names(void **state)
{
	(void)state;
	expect_name(&variable_in_bss, "variable_in_bss");
	expect_name(&variable_in_bss.inside, "variable_in_bss+0x8");
	expect_name(&exported_variable, "exported_variable");
	expect_name((const char *)&exported_variable + 3, "exported_variable+0x3");
}

static void what_is_no_variable_has_none(void **state)
{
	struct data_place place = place_of(&variable_in_bss);
	char text[DATA_NAME_SIZE];
	const void *const others[] = {
		&place,		 &constant, (const void *)&take_code,
		(const void *)1, NULL,	    (const void *)-1,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		place.address = (uint64_t)others[i];
		assert_int_equal(name_of("/proc/self/exe", &place, text, sizeof(text)), -ENOENT);
	}
	/* A mapping that shows no code of the file. */
	place = place_of(&variable_in_bss);
	place.map_offset = 1ULL << 40;
	assert_int_equal(name_of("/proc/self/exe", &place, text, sizeof(text)), -ENOENT);
	/* No room for a place inside. */
	place = place_of(&variable_in_bss);
	assert_int_equal(name_of("/proc/self/exe", &place, text, 20), -ENOENT);
	assert_int_equal(name_of("/proc/self/exe", &place, text, 24), 0);
	assert_string_equal(text, "variable_in_bss");
	place.address += 8;
	assert_int_equal(name_of("/proc/self/exe", &place, text, 24), 0);
	assert_string_equal(text, "vari+0x8");
}

static void other_files_name_nothing(void **state)
{
	struct data_place place = place_of(&variable_in_bss);
	char text[DATA_NAME_SIZE];

	(void)state;
	assert_int_equal(name_of("/proc/self/maps", &place, text, sizeof(text)), -ENOEXEC);
	place = (struct data_place){
		0, 0, find_place(FIXTURE_DIR "/no_pie", "local_function").offset & ~0xfffULL, 0};
	assert_int_equal(name_of(FIXTURE_DIR "/stripped", &place, text, sizeof(text)), -ENOENT);
}

/* ---- the service ---- */

static int ask(const void *bytes, size_t size, char text[DATA_NAME_SIZE])
{
	int fd = open("/proc/self/exe", O_RDONLY);
	struct reader_request request = {.fd = fd, .bytes = bytes, .size = size};
	struct reader_reply reply = {.count = 0};
	int err = data_service_answer(&request, &reply);

	close(fd);
	if (err)
		return err;
	assert_int_equal(reply.count, 1);
	assert_true(reply.pieces[0].iov_len <= DATA_NAME_SIZE);
	memcpy(text, reply.pieces[0].iov_base, reply.pieces[0].iov_len);
	reply.release(reply.context);
	return 0;
}

static void the_service_answers_questions_that_are_some(void **state)
{
	struct data_place place = place_of(&exported_variable.inside);
	char text[DATA_NAME_SIZE];

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ask(&place, sizeof(place), text), 0);
		assert_string_equal(text, "exported_variable+0x8");
	}
	assert_int_equal(ask(&place, sizeof(place) - 1, text), -EINVAL);
	assert_int_equal(ask(&place, 0, text), -EINVAL);
	place.address = 1;
	assert_int_equal(ask(&place, sizeof(place), text), -ENOENT);
}

/* ---- the program's side ---- */

static int lie(const struct reader_request *request, struct reader_reply *reply)
{
	static char rubbish[DATA_NAME_SIZE + 1];
	static const size_t sizes[] = {0, 1, DATA_NAME_SIZE, DATA_NAME_SIZE + 1, 8};
	static size_t next;

	(void)request;
	memset(rubbish, 'x', sizeof(rubbish));
	/* The last one has two ends. */
	if (sizes[next] == 8)
		rubbish[3] = rubbish[7] = '\0';
	reply->pieces[0] = (struct iovec){rubbish, sizes[next]};
	reply->count = 1;
	next = (next + 1) % ARRAY_SIZE(sizes);
	return 0;
}

struct side {
	struct mapped_file_table *files;
	struct readers *readers;
	struct data_namer *namer;
	struct address_space *space;
};

/* answer: NULL: files are read here. */
static struct side side_of(reader_serve_fn answer)
{
	static reader_serve_fn services[READER_SERVICES];
	struct side side = {.files = mapped_file_table_new(""), .space = address_space_new()};
	struct mapping_view view = {.pid = (uint32_t)getpid(),
				    .start = code.start,
				    .end = code.end,
				    .file_offset = code.file_offset,
				    .inode = code.inode,
				    .device_major = code.device_major,
				    .device_minor = code.device_minor,
				    .protection = 5,
				    .path = code.path};
	struct mapped_file *file = NULL;
	struct error error;

	services[READER_NAMES_DATA] = answer;
	if (answer && readers_start(services, &side.readers, &error) < 0)
		fail_msg("%s", error.text);
	assert_int_equal(mapped_file_table_add(side.files, &view, &file), 0);
	assert_non_null(file);
	assert_int_equal(
		address_space_add(side.space, &(struct mapping){.start = code.start,
								.end = code.end,
								.file_offset = code.file_offset,
								.file = file->id,
								.protection = 5}),
		0);
	side.namer = data_namer_new(side.files, side.readers);
	return side;
}

static void side_done(struct side *side)
{
	data_namer_free(side->namer);
	readers_stop(side->readers);
	address_space_free(side->space);
	mapped_file_table_free(side->files);
}

static void expect_names(reader_serve_fn answer)
{
	struct side side = side_of(answer);
	uint64_t address = (uint64_t)&variable_in_bss;

	assert_string_equal(data_namer_name(side.namer, 7, NULL, address), "");
	assert_string_equal(data_namer_name(side.namer, 7, side.space, address), "variable_in_bss");
	assert_string_equal(data_namer_name(side.namer, 7, side.space, address + 8),
			    "variable_in_bss+0x8");
	/* When the process has ended, what was asked before. */
	assert_string_equal(data_namer_name(side.namer, 7, NULL, address), "variable_in_bss");
	assert_string_equal(data_namer_name(side.namer, 8, NULL, address), "");
	assert_string_equal(data_namer_name(side.namer, 7, side.space, 16), "");
	assert_string_equal(data_namer_name(side.namer, 7, side.space, (uint64_t)&side), "");
	side_done(&side);
}

static void names_come_from_readers_or_from_here(void **state)
{
	(void)state;
	expect_names(NULL);
	expect_names(data_service_answer);
	assert_string_equal(data_namer_name(NULL, 7, NULL, 16), "");
	data_namer_free(NULL);
}

static void a_reader_that_lies_gives_no_names(void **state)
{
	struct side side = side_of(lie);

	(void)state;
	for (uint64_t i = 0; i < 5; i++)
		assert_string_equal(
			data_namer_name(side.namer, i, side.space, (uint64_t)&variable_in_bss), "");
	assert_true(readers_lost_files(side.readers) >= 5);
	side_done(&side);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_have_their_names),
		cmocka_unit_test(what_is_no_variable_has_none),
		cmocka_unit_test(other_files_name_nothing),
		cmocka_unit_test(the_service_answers_questions_that_are_some),
		cmocka_unit_test(names_come_from_readers_or_from_here),
		cmocka_unit_test(a_reader_that_lies_gives_no_names),
	};

	return cmocka_run_group_tests(tests, find_code, NULL);
}
