// SPDX-License-Identifier: BSD-2-Clause
/* Tests for bpf/slot.bpf.h: elements of arrays are given to one owner each. */
#include "stand_in.h"

#include "slot.bpf.h"

#define ENTRIES 4

struct element {
	__u64 value;
	__u32 claims;
	__u32 padding;
};

struct pkbpf_bpf_config settings __asm__("config");
__u32 process_generation;
struct counter_map counters;
static int table, returned;
static volatile __u32 next;

static int setup(void **state)
{
	(void)state;
	next = 0;
	stand_in_register(&table, 4, sizeof(struct element), ENTRIES);
	stand_in_register(&returned, 0, 4, 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	stand_in_forget_maps();
	return 0;
}

static bool take(__u32 *index)
{
	return slot_take(&table, offsetof(struct element, claims), &next, &returned, index);
}

static struct element *element(__u32 index)
{
	return bpf_map_lookup_elem(&table, &index);
}

static void gives_each_element_once(void **state)
{
	__u32 index = 99;

	(void)state;
	for (__u32 i = 0; i < ENTRIES; i++) {
		assert_true(take(&index));
		assert_int_equal(index, i);
		assert_int_equal(element(i)->claims, 1);
	}
	assert_false(take(&index));
}

static void takes_what_was_given_back_when_none_is_new(void **state)
{
	__u32 index, back = 2;

	(void)state;
	for (__u32 i = 0; i < ENTRIES; i++)
		assert_true(take(&index));
	stand_in_push(&returned, &back);
	assert_true(take(&index));
	assert_int_equal(index, 2);
	assert_int_equal(element(2)->claims, 1);
	assert_false(take(&index));
}

static void leaves_alone_what_two_cpus_have_claimed(void **state)
{
	__u32 index;

	(void)state;
	element(0)->claims = 1; /* of a CPU that has not moved `next` on yet */
	assert_true(take(&index));
	assert_int_equal(index, 1);
	assert_int_equal(next, 2);
}

static void never_moves_next_back(void **state)
{
	__u32 index;

	(void)state;
	next = 3;
	assert_true(take(&index));
	assert_int_equal(index, 3);
	assert_int_equal(next, 4);
	assert_false(take(&index));
	assert_int_equal(next, 4);
}

static void gives_up_where_others_are_always_first(void **state)
{
	__u32 index, back = 7;

	(void)state;
	stand_in_forget_maps();
	stand_in_register(&table, 4, sizeof(struct element), SLOT_TRIES + 1);
	stand_in_register(&returned, 0, 4, 0);
	for (__u32 i = 0; i < SLOT_TRIES; i++)
		element(i)->claims = 1;
	assert_false(take(&index));
	assert_int_equal(element(SLOT_TRIES)->claims, 0);
	stand_in_push(&returned, &back);
	next = 0;
	assert_true(take(&index));
	assert_int_equal(index, 7);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(gives_each_element_once),
		TEST(takes_what_was_given_back_when_none_is_new),
		TEST(leaves_alone_what_two_cpus_have_claimed),
		TEST(never_moves_next_back),
		TEST(gives_up_where_others_are_always_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
