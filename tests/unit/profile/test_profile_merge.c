// SPDX-License-Identifier: BSD-2-Clause
// Tests that merging stacks changes no figure, and that shortening them keeps what matters.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "fake_profile.h"
#include "profile/shrink/profile_merge.h"

static const struct fake_symbol symbols[] = {
	{.space = FRAME_KERNEL,
	 .start = 0x1000,
	 .end = 0x2000,
	 .lines = {{.function = "schedule"}}},
	{.space = FRAME_KERNEL,
	 .start = 0x2000,
	 .end = 0x3000,
	 .lines = {{.function = "vfs_read"}}},
	/* One function on two lines, with and without another inlined. */
	{.space = FRAME_KERNEL,
	 .start = 0x3000,
	 .end = 0x3100,
	 .lines = {{.function = "outer", .file = "o.c", .line = 1}}},
	{.space = FRAME_KERNEL,
	 .start = 0x3100,
	 .end = 0x3200,
	 .lines = {{.function = "outer", .file = "o.c", .line = 2}}},
	{.space = FRAME_KERNEL,
	 .start = 0x3200,
	 .end = 0x3300,
	 .lines = {{.function = "inner", .inlined = true},
		   {.function = "outer", .file = "o.c", .line = 2}}},
	{.space = FRAME_ANONYMOUS,
	 .start = 0x1000,
	 .end = 0x2000,
	 .lines = {{.function = "schedule"}}},
};

static uint32_t frame_at(struct fake_profile *fake, enum frame_space space, uint64_t address)
{
	struct frame_location location = {.space = space, .address = address};

	return profile_intern_frame(fake->profile, &location);
}

/* A stack in the kernel, leaf first, up to an address of 0. */
static uint32_t stack_of(struct fake_profile *fake, const uint64_t *addresses)
{
	uint32_t frames[64];
	size_t count = 0;

	for (; addresses[count]; count++)
		frames[count] = frame_at(fake, FRAME_KERNEL, addresses[count]);
	return profile_intern_stack(fake->profile, frames, count);
}

#define STACK(fake, ...) stack_of(fake, (const uint64_t[]){__VA_ARGS__, 0})

static void add(struct fake_profile *fake, uint32_t stack, uint64_t count)
{
	struct profile_row row = {.comm = profile_intern_string(fake->profile, "comm"),
				  .stack = stack,
				  .count = count,
				  .weight = count,
				  .max = count};

	assert_int_equal(profile_add(fake->profile, &row), 0);
}

static void begin(struct fake_profile *fake)
{
	fake_profile_init(fake, NULL);
	fake->symbolizer = fake_symbols_new(symbols, ARRAY_SIZE(symbols), fake->processes);
}

static uint32_t *merge(struct fake_profile *fake)
{
	uint32_t *numbers;

	assert_true(profile_name_places(fake->profile, fake->symbolizer, UINT64_MAX));
	assert_int_equal(profile_merge_stacks(fake->profile, false, &numbers), 0);
	assert_non_null(numbers);
	return numbers;
}

static uint32_t *shorten(struct fake_profile *fake, size_t bytes)
{
	const struct profile_cut cut = {fake->symbolizer, bytes, NULL};
	uint32_t *numbers;

	assert_int_equal(profile_shorten_stacks(fake->profile, &cut, &numbers), 0);
	assert_non_null(numbers);
	return numbers;
}

static size_t row_count(const struct fake_profile *fake)
{
	size_t count;

	profile_rows(fake->profile, &count);
	return count;
}

static void stacks_that_read_the_same_become_one(void **state)
{
	struct fake_profile fake;
	const struct profile_row *rows;
	uint32_t *numbers, first, second, other;
	size_t count;

	begin(&fake);
	first = STACK(&fake, 0x1010, 0x2010);
	second = STACK(&fake, 0x1020, 0x2010);
	other = STACK(&fake, 0x2010, 0x1010);
	add(&fake, first, 3);
	add(&fake, other, 10);
	add(&fake, second, 4);
	numbers = merge(&fake);
	assert_int_equal(numbers[first], numbers[second]);
	assert_int_not_equal(numbers[first], numbers[other]);
	rows = profile_rows(fake.profile, &count);
	assert_int_equal(count, 2);
	assert_int_equal(rows[0].stack, numbers[first]);
	assert_int_equal(rows[0].count, 7);
	assert_int_equal(rows[0].weight, 7);
	assert_int_equal(rows[0].max, 4);
	assert_int_equal(rows[1].count, 10);
	assert_int_equal(profile_account(fake.profile).recorded, 17);
	/* What comes later meets the same stacks, at addresses known and new. */
	assert_int_equal(STACK(&fake, 0x1020, 0x2010), numbers[first]);
	assert_int_not_equal(STACK(&fake, 0x1030, 0x2010), numbers[first]);
	free(numbers);
	add(&fake, STACK(&fake, 0x1030, 0x2010), 1);
	free(merge(&fake));
	assert_int_equal(row_count(&fake), 2);
	fake_profile_done(&fake);
}

static void wakers_and_slow_requests_keep_their_stacks(void **state)
{
	struct fake_profile fake;
	struct profile_row row = {.kind = PKBPF_PROFILE_OFFCPU, .count = 1, .weight = 5};
	struct slow_io slow = {.queue_ns = 1};
	const struct slow_io **slowest;
	const struct profile_row *rows;
	size_t count;
	uint32_t *numbers, waker, stack;

	begin(&fake);
	slow_io_list_limit(profile_slow_io(fake.profile), 1);
	STACK(&fake, 0x1010, 0x1020);
	row.stack = STACK(&fake, 0x1030, 0x1040);
	stack = row.stack;
	waker = STACK(&fake, 0x2010, 0x1040);
	row.waker = 1 + waker;
	assert_int_equal(profile_add(fake.profile, &row), 0);
	row.waker = 1 + STACK(&fake, 0x2020, 0x1010);
	assert_int_equal(profile_add(fake.profile, &row), 0);
	slow.stack = waker;
	assert_int_equal(slow_io_list_add(profile_slow_io(fake.profile), &slow), 0);
	numbers = merge(&fake);
	assert_int_not_equal(numbers[stack], stack);
	rows = profile_rows(fake.profile, &count);
	assert_int_equal(count, 1);
	assert_int_equal(rows[0].stack, numbers[stack]);
	assert_int_equal(rows[0].waker, 1 + numbers[waker]);
	assert_int_equal(rows[0].weight, 10);
	assert_int_equal(slow_io_list_sorted(profile_slow_io(fake.profile), &slowest, &count), 0);
	assert_int_equal(slowest[0]->stack, numbers[waker]);
	free(slowest);
	free(numbers);
	fake_profile_done(&fake);
}

static void what_reads_differently_stays_apart(void **state)
{
	struct fake_profile fake;
	uint32_t jit;

	begin(&fake);
	jit = frame_at(&fake, FRAME_ANONYMOUS, 0x1010);
	add(&fake, profile_intern_stack(fake.profile, &jit, 1), 1);
	add(&fake, STACK(&fake, 0x1010), 1);
	add(&fake, STACK(&fake, 0x9010), 1); /* no names */
	add(&fake, STACK(&fake, 0x9020), 1);
	add(&fake, STACK(&fake, 0x3010), 1); /* line 1 */
	add(&fake, STACK(&fake, 0x3110), 1); /* line 2 */
	add(&fake, STACK(&fake, 0x3120), 1);
	add(&fake, STACK(&fake, 0x3210), 1); /* inlined */
	free(merge(&fake));
	assert_int_equal(row_count(&fake), 7);
	/* Generated code gets its name at the end. */
	assert_false(profile_frame(fake.profile, jit)->named);
	profile_symbolize(fake.profile, fake.symbolizer);
	assert_true(profile_frame(fake.profile, jit)->named);
	fake_profile_done(&fake);
}

/* A program that is built again and again, stripped: it need not be known which of them it was. */
static void nameless_places_of_files_of_one_name_become_one(void **state)
{
	struct mapping_view view = {.pid = 1,
				    .start = 0x1000,
				    .end = 0x2000,
				    .inode = 7,
				    .protection = 5,
				    .path = "/build/conftest"};
	struct frame_location location = {.space = FRAME_FILE};
	struct mapped_file *file;
	struct fake_profile fake;
	uint32_t frame, *numbers;

	begin(&fake);
	for (view.inode_generation = 1; view.inode_generation <= 3; view.inode_generation++) {
		assert_int_equal(mapped_file_table_add(fake.files, &view, &file), 0);
		location.object = file->id;
		for (location.address = 0x100; location.address <= 0x200;
		     location.address += 0x100) {
			frame = profile_intern_frame(fake.profile, &location);
			add(&fake, profile_intern_stack(fake.profile, &frame, 1), 1);
		}
	}
	view.path = "/build/other";
	assert_int_equal(mapped_file_table_add(fake.files, &view, &file), 0);
	location.object = file->id;
	frame = profile_intern_frame(fake.profile, &location);
	add(&fake, profile_intern_stack(fake.profile, &frame, 1), 1);
	assert_int_equal(row_count(&fake), 7);
	free(merge(&fake));
	assert_int_equal(row_count(&fake), 3);
	/* Nothing is left of the others, whose files may be forgotten. */
	assert_int_equal(profile_frame_count(fake.profile), 7);
	assert_int_equal(profile_merge_stacks(fake.profile, true, &numbers), 0);
	free(numbers);
	assert_int_equal(profile_frame_count(fake.profile), 3);
	assert_int_equal(row_count(&fake), 3);
	assert_int_equal(profile_account(fake.profile).recorded, 7);
	fake_profile_done(&fake);
}

/* Numbers that are the same in every run. */
static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

#define MANY 20000

/* Stacks of 20 frames, one of them with half of the weight, the others with a count of 1. */
static void add_many(struct fake_profile *fake, uint32_t *seed, size_t count)
{
	uint64_t addresses[21] = {0};

	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < 20; j++)
			addresses[j] = 0x1000 + next(seed) % (j < 17 ? 0x2300 : 0x4);
		add(fake, stack_of(fake, addresses), 1);
	}
}

static int compare_lines(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Folded text with its lines in order. */
static char *sorted_folded(const struct fake_profile *fake)
{
	char *text = fake_profile_write(fake, "folded", NULL),
	     *sorted = calloc(1, strlen(text) + 2), *at = sorted, *save;
	char **lines = calloc(strlen(text) + 1, sizeof(*lines));
	size_t count = 0;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		lines[count++] = line;
	qsort(lines, count, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < count; i++)
		at += sprintf(at, "%s\n", lines[i]);
	free(lines);
	free(text);
	return sorted;
}

static void merging_now_and_then_changes_no_line_of_the_output(void **state)
{
	struct fake_profile never, often;
	uint32_t seed = 1, same_seed = 1;
	char *expected, *got;

	begin(&never);
	begin(&often);
	for (int i = 0; i < 10; i++) {
		add_many(&never, &seed, 300);
		add_many(&often, &same_seed, 300);
		free(merge(&often));
	}
	profile_symbolize(never.profile, never.symbolizer);
	profile_symbolize(often.profile, often.symbolizer);
	expected = sorted_folded(&never);
	got = sorted_folded(&often);
	assert_true(strlen(expected) > 10000);
	assert_string_equal(got, expected);
	free(expected);
	free(got);
	fake_profile_done(&never);
	fake_profile_done(&often);
}

static bool is_marked(const struct fake_profile *fake, uint32_t stack)
{
	size_t depth;
	const uint32_t *frames = profile_stack(fake->profile, stack, &depth);
	const struct frame *leaf = depth ? profile_frame(fake->profile, frames[0]) : NULL;

	return leaf && leaf->named && leaf->symbol.line_count &&
	       !strcmp(leaf->symbol.lines[0].function,
		       "[truncated: rare, shortened to save memory]");
}

static void only_rare_stacks_are_shortened(void **state)
{
	struct fake_profile fake;
	uint32_t heavy, *numbers, seed = 7;
	uint64_t events = 0, marked = 0;
	const struct profile_row *rows;
	size_t count, before;

	begin(&fake);
	heavy = STACK(&fake, 0x1010, 0x2010, 0x1010, 0x2010, 0x3010, 0x3210);
	add(&fake, heavy, MANY);
	add_many(&fake, &seed, MANY);
	before = profile_stack_bytes(fake.profile);
	for (int i = 0; i < 4 && profile_stack_bytes(fake.profile) > before / 2; i++) {
		numbers = i ? shorten(&fake, profile_stack_bytes(fake.profile) - before / 2)
			    : merge(&fake);
		heavy = numbers[heavy];
		free(numbers);
	}
	assert_in_range(profile_stack_bytes(fake.profile), before / 4, before / 2);
	profile_symbolize(fake.profile, fake.symbolizer);
	profile_stack(fake.profile, heavy, &count);
	assert_int_equal(count, 6);
	rows = profile_rows(fake.profile, &count);
	for (size_t i = 0; i < count; i++) {
		size_t depth;
		const uint32_t *frames = profile_stack(fake.profile, rows[i].stack, &depth);

		/* The leaf's side is gone and says so, the root is where it was; or all is
		 * there. */
		assert_in_range(depth, 3, 20);
		assert_int_equal(is_marked(&fake, rows[i].stack),
				 depth < 20 && rows[i].stack != heavy);
		events += rows[i].count;
		if (!is_marked(&fake, rows[i].stack))
			continue;
		marked += rows[i].count;
		assert_string_equal(
			profile_frame(fake.profile, frames[depth - 1])->symbol.lines[0].function,
			"schedule");
	}
	assert_int_equal(events, 2 * MANY);
	assert_int_equal(profile_account(fake.profile).recorded, 2 * MANY);
	assert_in_range(marked, MANY / 3, MANY);
	assert_int_equal(profile_cut_events(fake.profile, PKBPF_END_SHORTENED), marked);
	fake_profile_done(&fake);
}

static void shortening_saves_what_was_asked_for_and_little_more(void **state)
{
	struct fake_profile fake;
	uint32_t seed = 7;
	size_t before, after, asked;

	begin(&fake);
	add_many(&fake, &seed, MANY);
	free(merge(&fake));
	for (int i = 0; i < 3; i++) {
		before = profile_stack_bytes(fake.profile);
		asked = before / 4;
		free(shorten(&fake, asked));
		after = profile_stack_bytes(fake.profile);
		assert_in_range(after, before - asked - asked / 4, before - asked + asked / 4);
	}
	fake_profile_done(&fake);
}

static void stacks_whose_weight_is_still_to_come_are_shortened_last(void **state)
{
	struct profile_cut cut;
	struct fake_profile fake;
	uint32_t open, gone, *numbers, seed = 7;
	bool *awaited;
	size_t count;

	begin(&fake);
	add_many(&fake, &seed, MANY);
	/* Nothing has come for either, but it may for one. */
	open = STACK(&fake, 0x1010, 0x2010, 0x1010, 0x2010, 0x3010, 0x3210);
	gone = STACK(&fake, 0x1010, 0x2010, 0x1010, 0x1010, 0x3010, 0x3210);
	awaited = calloc(profile_stack_count(fake.profile), sizeof(*awaited));
	awaited[open] = true;
	cut = (struct profile_cut){fake.symbolizer, profile_stack_bytes(fake.profile) / 16,
				   awaited};
	assert_int_equal(profile_shorten_stacks(fake.profile, &cut, &numbers), 0);
	profile_stack(fake.profile, numbers[open], &count);
	assert_int_equal(count, 6);
	profile_stack(fake.profile, numbers[gone], &count);
	assert_int_equal(count, 4);
	free(numbers);
	free(awaited);
	awaited = calloc(profile_stack_count(fake.profile), sizeof(*awaited));
	memset(awaited, true, profile_stack_count(fake.profile));
	cut = (struct profile_cut){fake.symbolizer, SIZE_MAX, awaited};
	assert_int_equal(profile_shorten_stacks(fake.profile, &cut, &numbers), 0);
	assert_int_equal(profile_cut_events(fake.profile, PKBPF_END_SHORTENED), MANY);
	free(numbers);
	free(awaited);
	fake_profile_done(&fake);
}

/* The heaviest stays as it is. */
static void rare_stacks_become_one_and_all_sums_stay(void **state)
{
	struct fake_profile fake;
	const struct profile_row *rows;
	uint32_t seed = 7, heavy, *numbers;
	uint64_t sum = 0;
	size_t count, depth, others = 0;
	struct profile_cut cut;

	begin(&fake);
	heavy = STACK(&fake, 0x1010, 0x2010, 0x3010, 0x3210);
	add(&fake, heavy, 1000000);
	add_many(&fake, &seed, MANY);
	cut = (struct profile_cut){fake.symbolizer, profile_stack_bytes(fake.profile) / 2, NULL};
	assert_int_equal(profile_join_stacks(fake.profile, &cut, &numbers), 0);
	profile_stack(fake.profile, numbers[heavy], &depth);
	assert_int_equal(depth, 4);
	rows = profile_rows(fake.profile, &count);
	for (size_t i = 0; i < count; i++) {
		const uint32_t *frames = profile_stack(fake.profile, rows[i].stack, &depth);
		const struct frame *leaf = profile_frame(fake.profile, frames[0]);

		sum += rows[i].count;
		if (leaf->location.space != FRAME_TRUNCATED)
			continue;
		others++;
		assert_int_equal(depth, 1);
		assert_string_equal(leaf->symbol.lines[0].function,
				    "[other stacks: limit of memory]");
		assert_int_equal(rows[i].count, profile_cut_events(fake.profile, PKBPF_END_OTHERS));
	}
	assert_int_equal(others, 1);
	assert_int_equal(sum, 1000000 + MANY);
	assert_in_range(profile_cut_events(fake.profile, PKBPF_END_OTHERS), MANY / 4, MANY);
	free(numbers);
	/* Again, and nothing is left but the others. */
	cut.bytes = SIZE_MAX;
	assert_int_equal(profile_join_stacks(fake.profile, &cut, &numbers), 0);
	assert_int_equal(row_count(&fake), 1);
	free(numbers);
	fake_profile_done(&fake);
}

static void nothing_to_do_is_no_error(void **state)
{
	struct fake_profile fake;

	begin(&fake);
	free(merge(&fake));
	free(shorten(&fake, 1000));
	add(&fake, profile_intern_stack(fake.profile, NULL, 0), 1);
	free(merge(&fake));
	free(shorten(&fake, 1000));
	assert_int_equal(row_count(&fake), 1);
	assert_int_equal(profile_cut_events(fake.profile, PKBPF_END_SHORTENED), 0);
	fake_profile_done(&fake);
}

static void short_stacks_are_shortened_when_there_are_no_others(void **state)
{
	struct fake_profile fake;
	const struct profile_row *rows;
	size_t count, depth;

	begin(&fake);
	add(&fake, STACK(&fake, 0x1010, 0x2010, 0x1010, 0x2010, 0x1010), 100);
	add(&fake, STACK(&fake, 0x1010, 0x2010), 1);
	add(&fake, STACK(&fake, 0x2010), 1);
	free(shorten(&fake, 1));
	assert_int_equal(profile_cut_events(fake.profile, PKBPF_END_SHORTENED), 100);
	/* As short as can be: nothing but the reason, which becomes no shorter. */
	for (int i = 0; i < 4; i++)
		free(shorten(&fake, 1000000));
	rows = profile_rows(fake.profile, &count);
	assert_int_equal(count, 1);
	assert_int_equal(rows->count, 102);
	profile_stack(fake.profile, rows->stack, &depth);
	assert_int_equal(depth, 1);
	assert_int_equal(profile_cut_events(fake.profile, PKBPF_END_SHORTENED), 102);
	fake_profile_done(&fake);
}

/* Frames that no stack has any more are forgotten where they are many; what stays keeps its name,
 * and what comes again gets it. */
static void frames_of_no_stack_are_left_out(void **state)
{
	struct fake_profile fake;
	uint32_t kept, *numbers;
	const uint32_t *frames;
	size_t depth;

	begin(&fake);
	kept = STACK(&fake, 0x1010, 0x2010, 0x3210);
	add(&fake, kept, 1);
	for (uint64_t i = 0; i < MANY; i++)
		add(&fake, STACK(&fake, 0x1000 + i % 0x1000, 0x2010), 1);
	assert_in_range(profile_frame_count(fake.profile), 0x1000, 0x1000 + 10);
	numbers = merge(&fake);
	assert_in_range(profile_frame_count(fake.profile), 3, 10);
	frames = profile_stack(fake.profile, numbers[kept], &depth);
	assert_int_equal(depth, 3);
	assert_string_equal(profile_frame(fake.profile, frames[0])->symbol.lines[0].function,
			    "schedule");
	assert_string_equal(profile_frame(fake.profile, frames[1])->symbol.lines[0].function,
			    "vfs_read");
	assert_string_equal(profile_frame(fake.profile, frames[2])->symbol.lines[0].function,
			    "inner");
	/* One kept, one forgotten: both are the same function again. */
	add(&fake, STACK(&fake, 0x1010, 0x2010, 0x3210), 1);
	add(&fake, STACK(&fake, 0x1ff0, 0x2010, 0x3210), 1);
	free(numbers);
	free(merge(&fake));
	assert_int_equal(row_count(&fake), 2);
	assert_int_equal(profile_account(fake.profile).recorded, MANY + 3);
	fake_profile_done(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_that_read_the_same_become_one),
		cmocka_unit_test(wakers_and_slow_requests_keep_their_stacks),
		cmocka_unit_test(what_reads_differently_stays_apart),
		cmocka_unit_test(nameless_places_of_files_of_one_name_become_one),
		cmocka_unit_test(merging_now_and_then_changes_no_line_of_the_output),
		cmocka_unit_test(only_rare_stacks_are_shortened),
		cmocka_unit_test(short_stacks_are_shortened_when_there_are_no_others),
		cmocka_unit_test(frames_of_no_stack_are_left_out),
		cmocka_unit_test(shortening_saves_what_was_asked_for_and_little_more),
		cmocka_unit_test(stacks_whose_weight_is_still_to_come_are_shortened_last),
		cmocka_unit_test(rare_stacks_become_one_and_all_sums_stay),
		cmocka_unit_test(nothing_to_do_is_no_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
