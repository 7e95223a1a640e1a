// SPDX-License-Identifier: BSD-2-Clause
/* What a reader of names costs that lies, wants files of others, or is gone. */
#include "symbol/elf/elf_proxy.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "base/array.h"
#include "reader/readers.h"
#include "symbol/elf/names_packet.h"
#include "symbol/elf/names_service.h"
#include "symbol/symbol_notes.h"
#include "symbol_fixture.h"

#define GOOD FIXTURE_DIR "/pie"
#define BAD  FIXTURE_DIR "/no_pie"

static struct mapped_file_table *files;
static struct string_pool *strings;
static struct symbolizer_options options;
static struct symbolizer *symbolizer;

/* ---- readers ---- */

static bool is_about(const struct reader_request *request, const char *path)
{
	return memmem(request->bytes, request->size, path, strlen(path) + 1);
}

/* Answers about BAD what is none. */
static int lie(const struct reader_request *request, struct reader_reply *reply)
{
	static unsigned char rubbish[64];

	if (!is_about(request, BAD))
		return names_service_answer(request, reply);
	memset(rubbish, 0xa5, sizeof(rubbish));
	reply->pieces[0] = (struct iovec){rubbish, sizeof(rubbish)};
	reply->count = 1;
	return 0;
}

/* 0, or the number of the first file that it was given and must not see. */
static int wish(const struct reader_request *request)
{
	static const struct {
		uint32_t root;
		const char *path;
	} wishes[] = {
		{DEBUG_FILE_OURS, "/etc/passwd"},
		{DEBUG_FILE_OURS, "/proc/self/exe"},
		{DEBUG_FILE_OURS, FIXTURE_DIR "/../../../../../user/pkbpf"},
		{DEBUG_FILE_OURS, FIXTURE_DIR "/none"},
		{DEBUG_FILE_OURS, "usr/lib/debug/x"},
		{DEBUG_FILE_OF_PROCESS, "/etc/passwd"},
		{DEBUG_FILE_OF_PROCESS, "/dev/zero"},
		{DEBUG_FILE_OF_PROCESS, "/"},
		{DEBUG_FILE_OF_PROCESS_OR_OURS, "/etc/passwd"},
		{DEBUG_FILE_OF_PROCESS_OR_OURS + 1, GOOD},
		{UINT32_MAX, GOOD},
	};
	char bytes[sizeof(struct names_want) + 4096];

	for (size_t i = 0; i < ARRAY_SIZE(wishes); i++) {
		size_t size = sizeof(struct names_want) + strlen(wishes[i].path) + 1;

		memcpy(bytes, &wishes[i].root, sizeof(struct names_want));
		strcpy(bytes + sizeof(struct names_want), wishes[i].path);
		if (reader_request_file(request, bytes, size) >= 0)
			return (int)i + 1;
		/* Without its end; with something behind it; nothing. */
		if (reader_request_file(request, bytes, size - 1) >= 0 ||
		    reader_request_file(request, bytes, size + 1) >= 0 ||
		    reader_request_file(request, bytes, sizeof(struct names_want)) >= 0)
			return (int)i + 1;
	}
	return 0;
}

static int wish_and_answer(const struct reader_request *request, struct reader_reply *reply)
{
	static char nothing[1];

	if (!wish(request))
		return names_service_answer(request, reply);
	reply->pieces[0] = (struct iovec){nothing, 1};
	reply->count = 1;
	return 0;
}

static int begin(reader_serve_fn answer)
{
	const reader_serve_fn services[READER_SERVICES] = {
		[READER_NAMES_ADDRESSES] = answer,
		[READER_FORGETS_FILES] = names_service_forget,
	};
	static reader_serve_fn kept[READER_SERVICES];
	struct error error;

	memcpy(kept, services, sizeof(kept));
	options = (struct symbolizer_options){.debug_dir = "/nonexistent"};
	if (readers_start(kept, &options.readers, &error) < 0)
		return -1;
	files = mapped_file_table_new("");
	strings = string_pool_new();
	symbolizer = elf_proxy_new(&options, files, strings);
	return 0;
}

static int begin_sound(void **state)
{
	return begin(names_service_answer);
}

static int begin_liar(void **state)
{
	return begin(lie);
}

static int begin_curious(void **state)
{
	return begin(wish_and_answer);
}

static int stop(void **state)
{
	symbolizer_free(symbolizer);
	readers_stop(options.readers);
	string_pool_free(strings);
	mapped_file_table_free(files);
	return 0;
}

/* ---- questions ---- */

static uint32_t add_file(const char *path)
{
	struct mapped_file *file = NULL;
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(mapped_file_table_add(files,
					       &(struct mapping_view){
						       .pid = (uint32_t)getpid(),
						       .start = 0x1000,
						       .end = 0x2000,
						       .inode = st.st_ino,
						       .device_major = major(st.st_dev),
						       .device_minor = minor(st.st_dev),
						       .protection = PROT_READ | PROT_EXEC,
						       .path = path,
					       },
					       &file),
			 0);
	assert_non_null(file);
	return file->id;
}

static struct frame_location location_of(uint32_t file, const char *path, const char *name)
{
	return (struct frame_location){
		.space = FRAME_FILE,
		.object = file,
		.address = find_place(path, name).offset,
	};
}

static struct symbol resolve(const struct frame_location *location)
{
	struct symbol symbol;

	assert_true(symbolizer->ops->resolve(symbolizer, location, &symbol));
	return symbol;
}

static void require_name(const struct frame_location *location, const char *name)
{
	struct symbol symbol = resolve(location);

	assert_int_equal(symbol.result, SYMBOL_FOUND);
	assert_string_equal(symbol.lines[symbol.line_count - 1].function, name);
}

/* ---- tests ---- */

static void what_was_prepared_is_named_without_another_question(void **state)
{
	uint32_t good = add_file(GOOD), other = add_file(BAD);
	const struct frame_location locations[] = {
		location_of(good, GOOD, "outer_function"),
		location_of(good, GOOD, "local_function"),
		/* No address of a file: it cannot be asked for. */
		{.space = FRAME_FILE, .object = good, .address = NAMES_IS_RETURN | 1},
		{.space = FRAME_KERNEL, .address = 1},
		{.space = FRAME_FILE, .object = 4711, .address = 1},
		location_of(other, BAD, "outer_function"),
	};

	symbolizer_prepare(symbolizer, locations, ARRAY_SIZE(locations));
	/* Who could answer is gone. */
	kill((pid_t)readers_keeper(options.readers), SIGKILL);
	require_name(&locations[0], "outer_function");
	require_name(&locations[1], "local_function");
	require_name(&locations[5], "outer_function");
	assert_int_equal(resolve(&locations[2]).result, SYMBOL_NOT_IN_TABLE);
	assert_int_equal(resolve(&locations[4]).result, SYMBOL_NO_FILE);
}

static void what_is_missing_is_told(void **state)
{
	uint32_t stripped = add_file(FIXTURE_DIR "/stripped");
	struct frame_location location = location_of(stripped, GOOD, "outer_function");
	struct symbol_notes notes = {0};

	assert_int_equal(resolve(&location).result, SYMBOL_STRIPPED);
	symbolizer_tell(symbolizer, &notes);
	/* That advice is about the C library alone. */
	assert_int_equal(notes.count, 0);
	symbol_notes_done(&notes);
}

static void rubbish_costs_the_names_of_one_file(void **state)
{
	struct frame_location bad = location_of(add_file(BAD), BAD, "outer_function"),
			      good = location_of(add_file(GOOD), GOOD, "outer_function");
	struct frame_location both[] = {bad, good};

	for (int i = 0; i < 2; i++) {
		struct symbol symbol = resolve(&bad);

		assert_int_equal(symbol.result, SYMBOL_READ_ERROR);
		assert_int_equal(symbol.line_count, 0);
		assert_string_equal(symbol.module, "no_pie");
		assert_true(symbol.module_address == bad.address);
		require_name(&good, "outer_function");
	}
	assert_int_equal(readers_lost_files(options.readers), 1);
	/* It is not asked about again. */
	symbolizer_prepare(symbolizer, both, 2);
	assert_int_equal(resolve(&bad).result, SYMBOL_READ_ERROR);
	require_name(&good, "outer_function");
	assert_int_equal(readers_lost_files(options.readers), 1);
}

static void rubbish_about_a_file_says_nothing_of_the_next_with_its_id(void **state)
{
	uint32_t id = add_file(BAD);
	struct frame_location bad = location_of(id, BAD, "outer_function"), good;
	bool is_used[8] = {false};

	assert_int_equal(resolve(&bad).result, SYMBOL_READ_ERROR);
	symbolizer_forget_files(symbolizer, is_used, ARRAY_SIZE(is_used));
	assert_int_equal(mapped_file_table_forget(files, is_used), 0);
	good = location_of(add_file(GOOD), GOOD, "outer_function");
	assert_int_equal(good.object, id);
	require_name(&good, "outer_function");
}

static void files_of_others_are_not_given_to_a_reader(void **state)
{
	struct frame_location location = location_of(add_file(GOOD), GOOD, "outer_function");

	/* It answers only when it got none of them. */
	require_name(&location, "outer_function");
	assert_int_equal(readers_lost_files(options.readers), 0);
}

static void where_no_reader_can_be_had_names_are_missing(void **state)
{
	struct frame_location location = location_of(add_file(GOOD), GOOD, "outer_function");

	kill((pid_t)readers_keeper(options.readers), SIGKILL);
	/* Never is the file read here, with all rights. */
	assert_int_equal(resolve(&location).result, SYMBOL_READ_ERROR);
	assert_int_equal(resolve(&location).result, SYMBOL_READ_ERROR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(begin, name) cmocka_unit_test_setup_teardown(name, begin, stop)
		TEST(begin_sound, what_was_prepared_is_named_without_another_question),
		TEST(begin_sound, what_is_missing_is_told),
		TEST(begin_liar, rubbish_costs_the_names_of_one_file),
		TEST(begin_liar, rubbish_about_a_file_says_nothing_of_the_next_with_its_id),
		TEST(begin_curious, files_of_others_are_not_given_to_a_reader),
		TEST(begin_sound, where_no_reader_can_be_had_names_are_missing),
	};
	struct readers *readers = NULL;
	struct error error;

	if (readers_start((const reader_serve_fn[READER_SERVICES]){0}, &readers, &error) < 0) {
		print_message("not checked: %s\n", error.text);
		return 0;
	}
	readers_stop(readers);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
