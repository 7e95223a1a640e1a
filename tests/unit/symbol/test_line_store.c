// SPDX-License-Identifier: BSD-2-Clause
/* Tests that lines are kept once and stay in place. */
#include "symbol/dwarf/line_store.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void every_part_of_a_line_counts(void **state)
{
	static const char name[] = "f", same_text[] = "f", file[] = "f.c";
	const struct symbol_line lists[][2] = {
		{{.function = name}},
		{{.function = same_text}},
		{{.function = name, .file = file}},
		{{.function = name, .line = 1}},
		{{.function = name, .inlined = true}},
		{{.function = name}, {.function = name}},
	};
	const size_t counts[] = {1, 1, 1, 1, 1, 2};
	const struct symbol_line *kept[6];
	struct line_store *store = line_store_new();

	for (size_t i = 0; i < 6; i++)
		kept[i] = line_store_add(store, lists[i], counts[i]);
	for (size_t i = 0; i < 6; i++) {
		assert_ptr_equal(line_store_add(store, lists[i], counts[i]), kept[i]);
		for (size_t j = 0; j < i; j++)
			assert_ptr_not_equal(kept[i], kept[j]);
	}
	line_store_free(store);
}

static void lines_are_copied_and_never_move(void **state)
{
	struct line_store *store = line_store_new();
	const struct symbol_line *kept[3000];
	struct symbol_line lines[5];

	for (uint32_t i = 0; i < 3000; i++) {
		for (uint32_t j = 0; j < 5; j++)
			lines[j] = (struct symbol_line){.function = "f", .line = i * 10 + j};
		kept[i] = line_store_add(store, lines, 1 + i % 5);
	}
	for (uint32_t i = 0; i < 3000; i++)
		for (uint32_t j = 0; j < 1 + i % 5; j++)
			assert_int_equal(kept[i][j].line, i * 10 + j);
	line_store_free(store);
}

static void lists_longer_than_a_block_are_kept(void **state)
{
	static struct symbol_line lines[5000];
	struct line_store *store = line_store_new();
	const struct symbol_line *kept;

	for (uint32_t i = 0; i < 5000; i++)
		lines[i].line = i;
	kept = line_store_add(store, lines, 5000);
	assert_int_equal(kept[4999].line, 4999);
	assert_ptr_equal(line_store_add(store, lines, 5000), kept);
	line_store_free(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_part_of_a_line_counts),
		cmocka_unit_test(lines_are_copied_and_never_move),
		cmocka_unit_test(lists_longer_than_a_block_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
