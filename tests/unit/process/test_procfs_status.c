// SPDX-License-Identifier: BSD-2-Clause
/* Tests for process/procfs_status: starts of processes whose names hold anything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "process/procfs_status.h"
#include "temp_tree.h"

static void start_of_a_process(void **state)
{
	struct temp_tree tree;

	(void)state;
	temp_tree_init(&tree);
	temp_tree_file(&tree, "7/stat",
		       "7 (a) S 1 (b) R 1 7 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 18446744073 "
		       "8192 1\n");
	temp_tree_file(&tree, "8/stat", "8 (short) R 1 8\n");
	assert_int_equal(procfs_start_ticks(tree.root, 7), 18446744073ULL);
	assert_int_equal(procfs_start_ticks(tree.root, 8), 0);
	assert_int_equal(procfs_start_ticks(tree.root, 9), 0);
	temp_tree_done(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(start_of_a_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
