// SPDX-License-Identifier: BSD-2-Clause
/* Tests that symbols are remembered per location, with lines that stay in place. */
#include "symbol/cache.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void every_part_of_the_location_counts(void **state)
{
	struct symbol_cache *cache = symbol_cache_new();
	const struct frame_location base = {FRAME_FILE, 7, 0x1000, false};
	const struct frame_location others[] = {
		{FRAME_KERNEL, 7, 0x1000, false},
		{FRAME_FILE, 8, 0x1000, false},
		{FRAME_FILE, 7, 0x1001, false},
		{FRAME_FILE, 7, 0x1000, true},
	};
	const struct symbol symbol = {.result = SYMBOL_STRIPPED, .module_address = 0x1000};

	assert_null(symbol_cache_find(cache, &base));
	assert_non_null(symbol_cache_add(cache, &base, &symbol));
	assert_int_equal(symbol_cache_find(cache, &base)->result, SYMBOL_STRIPPED);
	for (size_t i = 0; i < 4; i++)
		assert_null(symbol_cache_find(cache, &others[i]));
	symbol_cache_free(cache);
}

static void lines_are_copied_and_never_move(void **state)
{
	struct symbol_cache *cache = symbol_cache_new();
	const struct symbol_line *kept[3000];
	struct symbol_line lines[5];

	for (uint64_t i = 0; i < 3000; i++) {
		struct frame_location location = {FRAME_KERNEL, 0, i, false};
		struct symbol symbol = {
			.result = SYMBOL_FOUND, .lines = lines, .line_count = i % 6};

		for (size_t j = 0; j < 5; j++)
			lines[j] = (struct symbol_line){.function = "f",
							.line = (uint32_t)(i * 10 + j)};
		kept[i] = symbol_cache_add(cache, &location, &symbol)->lines;
	}
	for (uint64_t i = 0; i < 3000; i++) {
		struct frame_location location = {FRAME_KERNEL, 0, i, false};
		const struct symbol *symbol = symbol_cache_find(cache, &location);

		assert_non_null(symbol);
		assert_int_equal(symbol->line_count, i % 6);
		assert_ptr_equal(symbol->lines, kept[i]);
		for (size_t j = 0; j < symbol->line_count; j++)
			assert_int_equal(symbol->lines[j].line, i * 10 + j);
	}
	symbol_cache_free(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_part_of_the_location_counts),
		cmocka_unit_test(lines_are_copied_and_never_move),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
