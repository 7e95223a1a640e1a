// SPDX-License-Identifier: BSD-2-Clause
/* Which functions of a kernel can have probes, by lists that the test writes. */
#include "source/regions/kernel_functions.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/pkbpf-kernel-functions.XXXXXX";
static char symbols[64], traceable[64], blacklist[64];
static const struct kernel_function_paths paths = {symbols, traceable, blacklist};

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(symbols, sizeof(symbols), "%s/symbols", folder);
	snprintf(traceable, sizeof(traceable), "%s/traceable", folder);
	snprintf(blacklist, sizeof(blacklist), "%s/blacklist", folder);
	put(symbols, "0000000000000000 A fixed_percpu_data\n"
		     "ffffffff81000100 T vfs_read\n"
		     "ffffffff81000200 T vfs_write\n"
		     "ffffffff81000200 T vfs_write_alias\n"
		     "ffffffff81000300 t vfs_notrace\n"
		     "ffffffff81000400 t vfs_black\n"
		     "ffffffff81000500 t vfs_read.cold\n"
		     "ffffffff81000600 d vfs_data\n"
		     "ffffffff81000700 T bpf_map_update\n"
		     "a line of nothing\n"
		     "ffffffffc0000100 t vfs_module\t[ext4]\n"
		     "ffffffffc0000200 t vfs_bpf\t[bpf]\n");
	put(blacklist, "0xffffffff81000400-0xffffffff81000410\tvfs_black\n");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(symbols);
	unlink(traceable);
	unlink(blacklist);
	return rmdir(folder);
}

static size_t find(const char *glob, struct kernel_functions *functions)
{
	memset(functions, 0, sizeof(*functions));
	assert_int_equal(kernel_functions_find(&paths, &glob, 1, functions), 0);
	return functions->items.count;
}

static void functions_that_cannot_be_traced_are_left_out_and_told(void **state)
{
	struct kernel_functions functions;

	(void)state;
	put(traceable, "vfs_read\nvfs_write_alias\nvfs_black\nvfs_module [ext4]\n");
	assert_int_equal(find("vfs_*", &functions), 3);
	assert_string_equal(functions.items.items[0].name, "vfs_read");
	/* Known to the list by its other name. */
	assert_int_equal(functions.items.items[1].address, 0xffffffff81000200);
	assert_string_equal(functions.items.items[2].name, "vfs_module");
	assert_int_equal(functions.refused, 2);
	kernel_functions_done(&functions);
}

static void without_a_list_only_the_blacklist_is_left_out(void **state)
{
	struct kernel_functions functions;

	(void)state;
	unlink(traceable);
	assert_int_equal(find("vfs_*", &functions), 4);
	assert_int_equal(functions.refused, 1);
	assert_string_equal(functions.first_refused, "vfs_black");
	kernel_functions_done(&functions);
}

static void what_probes_call_themselves_is_left_out_and_told(void **state)
{
	struct kernel_functions functions;

	(void)state;
	assert_int_equal(find("bpf_*", &functions), 0);
	assert_int_equal(functions.ours, 1);
	assert_string_equal(functions.first_ours, "bpf_map_update");
	assert_true(kernel_function_is_ours("_raw_spin_lock_irqsave"));
	assert_false(kernel_function_is_ours("tcp_sendmsg"));
	kernel_functions_done(&functions);
}

static void hidden_addresses_are_an_error(void **state)
{
	const char *glob = "vfs_*";
	struct kernel_functions functions = {0};

	(void)state;
	put(symbols, "0000000000000000 T vfs_read\n0000000000000000 T vfs_write\n");
	assert_int_equal(kernel_functions_find(&paths, &glob, 1, &functions), -EACCES);
	kernel_functions_done(&functions);
	unlink(symbols);
	assert_int_equal(kernel_functions_find(&paths, &glob, 1, &functions), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_that_cannot_be_traced_are_left_out_and_told),
		cmocka_unit_test(without_a_list_only_the_blacklist_is_left_out),
		cmocka_unit_test(what_probes_call_themselves_is_left_out_and_told),
		cmocka_unit_test(hidden_addresses_are_an_error),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
