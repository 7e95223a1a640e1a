// SPDX-License-Identifier: BSD-2-Clause
/* Tests how the kernel's counters of disks are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "machine/disk_stats.h"
#include "temp_tree.h"

static struct disk_reading disks[DISKS_MAX];

/* Of Linux 4.18 on there are more columns, before that fourteen. */
static void columns_are_those_of_the_kernel(void **state)
{
	static const char text[] =
		"   7       0 loop0 1 0 8 0 0 0 0 0 0 0 0\n"
		" 254       0 vda 126 5 1208 40 2025 9 1756504 800 3 668 7358 1 2 3 4 5 6\n"
		" 259       1 nvme0n1 1 0 8 0 2 0 16 0 0 12 13\n";

	assert_int_equal(disk_stats_parse(text, NULL, "", disks), 3);
	assert_string_equal(disks[1].name, "vda");
	assert_int_equal(disks[1].reads, 126);
	assert_int_equal(disks[1].read_bytes, 1208 * 512);
	assert_int_equal(disks[1].writes, 2025);
	assert_int_equal(disks[1].written_bytes, 1756504ULL * 512);
	assert_int_equal(disks[1].busy_ms, 668);
	assert_int_equal(disks[1].queue_ms, 7358);
	assert_int_equal(disks[2].busy_ms, 12);
}

static void what_is_no_line_is_left_out(void **state)
{
	static const char text[] = "\n"
				   "8 0 sda 1 2 3\n"
				   "8 0 ../../etc 1 0 8 0 2 0 16 0 0 12 13\n"
				   "8 0 .. 1 0 8 0 2 0 16 0 0 12 13\n"
				   "x y sdb 1 0 8 0 2 0 16 0 0 12 13\n"
				   "8 0 sdc 1 0 8 0 2 0 16 0 0 12 13";

	assert_int_equal(disk_stats_parse(text, NULL, "", disks), 1);
	assert_string_equal(disks[0].name, "sdc");
	assert_int_equal(disk_stats_parse("", NULL, "", disks), 0);
}

static void a_line_without_an_end_is_none(void **state)
{
	static char text[2000];

	snprintf(text, sizeof(text), "8 0 sdc 1 0 8 0 2 0 16 0 0 12 13 %01900d", 1);
	assert_int_equal(disk_stats_parse(text, NULL, "", disks), 0);
}

static void more_disks_than_there_is_room_for_are_left_out(void **state)
{
	static char text[DISKS_MAX * 60];
	size_t used = 0;

	for (int i = 0; i < DISKS_MAX + 9; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "8 %d sd%d 1 0 8 0 2 0 16 0 0 12 13\n", i, i);
	assert_int_equal(disk_stats_parse(text, NULL, "", disks), DISKS_MAX);
}

static void partitions_and_disks_that_did_nothing_are_no_disks(void **state)
{
	struct temp_tree tree;

	temp_tree_init(&tree);
	temp_tree_file(&tree, "proc/diskstats",
		       "7 0 loop0 0 0 0 0 0 0 0 0 0 0 0\n"
		       "8 0 sda 10 0 80 0 2 0 16 0 0 12 13\n"
		       "8 1 sda1 10 0 80 0 2 0 16 0 0 12 13\n");
	temp_tree_file(&tree, "sys/class/block/sda1/partition", "1\n");
	temp_tree_file(&tree, "sys/class/block/sda/size", "99\n");
	assert_int_equal(disk_stats_read(tree.root, disks), 1);
	assert_string_equal(disks[0].name, "sda");
	temp_tree_done(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_those_of_the_kernel),
		cmocka_unit_test(what_is_no_line_is_left_out),
		cmocka_unit_test(a_line_without_an_end_is_none),
		cmocka_unit_test(more_disks_than_there_is_room_for_are_left_out),
		cmocka_unit_test(partitions_and_disks_that_did_nothing_are_no_disks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
