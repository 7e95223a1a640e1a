// SPDX-License-Identifier: BSD-2-Clause
/* Tests what disks did between two readings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "live/live_disks.h"
#include "temp_tree.h"

#define SECOND 1000000000ULL

static struct temp_tree tree;
static struct live_disks disks;

static int setup(void **state)
{
	temp_tree_init(&tree);
	temp_tree_file(&tree, "proc/diskstats",
		       "8 0 sda 100 0 800 0 20 0 160 0 0 5000 9000\n"
		       "8 16 sdb 7 0 80 0 2 0 16 0 0 12 13\n");
	disks = (struct live_disks){.root = NULL};
	live_disks_begin(&disks, tree.root, SECOND);
	return 0;
}

static int teardown(void **state)
{
	temp_tree_done(&tree);
	return 0;
}

static void an_interval_has_what_came_since_its_begin(void **state)
{
	struct disk_list list;

	temp_tree_file(&tree, "proc/diskstats",
		       "8 0 sda 110 0 880 0 25 0 200 0 0 5500 10000\n"
		       "8 16 sdb 7 0 80 0 2 0 16 0 0 12 13\n"
		       "8 32 sdc 1 0 8 0 0 0 0 0 0 250 250\n");
	list = live_disks_cut(&disks, 2 * SECOND);
	assert_int_equal(list.items.count, 3);
	assert_int_equal(list.items.items[0].reads, 10);
	assert_int_equal(list.items.items[0].writes, 5);
	assert_int_equal(list.items.items[0].read_bytes, 80 * 512);
	assert_true(disk_busy_percent(&list.items.items[0]) == 50);
	assert_true(disk_queue(&list.items.items[0]) == 1);
	/* It did nothing, which is measured, too. */
	assert_int_equal(list.items.items[1].of_ns, SECOND);
	assert_int_equal(list.items.items[1].reads, 0);
	/* It came meanwhile. */
	assert_int_equal(list.items.items[2].busy_ns, SECOND / 4);
	assert_string_equal(disk_list_busiest(&list)->name, "sda");
	array_free(&list.items);
	list = live_disks_cut(&disks, 3 * SECOND);
	assert_int_equal(list.items.items[0].reads, 0);
	array_free(&list.items);
}

/* The kernel's clock has ticks. */
static void nothing_is_busy_for_longer_than_the_interval(void **state)
{
	struct disk_list list;

	temp_tree_file(&tree, "proc/diskstats", "8 0 sda 101 0 808 0 20 0 160 0 0 6004 10004\n");
	list = live_disks_cut(&disks, 2 * SECOND);
	assert_true(disk_busy_percent(&list.items.items[0]) == 100);
	array_free(&list.items);
}

static void a_disk_that_was_replaced_counts_from_the_beginning(void **state)
{
	struct disk_list list;

	temp_tree_file(&tree, "proc/diskstats", "8 0 sda 3 0 24 0 0 0 0 0 0 30 30\n");
	list = live_disks_cut(&disks, 2 * SECOND);
	assert_int_equal(list.items.items[0].reads, 3);
	assert_int_equal(list.items.items[0].busy_ns, 30 * SECOND / 1000);
	array_free(&list.items);
}

/* 4,294,967,295 ms are followed by 0. */
static void times_begin_again_at_32_bits(void **state)
{
	struct disk_list list;

	temp_tree_file(&tree, "proc/diskstats",
		       "8 0 sda 100 0 800 0 20 0 160 0 0 4294967196 4294966296\n");
	list = live_disks_cut(&disks, 2 * SECOND);
	array_free(&list.items);
	temp_tree_file(&tree, "proc/diskstats", "8 0 sda 101 0 808 0 20 0 160 0 0 100 1000\n");
	list = live_disks_cut(&disks, 3 * SECOND);
	assert_int_equal(list.items.items[0].reads, 1);
	assert_int_equal(list.items.items[0].busy_ns, SECOND / 5);
	assert_int_equal(list.items.items[0].queue_ns, 2 * SECOND);
	array_free(&list.items);
}

static void what_cannot_be_read_is_in_the_next_interval(void **state)
{
	struct disk_list list;

	temp_tree_file(&tree, "proc/diskstats", "");
	list = live_disks_cut(&disks, 2 * SECOND);
	assert_int_equal(list.items.count, 0);
	temp_tree_file(&tree, "proc/diskstats", "8 0 sda 110 0 880 0 25 0 200 0 0 6000 10000\n");
	list = live_disks_cut(&disks, 3 * SECOND);
	assert_int_equal(list.items.items[0].reads, 10);
	assert_true(disk_busy_percent(&list.items.items[0]) == 50);
	array_free(&list.items);
}

static void without_a_begin_there_is_nothing(void **state)
{
	static struct live_disks unused;

	assert_int_equal(live_disks_cut(&unused, SECOND).items.count, 0);
}

static void intervals_add_up_by_name(void **state)
{
	struct disk_list list = {.items.count = 0};
	struct disk busy = {.name = "sda", .busy_ns = 5, .of_ns = 10, .reads = 1},
		    idle = {.name = "sda", .of_ns = 10}, other = {.name = "sdb", .of_ns = 20};

	assert_null(disk_list_busiest(&list));
	assert_int_equal(disk_list_add(&list, &other), 0);
	assert_int_equal(disk_list_add(&list, &busy), 0);
	assert_int_equal(disk_list_add(&list, &idle), 0);
	assert_int_equal(list.items.count, 2);
	assert_string_equal(disk_list_busiest(&list)->name, "sda");
	assert_true(disk_busy_percent(disk_list_busiest(&list)) == 25);
	array_free(&list.items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_interval_has_what_came_since_its_begin, setup,
						teardown),
		cmocka_unit_test_setup_teardown(nothing_is_busy_for_longer_than_the_interval, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_disk_that_was_replaced_counts_from_the_beginning,
						setup, teardown),
		cmocka_unit_test_setup_teardown(times_begin_again_at_32_bits, setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_read_is_in_the_next_interval, setup,
						teardown),
		cmocka_unit_test(without_a_begin_there_is_nothing),
		cmocka_unit_test(intervals_add_up_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
