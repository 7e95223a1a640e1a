// SPDX-License-Identifier: BSD-2-Clause
/* Tests for capture/map_memory: maps are told from programs and files by what the kernel says of
 * their descriptors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "capture/kernel/map_memory.h"
#include "temp_tree.h"

static void only_maps_count(void **state)
{
	struct temp_tree tree;

	temp_tree_init(&tree);
	assert_int_equal(map_memory_bytes(tree.root), 0);
	temp_tree_file(&tree, "fdinfo/0", "pos:\t0\nflags:\t02\nmnt_id:\t15\n");
	temp_tree_file(
		&tree, "fdinfo/3",
		"pos:\t0\nmap_type:\t2\nkey_size:\t4\nmemlock:\t8192\nmap_id:\t7\nfrozen:\t0\n");
	temp_tree_file(&tree, "fdinfo/4",
		       "pos:\t0\nprog_type:\t7\nprog_jited:\t1\nmemlock:\t4096\nprog_id:\t9\n");
	temp_tree_file(&tree, "fdinfo/5", "pos:\t0\nmap_type:\t27\nmemlock:\t100000000000\n");
	assert_int_equal(map_memory_bytes(tree.root), 100000008192);
	temp_tree_done(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_maps_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
