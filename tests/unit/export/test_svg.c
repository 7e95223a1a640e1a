// SPDX-License-Identifier: BSD-2-Clause
// Tests the frames of a flame graph and the tree of calls behind them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "app_fixture.h"
#include "base/array.h"
#include "profile/call_tree.h"

static const struct fake_symbol symbols[] = {
	FAKE_FUNCTION(APP, 0x1000, 0x1100, "main"),
	FAKE_FUNCTION(APP, 0x1100, 0x1200, "work"),
	FAKE_FUNCTION(APP, 0x1200, 0x1300, "</title><script>alert(1)</script>]]>&\""),
	{.space = FRAME_KERNEL,
	 .start = 0x100,
	 .end = 0x200,
	 .lines = {{.function = "do_syscall_64"}}},
};

/* main twice by itself, once in work, and five times in the kernel below work. */
static void sample_some(struct fixture *fixture)
{
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401010));
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401020));
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401110, 0x401010));
	for (int i = 0; i < 5; i++)
		fake_sample(fixture->machine, 100, 100, FAKE_IPS(0x110),
			    FAKE_IPS(0x401110, 0x401010));
	fake_profile_run(&fixture->fake, fixture->machine, symbols, ARRAY_SIZE(symbols));
}

static void a_call_tree_adds_stacks_up_from_their_roots(void **state)
{
	static const struct {
		const char *name;
		uint32_t parent, end, depth;
		uint64_t total, self;
	} expected[] = {
		{"all", 0, 5, 0, 8, 0},	 {"app", 0, 5, 1, 8, 0},	   {"main", 1, 5, 2, 8, 2},
		{"work", 2, 5, 3, 6, 1}, {"do_syscall_64", 3, 5, 4, 5, 5},
	};
	struct fixture *fixture = *state;
	struct function_table_options options = {0};
	struct function_table *functions;
	const struct call_node *nodes;
	struct call_tree *tree;
	size_t count;

	sample_some(fixture);
	functions = function_table_new(fixture->fake.profile, &options);
	tree = call_tree_of_profile(fixture->fake.profile, functions, PKBPF_PROFILE_CPU, NULL);
	nodes = call_tree_nodes(tree, &count);
	assert_int_equal(count, ARRAY_SIZE(expected));
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(call_tree_name(tree, &nodes[i]), expected[i].name);
		assert_int_equal(nodes[i].parent, expected[i].parent);
		assert_int_equal(nodes[i].end, expected[i].end);
		assert_int_equal(nodes[i].depth, expected[i].depth);
		assert_int_equal(nodes[i].total, expected[i].total);
		assert_int_equal(nodes[i].self, expected[i].self);
	}
	call_tree_free(tree);
	function_table_free(functions);
}

static void a_reversed_tree_adds_stacks_up_from_their_leaves(void **state)
{
	static const struct {
		const char *name;
		uint32_t parent, end;
		uint64_t total;
		enum call_node_type type;
	} expected[] = {
		{"all", 0, 10, 8, CALL_NODE_ROOT},
		{"do_syscall_64", 0, 5, 5, CALL_NODE_FUNCTION},
		{"work", 1, 5, 5, CALL_NODE_FUNCTION},
		{"main", 2, 5, 5, CALL_NODE_FUNCTION},
		{"app", 3, 5, 5, CALL_NODE_THREAD},
		{"main", 0, 7, 2, CALL_NODE_FUNCTION},
		{"app", 5, 7, 2, CALL_NODE_THREAD},
		{"work", 0, 10, 1, CALL_NODE_FUNCTION},
		{"main", 7, 10, 1, CALL_NODE_FUNCTION},
		{"app", 8, 10, 1, CALL_NODE_THREAD},
	};
	const struct call_tree_options reversed = {.reversed = true};
	struct fixture *fixture = *state;
	struct function_table_options options = {0};
	struct function_table *functions;
	const struct call_node *nodes;
	struct call_tree *tree;
	size_t count;

	sample_some(fixture);
	functions = function_table_new(fixture->fake.profile, &options);
	tree = call_tree_of_profile(fixture->fake.profile, functions, PKBPF_PROFILE_CPU, &reversed);
	nodes = call_tree_nodes(tree, &count);
	assert_int_equal(count, ARRAY_SIZE(expected));
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(call_tree_name(tree, &nodes[i]), expected[i].name);
		assert_int_equal(nodes[i].parent, expected[i].parent);
		assert_int_equal(nodes[i].end, expected[i].end);
		assert_int_equal(nodes[i].total, expected[i].total);
		assert_int_equal(nodes[i].type, expected[i].type);
	}
	call_tree_free(tree);
	function_table_free(functions);
}

/* main and work are one frame of app, below them the kernel. */
static void modules_that_call_themselves_are_one_frame(void **state)
{
	static const char *const names[] = {"all", "app", "app", "kernel"};
	const struct call_tree_options joined = {.joined = true};
	struct fixture *fixture = *state;
	struct function_table_options options = {.modules = true};
	struct function_table *functions;
	const struct call_node *nodes;
	struct call_tree *tree;
	size_t count;

	sample_some(fixture);
	functions = function_table_new(fixture->fake.profile, &options);
	tree = call_tree_of_profile(fixture->fake.profile, functions, PKBPF_PROFILE_CPU, &joined);
	nodes = call_tree_nodes(tree, &count);
	assert_int_equal(count, ARRAY_SIZE(names));
	for (size_t i = 0; i < count; i++)
		assert_string_equal(call_tree_name(tree, &nodes[i]), names[i]);
	assert_int_equal(nodes[2].self, 3);
	assert_int_equal(nodes[3].total, 5);
	assert_int_equal(call_tree_function(tree, &nodes[3])->mark, FUNCTION_KERNEL);
	call_tree_free(tree);
	function_table_free(functions);
}

static void siblings_stand_from_the_heaviest_to_the_lightest(void **state)
{
	struct fixture *fixture = *state;
	struct function_table_options options = {0};
	struct function_table *functions;
	const struct call_node *nodes;
	struct call_tree *tree;
	size_t count;

	fake_process(fixture->machine, 200, 1, "other");
	fake_map(fixture->machine, 200, 0x401000, 0x410000, 0x1000, APP);
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401010));
	fake_sample(fixture->machine, 200, 200, FAKE_IPS(), FAKE_IPS(0x401010));
	fake_sample(fixture->machine, 200, 200, FAKE_IPS(), FAKE_IPS(0x401110));
	fake_sample(fixture->machine, 200, 200, FAKE_IPS(), FAKE_IPS(0x401110));
	fake_profile_run(&fixture->fake, fixture->machine, symbols, ARRAY_SIZE(symbols));
	functions = function_table_new(fixture->fake.profile, &options);
	tree = call_tree_of_profile(fixture->fake.profile, functions, PKBPF_PROFILE_CPU, NULL);
	nodes = call_tree_nodes(tree, &count);
	assert_int_equal(count, 6);
	assert_string_equal(call_tree_name(tree, &nodes[1]), "other");
	assert_string_equal(call_tree_name(tree, &nodes[2]), "work");
	assert_string_equal(call_tree_name(tree, &nodes[3]), "main");
	assert_int_equal(nodes[1].end, 4);
	assert_string_equal(call_tree_name(tree, &nodes[4]), "app");
	call_tree_free(tree);
	function_table_free(functions);
}

static void a_profile_without_events_has_a_root_and_a_picture(void **state)
{
	struct fixture *fixture = *state;
	char *text;

	fake_profile_run(&fixture->fake, fixture->machine, symbols, ARRAY_SIZE(symbols));
	text = fake_profile_write(&fixture->fake, "svg", NULL);
	assert_non_null(strstr(text, ">all</text>"));
	free(text);
}

static void frames_stand_in_their_callers_by_their_shares(void **state)
{
	struct fixture *fixture = *state;
	char *text;

	sample_some(fixture);
	text = fake_profile_write(&fixture->fake, "svg", NULL);
	assert_non_null(strstr(text, "x=\"0.0000%\" y=\"148\" width=\"100.0000%\""));
	assert_non_null(strstr(text, "class=\"native\" x=\"0.0000%\" y=\"88\" width=\"75.0000%\""));
	assert_non_null(strstr(text, "class=\"kernel\" x=\"0.0000%\" y=\"68\" width=\"62.5000%\""));
	assert_non_null(strstr(text, "work\napp\n6 samples (75.0%), self 12.5%</title>"));
	free(text);
}

static void an_icicle_has_its_root_on_top(void **state)
{
	struct fixture *fixture = *state;
	struct format_options options = {.icicle = true};
	char *text;

	sample_some(fixture);
	text = fake_profile_write(&fixture->fake, "svg", &options);
	assert_non_null(strstr(text, "x=\"0.0000%\" y=\"68\" width=\"100.0000%\""));
	assert_non_null(
		strstr(text, "class=\"kernel\" x=\"0.0000%\" y=\"148\" width=\"62.5000%\""));
	free(text);
}

static void a_reversed_graph_has_leaves_at_its_root(void **state)
{
	struct fixture *fixture = *state;
	struct format_options options = {.reverse = true, .modules = true};
	char *text;

	sample_some(fixture);
	text = fake_profile_write(&fixture->fake, "svg", &options);
	assert_non_null(strstr(text, "by module, reversed: leaves with their callers"));
	assert_non_null(strstr(
		text, "Modules with the largest share of their own: kernel 62.5%, app 37.5%."));
	assert_non_null(
		strstr(text, "class=\"kernel\" x=\"0.0000%\" y=\"108\" width=\"62.5000%\""));
	free(text);
	options.modules = false;
	text = fake_profile_write(&fixture->fake, "svg", &options);
	assert_non_null(strstr(text, "Functions with the largest share of their own: do_syscall_64 "
				     "62.5%, main 25.0%, work 12.5%."));
	free(text);
}

static void names_are_text_and_never_markup(void **state)
{
	struct fixture *fixture = *state;
	char *text;

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401210));
	fake_profile_run(&fixture->fake, fixture->machine, symbols, ARRAY_SIZE(symbols));
	text = fake_profile_write(&fixture->fake, "svg", NULL);
	assert_non_null(strstr(text, "&lt;/title&gt;&lt;script&gt;alert(1)"));
	assert_null(strstr(text, "<script>alert"));
	/* The one that ends the picture's own script. */
	assert_ptr_equal(strstr(text, "]]>"), strstr(text, "]]></script>"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_call_tree_adds_stacks_up_from_their_roots, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_reversed_tree_adds_stacks_up_from_their_leaves,
						setup, teardown),
		cmocka_unit_test_setup_teardown(modules_that_call_themselves_are_one_frame, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_reversed_graph_has_leaves_at_its_root, setup,
						teardown),
		cmocka_unit_test_setup_teardown(siblings_stand_from_the_heaviest_to_the_lightest,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_profile_without_events_has_a_root_and_a_picture,
						setup, teardown),
		cmocka_unit_test_setup_teardown(frames_stand_in_their_callers_by_their_shares,
						setup, teardown),
		cmocka_unit_test_setup_teardown(an_icicle_has_its_root_on_top, setup, teardown),
		cmocka_unit_test_setup_teardown(names_are_text_and_never_markup, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
