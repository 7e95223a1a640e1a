// SPDX-License-Identifier: BSD-2-Clause
/* Tests which symbol covers an address. */
#include "symbol/symbol_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/array.h"

struct row {
	uint64_t address, size;
	enum symbol_rank rank;
};

/* Names are row numbers. */
static struct symbol_table build(const struct row *rows, size_t count,
				 const struct symbol_range *ranges, size_t range_count)
{
	struct symbol_table table = {0};

	for (size_t i = 0; i < count; i++)
		assert_int_equal(symbol_table_add(&table, rows[i].address, rows[i].size,
						  (uint32_t)i + 1, rows[i].rank),
				 0);
	assert_int_equal(symbol_table_finish(&table, ranges, range_count), 0);
	return table;
}

/* Row number of the symbol at address; -1: none. */
static int at(const struct symbol_table *table, uint64_t address)
{
	size_t count;
	const struct symbol_entry *entry = symbol_table_find(table, address, &count);

	return entry ? (int)entry->name - 1 : -1;
}

static void sized_symbol_covers_exactly_its_bytes(void **state)
{
	const struct row rows[] = {{0x1000, 0x10, SYMBOL_RANK_EXPORTED},
				   {0x2000, 1, SYMBOL_RANK_LOCAL}};
	struct symbol_table table = build(rows, 2, NULL, 0);

	assert_int_equal(at(&table, 0), -1);
	assert_int_equal(at(&table, 0xfff), -1);
	assert_int_equal(at(&table, 0x1000), 0);
	assert_int_equal(at(&table, 0x100f), 0);
	assert_int_equal(at(&table, 0x1010), -1);
	assert_int_equal(at(&table, 0x2000), 1);
	assert_int_equal(at(&table, 0x2001), -1);
	assert_int_equal(at(&table, UINT64_MAX), -1);
	symbol_table_done(&table);
}

static void symbol_without_size_ends_at_the_next_one_or_its_section(void **state)
{
	const struct row rows[] = {{0x1000, 0, SYMBOL_RANK_LOCAL},
				   {0x1100, 0, SYMBOL_RANK_LABEL},
				   {0x5000, 0, SYMBOL_RANK_LOCAL}};
	const struct symbol_range ranges[] = {{0x1000, 0x1200}};
	struct symbol_table table = build(rows, 3, ranges, 1);

	assert_int_equal(at(&table, 0x10ff), 0);
	assert_int_equal(at(&table, 0x1100), 1);
	assert_int_equal(at(&table, 0x11ff), 1);
	assert_int_equal(at(&table, 0x1200), -1);
	assert_int_equal(at(&table, 0x5000), -1);
	symbol_table_done(&table);
}

static void label_inside_a_function_does_not_hide_it(void **state)
{
	const struct row rows[] = {{0x1000, 0x100, SYMBOL_RANK_LOCAL},
				   {0x1040, 0, SYMBOL_RANK_LABEL},
				   {0x1080, 0, SYMBOL_RANK_LABEL}};
	const struct symbol_range ranges[] = {{0x1000, 0x2000}};
	struct symbol_table table = build(rows, 3, ranges, 1);

	assert_int_equal(table.count, 1);
	assert_int_equal(at(&table, 0x1050), 0);
	assert_int_equal(at(&table, 0x10ff), 0);
	assert_int_equal(at(&table, 0x1100), -1);
	symbol_table_done(&table);
}

static void outer_function_is_found_behind_an_inner_one(void **state)
{
	const struct row rows[] = {{0x1000, 0x100, SYMBOL_RANK_LOCAL},
				   {0x1040, 0x10, SYMBOL_RANK_LOCAL}};
	struct symbol_table table = build(rows, 2, NULL, 0);

	assert_int_equal(at(&table, 0x1045), 1);
	assert_int_equal(at(&table, 0x1060), 0);
	symbol_table_done(&table);
}

static void best_rank_wins_among_aliases_and_lends_its_size(void **state)
{
	const struct row rows[] = {{0x1000, 0, SYMBOL_RANK_LABEL},
				   {0x1000, 0x20, SYMBOL_RANK_LOCAL},
				   {0x1000, 0, SYMBOL_RANK_EXPORTED},
				   {0x1000, 0x20, SYMBOL_RANK_EXPORTED}};
	struct symbol_table table = build(rows, 4, NULL, 0);
	size_t count;

	assert_non_null(symbol_table_find(&table, 0x101f, &count));
	assert_int_equal(count, 2);
	assert_int_equal(at(&table, 0x1000), 2);
	symbol_table_done(&table);
}

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static void sorts_like_qsort_over_the_whole_address_range(void **state)
{
	static uint64_t expected[5000];
	struct symbol_table table = {0};
	uint64_t value = 88172645463325252ULL;

	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		value ^= value << 13;
		value ^= value >> 7;
		value ^= value << 17;
		expected[i] = value;
		assert_int_equal(symbol_table_add(&table, value, 1, 1, SYMBOL_RANK_LOCAL), 0);
	}
	qsort(expected, ARRAY_SIZE(expected), sizeof(expected[0]), compare);
	assert_int_equal(symbol_table_sort(&table), 0);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		assert_true(table.entries[i].address == expected[i]);
	symbol_table_done(&table);
}

static void empty_table_covers_nothing(void **state)
{
	struct symbol_table table = build(NULL, 0, NULL, 0);

	assert_int_equal(at(&table, 0x1000), -1);
	symbol_table_done(&table);
}

static void huge_sizes_neither_wrap_nor_hide_others(void **state)
{
	const struct row rows[] = {{0x1000, UINT64_MAX, SYMBOL_RANK_LOCAL},
				   {UINT64_MAX - 1, UINT64_MAX, SYMBOL_RANK_LOCAL},
				   {0x2000, 4, SYMBOL_RANK_LOCAL}};
	struct symbol_table table = build(rows, 3, NULL, 0);

	assert_int_equal(at(&table, 0x2001), 2);
	assert_int_equal(at(&table, 0x3000), 0);
	assert_int_equal(at(&table, UINT64_MAX), 1);
	symbol_table_done(&table);
}

static void name_for_people_is_the_better_one(void **state)
{
	static const struct {
		const char *better, *worse;
	} pairs[] = {
		{"write", "__write"},
		{"malloc", "__libc_malloc"},
		{"_IO_puts", "__IO_puts"},
		{"read", "sys_read"},
		{"aaa", "bbb"},
		{"_ZN1a1bEv", "_b"},
		{"_RNvC1a1b", "__b"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		assert_true(symbol_name_better(pairs[i].better, pairs[i].worse));
		assert_false(symbol_name_better(pairs[i].worse, pairs[i].better));
		assert_false(symbol_name_better(pairs[i].better, pairs[i].better));
	}
}

static void symbol_is_found_behind_thousands_within_it(void **state)
{
	struct symbol_table table = {0};
	size_t count;

	assert_int_equal(symbol_table_add(&table, 0x1000, 0x40000, 1, SYMBOL_RANK_LOCAL), 0);
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(
			symbol_table_add(&table, 0x1010 + i * 8, 4, 2 + i, SYMBOL_RANK_LOCAL), 0);
	assert_int_equal(symbol_table_finish(&table, NULL, 0), 0);
	for (uint32_t i = 0; i < 5000; i++) {
		assert_int_equal(symbol_table_find(&table, 0x1010 + i * 8, &count)->name, 2 + i);
		assert_int_equal(symbol_table_find(&table, 0x1014 + i * 8, &count)->name, 1);
	}
	assert_int_equal(symbol_table_find(&table, 0x40fff, &count)->name, 1);
	assert_null(symbol_table_find(&table, 0x41000, &count));
	assert_null(symbol_table_find(&table, 0xfff, &count));
	symbol_table_done(&table);
}

/* Functions inside and beside each other at random, against looking at each. */
static void finds_what_looking_at_every_symbol_finds(void **state)
{
	enum { COUNT = 3000, SPACE = 20000 };
	unsigned int seed = 1;

	for (int round = 0; round < 20; round++) {
		struct symbol_table table = {0};

		for (unsigned int i = 0; i < COUNT; i++) {
			/* Sizes from one byte to the whole, short ones more often. */
			uint64_t size = 1 + ((unsigned int)rand_r(&seed) >> 8) % SPACE;

			symbol_table_add(&table, (unsigned int)rand_r(&seed) % SPACE,
					 size >> (unsigned int)rand_r(&seed) % 15, i,
					 SYMBOL_RANK_LOCAL);
		}
		assert_int_equal(symbol_table_finish(&table, NULL, 0), 0);
		for (uint64_t address = 0; address < SPACE; address += 3) {
			const struct symbol_entry *expected = NULL, *found;
			size_t aliases;

			for (size_t i = 0; i < table.count; i++)
				if (address - table.entries[i].address < table.entries[i].size)
					expected = &table.entries[i];
			found = symbol_table_find(&table, address, &aliases);
			assert_true(expected ? found && found->address == expected->address
					     : !found);
		}
		symbol_table_done(&table);
	}
}

static void name_may_be_anywhere_in_four_gigabytes(void **state)
{
	struct symbol_table table = {0};
	size_t count;

	assert_int_equal(symbol_table_add(&table, 0x1000, 16, UINT32_MAX, SYMBOL_RANK_LABEL), 0);
	assert_int_equal(symbol_table_finish(&table, NULL, 0), 0);
	assert_int_equal(symbol_table_find(&table, 0x1008, &count)->name, UINT32_MAX);
	symbol_table_done(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sized_symbol_covers_exactly_its_bytes),
		cmocka_unit_test(symbol_without_size_ends_at_the_next_one_or_its_section),
		cmocka_unit_test(label_inside_a_function_does_not_hide_it),
		cmocka_unit_test(outer_function_is_found_behind_an_inner_one),
		cmocka_unit_test(best_rank_wins_among_aliases_and_lends_its_size),
		cmocka_unit_test(sorts_like_qsort_over_the_whole_address_range),
		cmocka_unit_test(empty_table_covers_nothing),
		cmocka_unit_test(huge_sizes_neither_wrap_nor_hide_others),
		cmocka_unit_test(name_for_people_is_the_better_one),
		cmocka_unit_test(symbol_is_found_behind_thousands_within_it),
		cmocka_unit_test(finds_what_looking_at_every_symbol_finds),
		cmocka_unit_test(name_may_be_anywhere_in_four_gigabytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
