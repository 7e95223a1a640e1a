// SPDX-License-Identifier: BSD-2-Clause
/* Tests naming of kernel addresses from kallsyms text. */
#include "symbol/kernel/kernel.h"
#include "symbol/kernel/kernel_symbols.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"

static struct symbolizer *symbolizer;
static struct string_pool *strings;
static char path[] = "/tmp/pkbpf-kallsyms-XXXXXX";

static int start_with(const char *kallsyms)
{
	strings = string_pool_new();
	symbolizer = kernel_symbolizer_new(kallsyms, NULL, strings);
	return symbolizer ? 0 : -1;
}

static int start_with_fixture(void **state)
{
	return start_with(TEST_DATA_DIR "/kallsyms");
}

static int stop(void **state)
{
	symbolizer_free(symbolizer);
	string_pool_free(strings);
	return 0;
}

static void start_with_text(const char *text, size_t size)
{
	int fd;

	strcpy(path, "/tmp/pkbpf-kallsyms-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, size), (ssize_t)size);
	close(fd);
	start_with(path);
}

static struct symbol resolve(uint64_t address, bool is_return_address)
{
	struct frame_location location = {
		.space = FRAME_KERNEL,
		.address = address,
		.is_return_address = is_return_address,
	};
	struct symbol symbol;

	assert_true(symbolizer->ops->resolve(symbolizer, &location, &symbol));
	assert_int_equal(symbol.flags, SYMBOL_IS_KERNEL);
	return symbol;
}

static void assert_name(uint64_t address, const char *name, const char *module)
{
	struct symbol symbol = resolve(address, false);

	assert_int_equal(symbol.result, SYMBOL_FOUND);
	assert_int_equal(symbol.line_count, 1);
	assert_string_equal(symbol.lines[0].function, name);
	assert_string_equal(symbol.module, module);
	assert_true(symbol.module_address == 0);
}

static void assert_no_name(uint64_t address)
{
	assert_int_equal(resolve(address, false).result, SYMBOL_NOT_IN_TABLE);
}

static void names_functions_of_the_image(void **state)
{
	assert_name(0xffffffff81000200, "do_one_thing", "kernel");
	assert_name(0xffffffff810002ff, "do_one_thing", "kernel");
	assert_name(0xffffffff81000300, "do_another", "kernel");
}

static void return_address_belongs_to_the_call_before_it(void **state)
{
	struct symbol symbol = resolve(0xffffffff81000300, true);

	assert_int_equal(symbol.result, SYMBOL_FOUND);
	assert_string_equal(symbol.lines[0].function, "do_one_thing");
}

static void padding_belongs_to_the_function_behind_it(void **state)
{
	assert_name(0xffffffff81000400, "padded", "kernel");
	assert_name(0xffffffff8100040f, "padded", "kernel");
	assert_name(0xffffffff81000410, "padded", "kernel");
}

static void prefers_exported_and_plain_names(void **state)
{
	assert_name(0xffffffff81000500, "vfs_read", "kernel");
	assert_name(0xffffffff81000600, "schedule", "kernel");
	assert_name(0xffffffff81000000, "first_function", "kernel");
}

static void data_is_not_code(void **state)
{
	assert_no_name(0xffffffff82000010);
	assert_name(0xffffffff81000708, "before_data", "kernel");
}

static void nothing_is_found_beyond_the_end_of_the_text(void **state)
{
	assert_name(0xffffffff81000fff, "last_function", "kernel");
	assert_no_name(0xffffffff81001000);
	assert_no_name(0xffffffff81500000);
	assert_name(0xffffffff83000010, "init_function", "kernel");
	assert_no_name(0xffffffff83000100);
	assert_no_name(0xffffffff90000000);
	assert_no_name(0x1000);
}

static void names_modules_and_bpf_programs(void **state)
{
	assert_name(0xffffffffc0000010, "ext4_first", "ext4");
	assert_name(0xffffffffc0000110, "ext4_last", "ext4");
	assert_name(0xffffffffc0400010, "bpf_prog_6deef7357e7b4530_sd_fw_egress", "bpf");
	assert_name(0xffffffffc0500010, "ftrace_trampoline", "__builtin__ftrace");
}

static void nothing_is_attributed_to_a_module_function_far_away(void **state)
{
	assert_no_name(0xffffffffc0200000);
	assert_no_name(0xffffffffc0700000);
}

static void assert_text(const char *text, const char *name, const char *module)
{
	const char *found_name, *found_module;
	char copy[256];

	snprintf(copy, sizeof(copy), "%s", text);
	assert_true(kernel_text_parse(copy, &found_name, &found_module));
	assert_string_equal(found_name, name);
	if (module)
		assert_string_equal(found_module, module);
	else
		assert_null(found_module);
}

static void takes_apart_what_the_kernel_prints(void **state)
{
	static const char *const nothing[] = {"",     "0xffffffff81000000", "+0x10/0x20",
					      "name", "__pfx_+0x1/0x2",	    "  [ext4]"};
	const char *name, *module;

	assert_text("vfs_read+0x10/0x200", "vfs_read", NULL);
	assert_text("ext4_readdir+0x0/0x99 [ext4]", "ext4_readdir", "ext4");
	assert_text("__pfx_vfs_read+0x3/0x10", "vfs_read", NULL);
	assert_text("foo.constprop.0+0x1/0x2", "foo.constprop.0", NULL);
	assert_text("bpf_prog_6deef7357e7b4530_sd_fw_egress+0x1/0x2",
		    "bpf_prog_6deef7357e7b4530_sd_fw_egress", "bpf");
	assert_text("bpf_trampoline_6442536467+0x1/0x2", "bpf_trampoline_6442536467", "bpf");
	assert_text("bpf_prog_6deef7357e7b4530+0x1/0x2", "bpf_prog_6deef7357e7b4530", "bpf");
	assert_text("bpf_dispatcher_xdp+0x1/0x2", "bpf_dispatcher_xdp", "bpf");
	assert_text("bpf_prog_run_clear_cb+0x1/0x2", "bpf_prog_run_clear_cb", NULL);
	assert_text("bpf_prog_add+0x1/0x2", "bpf_prog_add", NULL);
	assert_text("bpf_prog_dev_bound_init+0x1/0x2", "bpf_prog_dev_bound_init", NULL);
	assert_text("bpf_trampoline_enter+0x1/0x2", "bpf_trampoline_enter", NULL);
	assert_text("bpf_dispatcher_xdp_func+0x1/0x2", "bpf_dispatcher_xdp_func", NULL);
	assert_text("name+0x1/0x2 [", "name", NULL);
	assert_text("name+0x1/0x2 []", "name", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(nothing); i++) {
		char copy[64];

		snprintf(copy, sizeof(copy), "%s", nothing[i]);
		assert_false(kernel_text_parse(copy, &name, &module));
	}
}

/* A kernel that knows two addresses, and cannot be asked any more after a while. */
struct fake_kernel {
	unsigned int asked;
	bool gone;
};

static bool fake_name(void *context, uint64_t address, char *text, size_t size)
{
	struct fake_kernel *kernel = context;

	if (kernel->gone)
		return false;
	kernel->asked++;
	if (address == 0xffffffff81000204)
		snprintf(text, size, "asked_function+0x4/0x100");
	else if (address == 0xffffffffc0000010)
		snprintf(text, size, "_RNvC6module3run+0x10/0x100 [rust_module]");
	else
		snprintf(text, size, "0x%llx", (unsigned long long)address);
	return true;
}

static void the_running_kernel_is_asked_first(void **state)
{
	struct fake_kernel kernel = {0};
	struct kernel_namer namer = {fake_name, &kernel};

	strings = string_pool_new();
	symbolizer = kernel_symbolizer_new(TEST_DATA_DIR "/kallsyms", &namer, strings);
	assert_name(0xffffffff81000204, "asked_function", "kernel");
	assert_string_equal(resolve(0xffffffff81000205, true).lines[0].function, "asked_function");
	assert_name(0xffffffffc0000010, "module::run", "rust_module");
	/* It knows better than the file. */
	assert_no_name(0xffffffff81000500);
	assert_int_equal(kernel.asked, 3); /* once for both addresses of a function */
	kernel.gone = true;
	assert_name(0xffffffff81000500, "vfs_read", "kernel");
}

static void an_answer_holds_for_its_function_alone(void **state)
{
	struct fake_kernel kernel = {0};
	struct kernel_namer namer = {fake_name, &kernel};

	strings = string_pool_new();
	symbolizer = kernel_symbolizer_new(TEST_DATA_DIR "/kallsyms", &namer, strings);
	assert_name(0xffffffffc0000010, "module::run", "rust_module");
	assert_name(0xffffffffc0000000, "module::run", "rust_module");
	assert_name(0xffffffffc00000ff, "module::run", "rust_module");
	assert_int_equal(kernel.asked, 1);
	assert_no_name(0xffffffffc0000100);
	assert_no_name(0xffffffffbfffffff);
	assert_int_equal(kernel.asked, 3);
	assert_name(0xffffffffc0000010, "module::run", "rust_module");
	assert_int_equal(kernel.asked, 4);
	/* Another module may have taken its place by then. */
	usleep(1100000);
	assert_name(0xffffffffc0000010, "module::run", "rust_module");
	assert_int_equal(kernel.asked, 5);
}

static void reads_where_a_function_lies(void **state)
{
	static const char *const nothing[] = {"",	   "name",	     "0xffffffff81000000",
					      "name+0x10", "name+0x20/0x20", "name+0x10/x"};
	uint64_t start, size;

	assert_true(kernel_text_range("vfs_read+0x1c/0x200 [fs]", 0x101c, &start, &size));
	assert_int_equal(start, 0x1000);
	assert_int_equal(size, 0x200);
	assert_false(kernel_text_range("vfs_read+0x1c/0x200", 0x1b, &start, &size));
	for (size_t i = 0; i < ARRAY_SIZE(nothing); i++)
		assert_false(kernel_text_range(nothing[i], 0x1000, &start, &size));
}

static void demangles_rust_code_in_the_kernel(void **state)
{
	assert_name(0xffffffff81000800, "kernel::driver::probe", "kernel");
}

static void hidden_addresses_are_reported_as_such(void **state)
{
	static const char text[] = "0000000000000000 T _stext\n0000000000000000 t hidden\n";

	start_with_text(text, sizeof(text) - 1);
	assert_int_equal(resolve(0xffffffff81000000, false).result, SYMBOL_NO_KALLSYMS);
	assert_int_equal(resolve(0, false).result, SYMBOL_NO_KALLSYMS);
	unlink(path);
}

static void missing_file_is_not_reported_as_hidden_symbols(void **state)
{
	start_with("/nonexistent/kallsyms");
	assert_int_equal(resolve(0xffffffff81000000, false).result, SYMBOL_NO_FILE);
}

static void damaged_lines_are_passed_over(void **state)
{
	char text[200000];
	size_t size = 0;

	size += (size_t)sprintf(text + size,
				"garbage\n\n   \nffffffff81000000\nffffffff81000000 T\n"
				"ffffffff81000000 T \n11112222333344445 T too_long\n"
				"ffffffff81000000 T good\t[\nffffffff81000100 T other\t[]\n");
	/* A line longer than what is read at once. */
	memset(text + size, 'x', 150000);
	size += 150000;
	size += (size_t)sprintf(text + size, "\nffffffff81000200 T last");
	start_with_text(text, size);
	assert_name(0xffffffff81000010, "good", "kernel");
	assert_name(0xffffffff81000110, "other", "kernel");
	assert_name(0xffffffff81000210, "last", "kernel");
	unlink(path);
}

static void is_not_responsible_for_other_spaces(void **state)
{
	struct frame_location location = {.space = FRAME_FILE};
	struct symbol symbol;

	assert_false(symbolizer->ops->resolve(symbolizer, &location, &symbol));
}

/* 122,000 lines, in the order of magnitude of a distribution's kernel, under sanitizers too. */
static void parses_a_whole_kernel_quickly(void **state)
{
	size_t capacity = 122000 * 64, size = 0;
	struct kernel_symbols symbols = {0};
	char *text = malloc(capacity);
	const char *module;
	uint64_t start;

	assert_non_null(text);
	for (unsigned int i = 0; i < 122000; i++)
		size += (size_t)sprintf(text + size, "%016lx t some_function_name_%u\n",
					0xffffffff81000000UL + i * 64UL, i);
	start = clock_now_ns();
	assert_int_equal(kernel_symbols_parse(&symbols, text, size), 0);
	assert_int_equal(kernel_symbols_finish(&symbols), 0);
	assert_true(clock_now_ns() - start < NS_PER_SECOND);
	assert_int_equal(symbols.table.count, 122000);
	assert_string_equal(
		kernel_symbols_find(&symbols, 0xffffffff81000000 + 64 * 777 + 3, &module),
		"some_function_name_777");
	kernel_symbols_done(&symbols);
	free(text);
}

int main(void)
{
#define with_fixture(test) cmocka_unit_test_setup_teardown(test, start_with_fixture, stop)
	const struct CMUnitTest tests[] = {
		with_fixture(names_functions_of_the_image),
		with_fixture(return_address_belongs_to_the_call_before_it),
		with_fixture(padding_belongs_to_the_function_behind_it),
		with_fixture(prefers_exported_and_plain_names),
		with_fixture(data_is_not_code),
		with_fixture(nothing_is_found_beyond_the_end_of_the_text),
		with_fixture(names_modules_and_bpf_programs),
		with_fixture(nothing_is_attributed_to_a_module_function_far_away),
		with_fixture(demangles_rust_code_in_the_kernel),
		cmocka_unit_test_teardown(hidden_addresses_are_reported_as_such, stop),
		cmocka_unit_test_teardown(missing_file_is_not_reported_as_hidden_symbols, stop),
		cmocka_unit_test(takes_apart_what_the_kernel_prints),
		cmocka_unit_test(reads_where_a_function_lies),
		cmocka_unit_test_teardown(the_running_kernel_is_asked_first, stop),
		cmocka_unit_test_teardown(an_answer_holds_for_its_function_alone, stop),
		cmocka_unit_test_teardown(damaged_lines_are_passed_over, stop),
		with_fixture(is_not_responsible_for_other_spaces),
		cmocka_unit_test(parses_a_whole_kernel_quickly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
