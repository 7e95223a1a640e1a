// SPDX-License-Identifier: BSD-2-Clause
/* Tests that a number that another task has got by now is no target. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "temp_tree.h"
#include "capture/session/target_entry.h"

static void start(struct temp_tree *tree, uint64_t ticks)
{
	char stat[160];

	snprintf(stat, sizeof(stat),
		 "7 (a) b) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 %llu 1000 100\n",
		 (unsigned long long)ticks);
	temp_tree_file(tree, "7/stat", stat);
}

static void another_start_is_another_task(void **state)
{
	struct pkbpf_target entry;
	struct temp_tree tree;

	(void)state;
	temp_tree_init(&tree);
	start(&tree, 4711);
	entry = target_entry_of(temp_tree_path(&tree, ""), 7, PKBPF_TARGET_FOLLOWED);
	assert_int_equal(entry.start_ns, 4711 * PKBPF_TICK_NS);
	assert_int_equal(entry.reason, PKBPF_TARGET_FOLLOWED);
	assert_false(target_entry_is_stale(temp_tree_path(&tree, ""), 7, &entry));
	start(&tree, 4712);
	assert_true(target_entry_is_stale(temp_tree_path(&tree, ""), 7, &entry));
	temp_tree_done(&tree);
}

static void what_is_not_known_is_not_stale(void **state)
{
	struct pkbpf_target entry;
	struct temp_tree tree;

	(void)state;
	temp_tree_init(&tree);
	entry = target_entry_of(temp_tree_path(&tree, ""), 7, PKBPF_TARGET_NAMED);
	assert_int_equal(entry.start_ns, 0);
	start(&tree, 4711);
	assert_false(target_entry_is_stale(temp_tree_path(&tree, ""), 7, &entry));
	/* Of a program. */
	entry.start_ns = 4000 * PKBPF_TICK_NS + 1;
	assert_false(target_entry_is_stale(temp_tree_path(&tree, ""), 7, &entry));
	/* It cannot be read. */
	entry.start_ns = 4000 * PKBPF_TICK_NS;
	assert_false(target_entry_is_stale(temp_tree_path(&tree, "none"), 7, &entry));
	assert_true(target_entry_is_stale(temp_tree_path(&tree, ""), 7, &entry));
	temp_tree_done(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_start_is_another_task),
		cmocka_unit_test(what_is_not_known_is_not_stale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
