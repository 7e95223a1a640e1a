// SPDX-License-Identifier: BSD-2-Clause
/* What a perf map costs whose reader lies or dies, and what is told of code without a name. */
#include <errno.h>

#include "code_history_fixture.h"
#include "reader/readers.h"

static int lie(const struct reader_request *request, struct reader_reply *reply)
{
	static unsigned char rubbish[256];

	memset(rubbish, 0x77, sizeof(rubbish));
	reply->pieces[0] = (struct iovec){rubbish, sizeof(rubbish)};
	reply->count = 1;
	return 0;
}

static int refuse(const struct reader_request *request, struct reader_reply *reply)
{
	return -EBADMSG;
}

static int die(const struct reader_request *request, struct reader_reply *reply)
{
	__builtin_trap();
}

/* A map whose reader lies, dies or fails has no names, and is not read again. */
static void map_that_no_reader_can_read_says_so(void **state)
{
	static const reader_serve_fn serves[] = {lie, die, refuse};

	for (size_t i = 0; i < ARRAY_SIZE(serves); i++) {
		static reader_serve_fn services[READER_SERVICES];
		struct error error;

		services[READER_CUTS_CODE] = serves[i];
		stop_history();
		if (readers_start(services, &options.readers, &error) < 0)
			skip();
		start_history();
		write_status(getuid(), "4711");
		write_file("/proc/4711/root/tmp/perf-4711.map", "1000 100 f\n", "w");
		assert_int_equal(resolve(0x1010).result, SYMBOL_READ_ERROR);
		write_file("/proc/4711/root/tmp/perf-4711.map", "2000 100 g\n", "a");
		assert_int_equal(resolve(0x2010).result, SYMBOL_READ_ERROR);
		if (serves[i] != refuse)
			assert_int_equal(readers_lost_files(options.readers), 1);
		stop_history();
		readers_stop(options.readers);
		options.readers = NULL;
		start_history();
	}
	/* They did nothing to the file. */
	assert_name(0x1010, "f");
	assert_name(0x2010, "g");
}

/* Code in a file of memory (memfd): what has no name is of that. */
static void code_without_a_name_is_of_the_memory_it_is_in(void **state)
{
	struct mapped_file *file = NULL;
	struct mapping mapping = {.start = 0x10000, .end = 0x20000, .file_offset = 0x3000};
	struct symbol symbol;

	assert_int_equal(mapped_file_table_add(files,
					       &(struct mapping_view){
						       .pid = 4711,
						       .start = mapping.start,
						       .end = mapping.end,
						       .inode = 99,
						       .device_minor = 1,
						       .protection = 5,
						       .path = "/memfd:code (deleted)",
					       },
					       &file),
			 0);
	assert_non_null(file);
	mapping.file = file->id;
	code_history_expect(code, process_id, &mapping);
	symbol = resolve(0x11234);
	assert_int_equal(symbol.result, SYMBOL_NO_PERF_MAP);
	assert_string_equal(symbol.module, "memfd:code");
	assert_int_equal(symbol.module_address, 0x4234);
	/* It is mapped elsewhere in the file since. */
	mapping.file_offset = 0;
	code_history_expect(code, process_id, &mapping);
	assert_int_equal(resolve(0x11234).module_address, 0x1234);
	assert_null(resolve(0x20000).module);
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, start, stop)
	const struct CMUnitTest tests[] = {
		test(map_that_no_reader_can_read_says_so),
		test(code_without_a_name_is_of_the_memory_it_is_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
