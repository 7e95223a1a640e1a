// SPDX-License-Identifier: BSD-2-Clause
/* Tests which block devices are known to have nothing to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "source/device_idle.h"
#include "temp_tree.h"

static void a_device_is_idle_when_it_neither_reads_nor_writes(void **state)
{
	struct temp_tree tree;

	temp_tree_init(&tree);
	temp_tree_file(&tree, "dev/block/254:0/inflight", "       0        0\n");
	temp_tree_file(&tree, "dev/block/254:1/inflight", "       3        0\n");
	temp_tree_file(&tree, "dev/block/7:1048575/inflight", "       0        1\n");
	assert_true(device_is_idle(tree.root, 254U << 20));
	assert_false(device_is_idle(tree.root, 254U << 20 | 1));
	assert_false(device_is_idle(tree.root, 7U << 20 | 1048575));
	temp_tree_done(&tree);
}

static void what_the_kernel_does_not_say_may_be_busy(void **state)
{
	struct temp_tree tree;

	temp_tree_init(&tree);
	temp_tree_file(&tree, "dev/block/8:0/inflight", "0\n");
	temp_tree_file(&tree, "dev/block/8:1/inflight", "");
	temp_tree_file(&tree, "dev/block/8:2/inflight", "none 0\n");
	for (uint32_t minor = 0; minor < 4; minor++)
		assert_false(device_is_idle(tree.root, 8U << 20 | minor));
	temp_tree_done(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_is_idle_when_it_neither_reads_nor_writes),
		cmocka_unit_test(what_the_kernel_does_not_say_may_be_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
