// SPDX-License-Identifier: BSD-2-Clause
/* Tests weights of functions from folded stacks: recursion counts once, callers and callees add up
 * to the total. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/mcp_stacks.h"

static struct mcp_stacks read_text(const char *text, bool places_alone)
{
	char *copy = strdup(text);
	struct mcp_stacks stacks;

	assert_non_null(copy);
	assert_int_equal(mcp_stacks_read(copy, places_alone, &stacks), 0);
	free(copy);
	return stacks;
}

static const struct mcp_weight *weight_of(const struct mcp_stacks *stacks,
					  const struct mcp_weights *weights, const char *name)
{
	array_foreach(&weights->items, each)
		if (strcmp(string_pool_get(stacks->names, each->name), name) == 0)
			return each;
	fail_msg("no weight of %s", name);
	return NULL;
}

static const char recursive[] = "app;main;walk;walk;leaf 5\n"
				"app;main;walk 2\n"
				"app;main;walk;leaf;walk;hash_[i] 3\n"
				"app;main;other one;leaf 7\n"
				"app;read_[k] 11\n";

static void recursion_counts_once(void **state)
{
	struct mcp_stacks stacks = read_text(recursive, false);
	struct mcp_weights weights;
	uint64_t self = 0;

	(void)state;
	assert_int_equal(stacks.weight, 28);
	assert_int_equal(mcp_stacks_weigh(&stacks, false, &weights), 0);
	array_foreach(&weights.items, each)
		self += each->self;
	assert_int_equal(self, 28);
	assert_int_equal(weight_of(&stacks, &weights, "walk")->total, 10);
	assert_int_equal(weight_of(&stacks, &weights, "walk")->self, 2);
	assert_int_equal(weight_of(&stacks, &weights, "leaf")->total, 15);
	assert_int_equal(weight_of(&stacks, &weights, "leaf")->self, 12);
	assert_int_equal(weight_of(&stacks, &weights, "other one")->total, 7);
	assert_int_equal(weight_of(&stacks, &weights, "hash [inlined]")->self, 3);
	/* Largest self first. */
	assert_int_equal(weights.items.items[0].self, 12);
	assert_int_equal(weights.items.items[1].self, 11);
	mcp_weights_done(&weights);
	assert_int_equal(mcp_stacks_weigh(&stacks, true, &weights), 0);
	assert_string_equal(string_pool_get(stacks.names, weights.items.items[0].name), "main");
	mcp_weights_done(&weights);
	mcp_stacks_done(&stacks);
}

static void what_is_around_adds_up(void **state)
{
	struct mcp_stacks stacks = read_text(recursive, false);
	struct mcp_around around;
	struct mcp_weights found;
	uint64_t sum = 0;

	(void)state;
	assert_int_equal(mcp_stacks_find(&stacks, "walk", &found), 0);
	assert_int_equal(found.items.count, 1);
	assert_int_equal(mcp_stacks_around(&stacks, found.items.items[0].name, &around), 0);
	assert_int_equal(around.total, 10);
	assert_int_equal(around.self, 2);
	/* The outermost call has the caller, the innermost one the callee. */
	assert_int_equal(around.callers.items.count, 1);
	assert_int_equal(weight_of(&stacks, &around.callers, "main")->total, 10);
	array_foreach(&around.callees.items, each)
		sum += each->total;
	assert_int_equal(sum + around.self, around.total);
	assert_int_equal(weight_of(&stacks, &around.callees, "leaf")->total, 5);
	assert_int_equal(weight_of(&stacks, &around.callees, "hash [inlined]")->total, 3);
	assert_int_equal(weight_of(&stacks, &around.leaves, "walk")->total, 2);
	mcp_around_done(&around);
	mcp_weights_done(&found);
	mcp_stacks_done(&stacks);
}

static void exact_names_come_before_parts(void **state)
{
	struct mcp_stacks stacks =
		read_text("a;parse (x.py)_[p];parse_line;Reparse 1\na;parse_[k] 2\n", false);
	struct mcp_weights found;

	(void)state;
	assert_int_equal(mcp_stacks_find(&stacks, "parse", &found), 0);
	assert_int_equal(found.items.count, 2);
	weight_of(&stacks, &found, "parse (x.py) [python]");
	weight_of(&stacks, &found, "parse [kernel]");
	mcp_weights_done(&found);
	assert_int_equal(mcp_stacks_find(&stacks, "PARSE", &found), 0);
	assert_int_equal(found.items.count, 4);
	mcp_weights_done(&found);
	assert_int_equal(mcp_stacks_find(&stacks, "nothing", &found), 0);
	assert_int_equal(found.items.count, 0);
	mcp_weights_done(&found);
	mcp_stacks_done(&stacks);
}

static void scheduling_is_no_place(void **state)
{
	static const char text[] =
		"a;main;read;entry_SYSCALL_64_after_hwframe_[k];do_syscall_64_[k];"
		"anon_pipe_read_[k];schedule_[k] 4\n"
		"a;schedule_[k] 1\n";
	struct mcp_stacks stacks = read_text(text, true);
	struct mcp_weights weights;

	(void)state;
	assert_int_equal(mcp_stacks_weigh(&stacks, false, &weights), 0);
	assert_int_equal(weight_of(&stacks, &weights, "anon_pipe_read [kernel]")->self, 4);
	/* Where there is nothing else, it stays. */
	assert_int_equal(weight_of(&stacks, &weights, "schedule [kernel]")->total, 1);
	assert_int_equal(weights.items.count, 4);
	mcp_weights_done(&weights);
	mcp_stacks_done(&stacks);
	/* A program's function of that name is one. */
	stacks = read_text("a;main;schedule 4\n", true);
	assert_int_equal(mcp_stacks_weigh(&stacks, false, &weights), 0);
	assert_int_equal(weight_of(&stacks, &weights, "schedule")->self, 4);
	mcp_weights_done(&weights);
	mcp_stacks_done(&stacks);
}

static void what_is_no_stack_is_refused(void **state)
{
	static const char *const wrong[] = {"a;b",  "a;b x", "a;b -1", "a;b 18446744073709551616",
					    "a;b ", "a;b 1 "};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		char *copy = strdup(wrong[i]);
		struct mcp_stacks stacks;

		assert_non_null(copy);
		assert_int_equal(mcp_stacks_read(copy, false, &stacks), -EBADMSG);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(what_is_around_adds_up),
		cmocka_unit_test(exact_names_come_before_parts),
		cmocka_unit_test(scheduling_is_no_place),
		cmocka_unit_test(what_is_no_stack_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
