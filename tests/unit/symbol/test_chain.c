// SPDX-License-Identifier: BSD-2-Clause
/* Tests that every kind of location reaches who can name it, and that answers last. */
#include "symbol/symbolizer.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

static struct mapped_file_table *files;
static struct process_table *processes;
static struct symbolizer *chain;

static int start(void **state)
{
	struct symbolizer_options options = {
		.kallsyms_path = TEST_DATA_DIR "/kallsyms",
		.debug_dir = "/nonexistent",
	};

	files = mapped_file_table_new("");
	processes = process_table_new(files);
	chain = symbolizer_chain_new(&options, processes);
	return chain ? 0 : -1;
}

static int stop(void **state)
{
	symbolizer_free(chain);
	process_table_free(processes);
	mapped_file_table_free(files);
	return 0;
}

static struct symbol resolve(enum frame_space space, uint32_t object, uint64_t address,
			     bool is_return_address)
{
	struct frame_location location = {
		.space = space,
		.object = object,
		.address = address,
		.is_return_address = is_return_address,
	};
	struct symbol symbol;

	symbolizer_resolve(chain, &location, &symbol);
	return symbol;
}

static void every_space_has_its_answer(void **state)
{
	struct symbol symbol = resolve(FRAME_KERNEL, 0, 0xffffffff81000200, false);

	assert_int_equal(symbol.result, SYMBOL_FOUND);
	assert_string_equal(symbol.lines[0].function, "do_one_thing");
	assert_int_equal(resolve(FRAME_FILE, 0, 0x1000, false).result, SYMBOL_NO_FILE);
	assert_int_equal(resolve(FRAME_ANONYMOUS, 0, 0x1000, false).result, SYMBOL_NO_PERF_MAP);
	symbol = resolve(FRAME_UNMAPPED, 0, 0xffffffffff600400, false);
	assert_int_equal(symbol.result, SYMBOL_FOUND);
	assert_string_equal(symbol.lines[0].function, "[vsyscall]");
	assert_int_equal(symbol.flags, 0);
	symbol = resolve(FRAME_UNMAPPED, 0, 0x1000, false);
	assert_int_equal(symbol.result, SYMBOL_UNMAPPED);
	assert_true(symbol.module_address == 0x1000);
	assert_null(symbol.module);
	assert_int_equal(symbol.line_count, 0);
	assert_int_equal(resolve(FRAME_TRUNCATED, 0, 1, false).result, SYMBOL_UNMAPPED);
}

static void return_address_and_plain_address_are_different_places(void **state)
{
	struct symbol symbol = resolve(FRAME_KERNEL, 0, 0xffffffff81000300, false);

	assert_string_equal(symbol.lines[0].function, "do_another");
	symbol = resolve(FRAME_KERNEL, 0, 0xffffffff81000300, true);
	assert_string_equal(symbol.lines[0].function, "do_one_thing");
}

/* The program with this test, and where a function of it is. */
static const struct mapped_file *own_file(uint64_t address, uint64_t *ret_place)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	struct mapped_file *file = NULL;
	unsigned long from, to, offset;
	static char path[4096];
	struct stat st;
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char line[8192];

	assert_non_null(maps);
	assert_true(size > 0);
	path[size] = '\0';
	assert_int_equal(stat(path, &st), 0);
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &from, &to, &offset) != 3 || address < from ||
		    address >= to)
			continue;
		*ret_place = address - from + offset;
		assert_int_equal(mapped_file_table_add(files,
						       &(struct mapping_view){
							       .pid = (uint32_t)getpid(),
							       .start = from,
							       .end = to,
							       .file_offset = offset,
							       .inode = st.st_ino,
							       .device_major = major(st.st_dev),
							       .device_minor = minor(st.st_dev),
							       .protection = PROT_EXEC,
							       .path = path,
						       },
						       &file),
				 0);
	}
	fclose(maps);
	assert_non_null(file);
	return file;
}

static void names_our_own_code(void **state)
{
	uint64_t place;
	const struct mapped_file *file = own_file((uint64_t)(uintptr_t)names_our_own_code, &place);
	struct symbol symbol = resolve(FRAME_FILE, file->id, place, false);

	assert_int_equal(symbol.result, SYMBOL_FOUND);
	assert_string_equal(symbol.lines[0].function, "names_our_own_code");
	assert_string_equal(symbol.module, strrchr(file->path, '/') + 1);
}

static void strings_of_files_are_given_up_beyond_a_limit(void **state)
{
	const bool is_used[64] = {[0 ... 63] = true};
	uint64_t place;
	const struct mapped_file *file = own_file((uint64_t)(uintptr_t)names_our_own_code, &place);
	size_t strings;

	assert_int_equal(resolve(FRAME_FILE, file->id, place, false).result, SYMBOL_FOUND);
	strings = symbolizer_chain_strings(chain);
	symbolizer_chain_limit_strings(chain, strings);
	symbolizer_forget_files(chain, is_used, 64);
	assert_int_equal(symbolizer_chain_strings(chain), strings);
	symbolizer_chain_limit_strings(chain, strings - 1);
	symbolizer_forget_files(chain, is_used, 64);
	/* The empty one. */
	assert_int_equal(symbolizer_chain_strings(chain), 1);
	assert_string_equal(resolve(FRAME_FILE, file->id, place, false).lines[0].function,
			    "names_our_own_code");
}

static void every_result_has_a_text(void **state)
{
	for (int i = 0; i < SYMBOL_RESULT_COUNT; i++) {
		assert_string_not_equal(symbol_result_text((enum symbol_result)i),
					"unknown reason");
		for (int j = 0; j < i; j++)
			assert_string_not_equal(symbol_result_text((enum symbol_result)i),
						symbol_result_text((enum symbol_result)j));
	}
	assert_string_equal(symbol_result_text(SYMBOL_RESULT_COUNT), "unknown reason");
}

static void reasons_say_what_happened(void **state)
{
	static const struct {
		int err;
		enum symbol_result result;
	} cases[] = {
		{-ENOEXEC, SYMBOL_NOT_ELF},	  {-ENOENT, SYMBOL_NO_FILE},
		{-ESTALE, SYMBOL_NO_FILE},	  {-EACCES, SYMBOL_NO_FILE},
		{-EIO, SYMBOL_READ_ERROR},	  {-ETIMEDOUT, SYMBOL_READ_ERROR},
		{-EMFILE, SYMBOL_READ_ERROR},	  {-ENOMEM, SYMBOL_NO_MEMORY},
		{-EFBIG, SYMBOL_TABLE_REFUSED},	  {-ENOSPC, SYMBOL_TABLE_REFUSED},
		{-EBADMSG, SYMBOL_TABLE_REFUSED}, {-EOPNOTSUPP, SYMBOL_TABLE_REFUSED},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(symbol_result_of_error(cases[i].err), cases[i].result);
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, start, stop)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reasons_say_what_happened),
		test(every_space_has_its_answer),
		test(return_address_and_plain_address_are_different_places),
		test(names_our_own_code),
		test(strings_of_files_are_given_up_beyond_a_limit),
		test(every_result_has_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
