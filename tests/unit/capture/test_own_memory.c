// SPDX-License-Identifier: BSD-2-Clause
/* Tests for capture/kernel/own_memory: resident pages that are of no file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "temp_tree.h"
#include "capture/kernel/own_memory.h"

static uint64_t pages_of(struct temp_tree *tree, const char *statm)
{
	temp_tree_file(tree, "statm", statm);
	return own_memory_bytes(temp_tree_path(tree, "")) / (uint64_t)sysconf(_SC_PAGESIZE);
}

static void files_are_not_its_own(void **state)
{
	struct temp_tree tree;

	temp_tree_init(&tree);
	assert_int_equal(own_memory_bytes(temp_tree_path(&tree, "")), 0);
	assert_int_equal(pages_of(&tree, "9000 2000 750 100 0 3000 0\n"), 1250);
	assert_int_equal(pages_of(&tree, "9000 750 750 100 0 3000 0\n"), 0);
	assert_int_equal(pages_of(&tree, "9000 700 750 100 0 3000 0\n"), 0);
	assert_int_equal(pages_of(&tree, "damaged\n"), 0);
	assert_int_equal(pages_of(&tree, ""), 0);
	temp_tree_done(&tree);
	assert_true(own_memory_bytes("/proc/self") > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_not_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
