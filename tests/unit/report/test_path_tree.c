// SPDX-License-Identifier: BSD-2-Clause
/* Tests which paths stand for many stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/path_tree.h"

/* A path of letters, root first. */
static void add(struct path_tree *tree, const char *path, uint64_t weight)
{
	uint32_t keys[64];
	size_t count = strlen(path);

	for (size_t i = 0; i < count; i++)
		keys[i] = (uint32_t)path[i];
	assert_int_equal(path_tree_add(tree, keys, count, &(struct path_weight){weight, 1, weight}),
			 0);
}

/* "0:ab=70 1:c=40 ...": depth, letters, weight. */
static void assert_lines(struct path_tree *tree, size_t max, const char *expected)
{
	struct path_line lines[PATH_TREE_LINES_MAX];
	size_t count = path_tree_lines(tree, max, lines);
	char text[512] = "";

	assert_true(count <= max);
	for (size_t i = 0; i < count; i++) {
		char path[64] = "";
		size_t length = 0, used = strlen(text);

		for (uint32_t node = lines[i].last;; node = tree->nodes.items[node].parent) {
			memmove(path + 1, path, ++length);
			path[0] = (char)tree->nodes.items[node].key;
			if (node == lines[i].first)
				break;
		}
		snprintf(text + used, sizeof(text) - used, "%s%u:%s=%llu", i ? " " : "",
			 lines[i].depth, path,
			 (unsigned long long)tree->nodes.items[lines[i].weighed].sum.weight);
	}
	assert_string_equal(text, expected);
	path_tree_done(tree);
}

static void a_path_goes_on_while_nearly_all_of_it_does(void **state)
{
	struct path_tree tree = {0};

	add(&tree, "abcd", 95);
	add(&tree, "abx", 5);
	assert_lines(&tree, 8, "0:abcd=100");
}

static void what_paths_have_in_common_is_one_line(void **state)
{
	struct path_tree tree = {0};

	add(&tree, "abcd", 60);
	add(&tree, "abxy", 40);
	assert_lines(&tree, 8, "0:ab=100 1:cd=60 1:xy=40");
}

static void a_beginning_with_one_heavy_path_is_part_of_it(void **state)
{
	struct path_tree tree = {0};

	add(&tree, "abcd", 70);
	for (char c = 'e'; c < 'z'; c++)
		add(&tree, (char[]){'a', 'b', c, '\0'}, 1);
	assert_lines(&tree, 1, "0:abcd=70");
}

static void a_beginning_of_many_light_paths_stays(void **state)
{
	struct path_tree tree = {0};

	for (char c = 'e'; c < 'm'; c++)
		add(&tree, (char[]){'a', c, '\0'}, 10);
	add(&tree, "xy", 20);
	assert_lines(&tree, 2, "0:a=80 0:xy=20");
}

static void heavier_paths_come_first_below_their_callers(void **state)
{
	struct path_tree tree = {0};

	add(&tree, "ab", 10);
	add(&tree, "ac", 20);
	add(&tree, "xy", 40);
	add(&tree, "xz", 30);
	assert_lines(&tree, 8, "0:x=70 1:y=40 1:z=30 0:a=30 1:c=20 1:b=10");
}

static void next_to_nothing_has_no_line(void **state)
{
	struct path_tree tree = {0};

	add(&tree, "ab", 1000);
	add(&tree, "xy", 1);
	assert_lines(&tree, 8, "0:ab=1000");
}

static void an_empty_tree_has_no_lines(void **state)
{
	struct path_tree tree = {0};

	add(&tree, "", 7);
	assert_lines(&tree, 8, "");
}

/* Whatever is in it: no more lines than wanted, each below its caller, siblings by weight. */
static void lines_are_in_order_whatever_is_in_the_tree(void **state)
{
	struct path_line lines[PATH_TREE_LINES_MAX];

	for (unsigned int seed = 1; seed < 200; seed++) {
		struct path_tree tree = {0};
		char path[8] = "";
		size_t max = seed % PATH_TREE_LINES_MAX + 1, count;

		srand(seed);
		for (size_t i = 0; i < 200; i++) {
			size_t length = (size_t)rand() % (sizeof(path) - 1);

			for (size_t j = 0; j < length; j++)
				path[j] = (char)('a' + rand() % 3);
			path[length] = '\0';
			add(&tree, path, (uint64_t)rand() % 1000);
		}
		count = path_tree_lines(&tree, max, lines);
		assert_true(count > 0 && count <= max);
		assert_int_equal(lines[0].depth, 0);
		for (size_t i = 1; i < count; i++) {
			assert_true(lines[i].depth <= lines[i - 1].depth + 1);
			if (lines[i].depth == lines[i - 1].depth)
				assert_true(tree.nodes.items[lines[i].weighed].sum.weight <=
					    tree.nodes.items[lines[i - 1].weighed].sum.weight);
		}
		path_tree_done(&tree);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_goes_on_while_nearly_all_of_it_does),
		cmocka_unit_test(what_paths_have_in_common_is_one_line),
		cmocka_unit_test(a_beginning_with_one_heavy_path_is_part_of_it),
		cmocka_unit_test(a_beginning_of_many_light_paths_stays),
		cmocka_unit_test(heavier_paths_come_first_below_their_callers),
		cmocka_unit_test(next_to_nothing_has_no_line),
		cmocka_unit_test(an_empty_tree_has_no_lines),
		cmocka_unit_test(lines_are_in_order_whatever_is_in_the_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
