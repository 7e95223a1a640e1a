// SPDX-License-Identifier: BSD-2-Clause
/* Tests whose I/O is counted as that of devices without requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "source/blockio/requestless.h"
#include "temp_tree.h"

static void counts_io_of_devices_without_queues_of_requests_only(void **state)
{
	struct temp_tree tree;

	temp_tree_init(&tree);
	temp_tree_file(
		&tree, "block/zram0/stat",
		"      10        1        2        3       20        4        5        6        0"
		"        7        8      300        0        0        0        9        9\n");
	temp_tree_folder(&tree, "block/zram0/slaves");
	/* Makes requests; */
	temp_tree_folder(&tree, "block/vda/mq/0");
	temp_tree_file(&tree, "block/vda/stat", "1000 0 0 0 1000 0 0 0 0 0 0 1000\n");
	/* hands on to one that does; */
	temp_tree_folder(&tree, "block/dm-0/slaves/vda");
	temp_tree_file(&tree, "block/dm-0/stat", "1000 0 0 0 1000 0 0 0 0 0 0 1000\n");
	/* does so without saying to whom. */
	temp_tree_file(&tree, "block/nvme0n1/stat", "1000 0 0 0 1000 0 0 0 0 0 0 1000\n");
	assert_int_equal(requestless_count(tree.root), 330);
	temp_tree_file(&tree, "block/ram0/stat", "1 0 0 0 2 0 0 0 7");
	assert_int_equal(requestless_count(tree.root), 333);
	temp_tree_done(&tree);
}

static void what_cannot_be_read_counts_nothing(void **state)
{
	struct temp_tree tree;

	temp_tree_init(&tree);
	assert_int_equal(requestless_count(tree.root), 0);
	temp_tree_file(&tree, "block/zram0/stat", "nothing\n");
	temp_tree_folder(&tree, "block/zram1");
	assert_int_equal(requestless_count(tree.root), 0);
	temp_tree_done(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_io_of_devices_without_queues_of_requests_only),
		cmocka_unit_test(what_cannot_be_read_counts_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
