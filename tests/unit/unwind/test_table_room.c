// SPDX-License-Identifier: BSD-2-Clause
/* What files that nobody maps any more have to give back: numbers and rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "cfi_bytes.h"
#include "code_file.h"
#include "elf_recipe.h"
#include "plain_memory.h"
#include "process/file/mapped_file.h"
#include "unwind/table/table_cache.h"

#define WAIT_NS (30 * NS_PER_SECOND)
#define TEXT	ELF_RECIPE_TEXT_ADDRESS
#define PAGE	4096U
#define SLOTS	16U
/* With as many rules each they leave fewer than a quarter of all. */
#define GREEDY_FILES 24U
#define GREEDY_ROWS  4090U
#define PAGES	     1024U
/* Of one page each, they take all the room that there is in FEW_PAGES. */
#define FEW_PAGES  64U
#define MORE_FILES 24U

struct fixture {
	struct plain_memory plain;
	struct mapped_file_table *files;
	struct table_cache *cache;
	struct code_file code[FEW_PAGES + MORE_FILES];
	uint32_t numbers[FEW_PAGES + MORE_FILES];
};

/* A function with a frame of another size at each of its bytes, from `first` on. */
static void describe(struct cfi_bytes *bytes, uint32_t first, uint32_t rows)
{
	uint8_t *program = malloc(rows * 5), *at = program;

	assert_non_null(program);
	for (uint32_t row = 0; row < rows; row++) {
		uint32_t size = (first + row) * 8;

		*at++ = 0x41; /* DW_CFA_advance_loc 1 */
		*at++ = 0x0e; /* DW_CFA_def_cfa_offset */
		for (; size >= 0x80; size >>= 7)
			*at++ = (uint8_t)(size | 0x80);
		*at++ = (uint8_t)size;
	}
	cfi_bytes_fde(bytes, TEXT, rows + 1, program, (size_t)(at - program));
	free(program);
}

static void write_file(struct code_file *code, uint32_t first, uint32_t rows)
{
	uint32_t text_size = (rows / PAGE + 1) * PAGE;
	struct elf_recipe recipe = {.text_size = text_size};
	struct cfi_bytes bytes = {0};
	uint8_t *file;
	size_t size;

	cfi_bytes_cie(&bytes, "zR");
	describe(&bytes, first, rows);
	recipe.eh_frame = bytes.data;
	recipe.eh_frame_size = bytes.size;
	file = elf_recipe_make(&recipe, &size);
	assert_non_null(file);
	assert_true(code_file_write(code, file, size, text_size));
	free(file);
	cfi_bytes_done(&bytes);
}

static void begin(struct fixture *fixture, bool on_demand, uint32_t slots, uint32_t pages)
{
	struct table_cache_options options = {
		.max_chunks = 4, .initial_chunks = 1, .on_demand = on_demand};

	*fixture = (struct fixture){0};
	plain_memory_init(&fixture->plain, pages, slots);
	options.files = fixture->files = mapped_file_table_new("");
	assert_non_null(fixture->files);
	fixture->cache = table_cache_new(&fixture->plain.memory, &options);
	assert_non_null(fixture->cache);
}

static void add(struct fixture *fixture, uint32_t index, uint32_t first, uint32_t rows)
{
	write_file(&fixture->code[index], first, rows);
	fixture->numbers[index] = table_cache_add(fixture->cache, &fixture->code[index].mapping);
	assert_int_not_equal(fixture->numbers[index], MAPPING_NO_FILE);
}

static void end(struct fixture *fixture)
{
	for (size_t i = 0; i < sizeof(fixture->code) / sizeof(*fixture->code); i++)
		code_file_remove(&fixture->code[i]);
	table_cache_free(fixture->cache);
	mapped_file_table_free(fixture->files);
	plain_memory_done(&fixture->plain);
}

static void age_tables(struct fixture *fixture)
{
	for (uint32_t i = 0; i < fixture->plain.memory.file_count; i++)
		fixture->plain.memory.files[i].last_used -= 100;
}

/* As a sample that misses it does, again and again. */
static void want(struct fixture *fixture, uint32_t number)
{
	uint64_t until_ns = clock_now_ns() + WAIT_NS;

	while (!table_cache_ready(fixture->cache, number) && clock_now_ns() < until_ns) {
		table_cache_want(fixture->cache, number);
		usleep(10000);
	}
	assert_true(table_cache_ready(fixture->cache, number));
}

static void a_number_is_free_again_though_no_table_is_built(void **state)
{
	struct pkbpf_unwind_mapping mapping;
	struct fixture fixture;

	begin(&fixture, true, SLOTS, PAGES);
	for (uint32_t i = 0; i < SLOTS; i++) {
		add(&fixture, i, 1, 10);
		table_cache_reference(fixture.cache, fixture.numbers[i]);
	}
	/* One more than there are numbers, and all others are open only. */
	add(&fixture, SLOTS, 1, 10);
	table_cache_describe(fixture.cache, fixture.numbers[SLOTS], CODE_FILE_MAP_START, 0,
			     ELF_RECIPE_TEXT_OFFSET, &mapping);
	assert_int_equal(mapping.flags, PKBPF_MAPPING_PENDING);
	for (uint32_t i = 0; i < SLOTS; i++)
		table_cache_release(fixture.cache, fixture.numbers[i]);
	age_tables(&fixture);
	want(&fixture, fixture.numbers[SLOTS]);
	table_cache_describe(fixture.cache, fixture.numbers[SLOTS], CODE_FILE_MAP_START, 0,
			     ELF_RECIPE_TEXT_OFFSET, &mapping);
	assert_int_equal(mapping.flags, 0);
	end(&fixture);
}

/* Whoever has it added refers to it a little later. */
static void a_number_is_not_given_back_as_soon_as_it_is_taken(void **state)
{
	struct pkbpf_unwind_mapping mapping;
	struct fixture fixture;

	begin(&fixture, true, SLOTS, PAGES);
	for (uint32_t i = 0; i <= SLOTS; i++)
		add(&fixture, i, 1, 10);
	usleep(100000);
	for (uint32_t i = 0; i < SLOTS; i++) {
		table_cache_describe(fixture.cache, fixture.numbers[i], CODE_FILE_MAP_START, 0,
				     ELF_RECIPE_TEXT_OFFSET, &mapping);
		assert_int_equal(mapping.flags, 0);
	}
	end(&fixture);
}

static void a_number_of_a_mapped_file_is_kept(void **state)
{
	struct pkbpf_unwind_mapping mapping;
	struct fixture fixture;

	begin(&fixture, true, SLOTS, PAGES);
	for (uint32_t i = 0; i < SLOTS; i++) {
		add(&fixture, i, 1, 10);
		table_cache_reference(fixture.cache, fixture.numbers[i]);
	}
	add(&fixture, SLOTS, 1, 10);
	age_tables(&fixture);
	for (int i = 0; i < 20; i++) {
		table_cache_want(fixture.cache, fixture.numbers[SLOTS]);
		usleep(100000);
	}
	assert_false(table_cache_ready(fixture.cache, fixture.numbers[SLOTS]));
	for (uint32_t i = 0; i < SLOTS; i++) {
		table_cache_describe(fixture.cache, fixture.numbers[i], CODE_FILE_MAP_START, 0,
				     ELF_RECIPE_TEXT_OFFSET, &mapping);
		assert_int_equal(mapping.flags, 0);
	}
	/* It gets the first that is given back. */
	table_cache_release(fixture.cache, fixture.numbers[3]);
	want(&fixture, fixture.numbers[SLOTS]);
	end(&fixture);
}

/* At the end of the function's first `rows` bytes the frame has the size that they lead to. */
static int32_t frame_at(struct fixture *fixture, uint32_t index, uint32_t row)
{
	struct pkbpf_unwind_rule rule;

	assert_true(table_cache_find_rule(fixture->cache, fixture->numbers[index], TEXT + row + 1,
					  &rule));
	return rule.cfa == PKBPF_CFA_SP ? rule.cfa_offset : -1;
}

static void files_with_all_the_rules_that_they_may_have_leave_some_to_others(void **state)
{
	struct fixture fixture;

	begin(&fixture, false, 64, PAGES);
	for (uint32_t i = 0; i < GREEDY_FILES; i++) {
		add(&fixture, i, 1 + i * GREEDY_ROWS, GREEDY_ROWS);
		table_cache_reference(fixture.cache, fixture.numbers[i]);
	}
	assert_true(table_cache_wait(fixture.cache, WAIT_NS));
	add(&fixture, GREEDY_FILES, 1 + GREEDY_FILES * GREEDY_ROWS, 500);
	assert_true(table_cache_wait(fixture.cache, WAIT_NS));
	for (uint32_t row = 0; row < 500; row++)
		assert_int_equal(frame_at(&fixture, GREEDY_FILES, row),
				 (1 + GREEDY_FILES * GREEDY_ROWS + row) * 8);
	end(&fixture);
}

static void rules_of_files_that_nobody_maps_are_free_again(void **state)
{
	struct fixture fixture;

	begin(&fixture, false, 64, PAGES);
	for (uint32_t i = 0; i < GREEDY_FILES; i++)
		add(&fixture, i, 1 + i * GREEDY_ROWS, GREEDY_ROWS);
	assert_true(table_cache_wait(fixture.cache, WAIT_NS));
	/* One of them is still mapped, and had all its rules. */
	assert_int_equal(frame_at(&fixture, 0, GREEDY_ROWS - 1), GREEDY_ROWS * 8);
	table_cache_reference(fixture.cache, fixture.numbers[0]);
	age_tables(&fixture);
	add(&fixture, GREEDY_FILES, 1 + GREEDY_FILES * GREEDY_ROWS, 3000);
	assert_true(table_cache_wait(fixture.cache, WAIT_NS));
	for (uint32_t row = 0; row < 3000; row++)
		assert_int_equal(frame_at(&fixture, GREEDY_FILES, row),
				 (1 + GREEDY_FILES * GREEDY_ROWS + row) * 8);
	for (uint32_t row = 0; row < GREEDY_ROWS; row++)
		assert_int_equal(frame_at(&fixture, 0, row), (1 + row) * 8);
	/* Wanted again, one of the others is built with the numbers that are left. */
	want(&fixture, fixture.numbers[5]);
	for (uint32_t row = 0; row < 2000; row++)
		assert_int_equal(frame_at(&fixture, 5, row), (1 + 5 * GREEDY_ROWS + row) * 8);
	end(&fixture);
}

/* Each wait takes the kernel milliseconds, and so many tables may be built in one. */
static void room_is_made_for_several_tables_at_once(void **state)
{
	struct fixture fixture;
	uint32_t waits;

	begin(&fixture, false, 2 * FEW_PAGES, FEW_PAGES);
	for (uint32_t i = 0; i < FEW_PAGES; i++)
		add(&fixture, i, 1, 10);
	assert_true(table_cache_wait(fixture.cache, WAIT_NS));
	assert_true(table_cache_ready(fixture.cache, fixture.numbers[FEW_PAGES - 1]));
	age_tables(&fixture);
	waits = fixture.plain.waits;
	for (uint32_t i = 0; i < MORE_FILES; i++)
		add(&fixture, FEW_PAGES + i, 1, 10);
	assert_true(table_cache_wait(fixture.cache, WAIT_NS));
	for (uint32_t i = 0; i < MORE_FILES; i++)
		assert_true(table_cache_ready(fixture.cache, fixture.numbers[FEW_PAGES + i]));
	assert_in_range(fixture.plain.waits - waits, 1, MORE_FILES / 3);
	end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_is_free_again_though_no_table_is_built),
		cmocka_unit_test(a_number_is_not_given_back_as_soon_as_it_is_taken),
		cmocka_unit_test(a_number_of_a_mapped_file_is_kept),
		cmocka_unit_test(files_with_all_the_rules_that_they_may_have_leave_some_to_others),
		cmocka_unit_test(rules_of_files_that_nobody_maps_are_free_again),
		cmocka_unit_test(room_is_made_for_several_tables_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
