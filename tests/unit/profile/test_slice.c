// SPDX-License-Identifier: BSD-2-Clause
/* Tests that a stream cut anywhere and merged again says what it says without a cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "profile/slice/slice.h"
#include "slice_stream.h"
#include "trials.h"

#define MAX_CUTS 8

static int compare_lines(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

/* What is equal in all that tables are sorted by has no order. */
static size_t sort_lines(char *text, char **lines)
{
	size_t count = 0;

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		lines[count++] = line;
	qsort(lines, count, sizeof(*lines), compare_lines);
	return count;
}

/* Points to the first line that differs. */
static void assert_same_text(const char *expected, const char *text, uint64_t seed)
{
	char *left = strdup(expected), *right = strdup(text);
	char **left_lines = calloc(strlen(left) + 1, sizeof(*left_lines)),
	     **right_lines = calloc(strlen(right) + 1, sizeof(*right_lines));
	size_t left_count = sort_lines(left, left_lines),
	       right_count = sort_lines(right, right_lines);

	for (size_t i = 0; i < left_count && i < right_count; i++) {
		if (strcmp(left_lines[i], right_lines[i]) != 0)
			fail_msg("seed %llu:\n%s\n---- instead of\n%s", (unsigned long long)seed,
				 right_lines[i], left_lines[i]);
	}
	assert_int_equal(left_count, right_count);
	free(left_lines);
	free(right_lines);
	free(left);
	free(right);
}

static char *text_of(const struct slice_stream *stream, struct slice_plan *plan)
{
	struct profile *profile = slice_stream_play(stream, plan);
	char *text = slice_stream_write(profile);

	profile_free(profile);
	return text;
}

static int compare_times(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static size_t random_cuts(uint64_t *state, const struct slice_stream *stream, uint64_t *cuts)
{
	size_t count = 1 + slice_stream_random(state, MAX_CUTS);

	for (size_t i = 0; i < count; i++)
		cuts[i] = SLICE_STREAM_START_NS + 1 +
			  slice_stream_random(state, stream->end_ns - SLICE_STREAM_START_NS);
	qsort(cuts, count, sizeof(*cuts), compare_times);
	return count;
}

/* PKBPF_TEST_ROUNDS: so many times as many, for long tests. */
static void cut_at_random(size_t rounds, bool reads_at_cuts, bool in_pairs)
{
	const char *times = getenv("PKBPF_TEST_ROUNDS");
	uint64_t state = 4711, cuts[MAX_CUTS];

	rounds *= times ? strtoul(times, NULL, 10) : 1;
	for (uint64_t seed = 1; seed <= trials(rounds / 10); seed++) {
		struct slice_stream stream;
		struct slice_plan plan = {0};
		char *expected;

		slice_stream_init(&stream, seed, 200);
		expected = text_of(&stream, &plan);
		for (int i = 0; i < 10; i++) {
			char *text;

			plan = (struct slice_plan){.cuts = cuts,
						   .cut_count = random_cuts(&state, &stream, cuts),
						   .reads_at_cuts = reads_at_cuts,
						   /* All in one generation, or many. */
						   .max_names_bytes = i % 2 ? 1 : 0,
						   .in_pairs = in_pairs};
			text = text_of(&stream, &plan);
			assert_int_equal(plan.slice_count, plan.cut_count + 1);
			assert_same_text(expected, text, seed);
			free(text);
		}
		free(expected);
		slice_stream_done(&stream);
	}
}

static void slices_cut_at_random_merge_to_the_whole(void **state)
{
	cut_at_random(60, false, false);
}

static void so_do_those_whose_account_is_read_at_cuts(void **state)
{
	cut_at_random(100, true, false);
}

static void merging_is_associative(void **state)
{
	cut_at_random(40, true, true);
}

struct listing {
	FILE *out;
	uint64_t strangers; /* single events that ended outside the slice that has them */
};

static void list_event(const struct profile *slice, const struct moment *moment, FILE *out)
{
	const struct process *process =
		process_table_by_id(profile_processes(slice), moment->process);
	size_t count;
	const uint32_t *stack = profile_stack(slice, moment->stack, &count);

	fprintf(out, "%d %llu+%llu+%llu %u/%u %s %u %u %u", moment->kind,
		(unsigned long long)moment->begin_ns, (unsigned long long)moment->length_ns,
		(unsigned long long)moment->queue_ns, process ? process->pid : 0, moment->tid,
		profile_string(slice, moment->comm), moment->place, moment->weight, moment->state);
	for (size_t i = 0; i < count; i++)
		fprintf(out, " %llx",
			(unsigned long long)profile_frame(slice, stack[i])->location.address);
	fputc('\n', out);
}

static void list_events(void *context, const struct profile *slice)
{
	struct listing *listing = context;
	const struct profile_info *info = profile_info_read(slice);

	array_foreach(&profile_moments(slice)->items, moment) {
		uint64_t end_ns = moment->begin_ns + moment->length_ns + moment->queue_ns;

		list_event(slice, moment, listing->out);
		listing->strangers += end_ns < info->start_ns || end_ns > info->end_ns;
	}
}

static char *events_of(const struct slice_stream *stream, struct slice_plan *plan,
		       uint64_t *ret_strangers)
{
	char *text = NULL;
	size_t size;
	struct listing listing = {.out = open_memstream(&text, &size)};

	plan->trace_ns = 1;
	plan->take = list_events;
	plan->context = &listing;
	profile_free(slice_stream_play(stream, plan));
	fclose(listing.out);
	*ret_strangers = listing.strangers;
	return text;
}

/* And each is in the slice in which it ended, but for those that come too late. */
static void single_events_are_in_one_slice_each(void **state)
{
	const char *times = getenv("PKBPF_TEST_ROUNDS");
	uint64_t rounds = 20 * (times ? strtoul(times, NULL, 10) : 1), random = 815, strangers,
		 cuts[MAX_CUTS];

	for (uint64_t seed = 1; seed <= trials(rounds); seed++) {
		struct slice_stream stream;
		struct slice_plan plan = {0};
		char *expected, *text;

		slice_stream_init_traced(&stream, seed, 200);
		expected = events_of(&stream, &plan, &strangers);
		plan = (struct slice_plan){.cuts = cuts,
					   .cut_count = random_cuts(&random, &stream, cuts),
					   .max_names_bytes = seed % 2};
		text = events_of(&stream, &plan, &strangers);
		assert_same_text(expected, text, seed);
		assert_true(strangers <= plan.late_records);
		free(text);
		free(expected);
		slice_stream_done(&stream);
	}
}

static void list_stacks(void *context, const struct profile *slice)
{
	struct profile *copy = slice_new();
	char *text;

	assert_int_equal(slice_merge(copy, slice), 0);
	text = slice_stream_write(copy);
	fputs(text, context);
	free(text);
	profile_free(copy);
}

static char *slices_of(const struct slice_stream *stream, struct slice_plan plan,
		       uint64_t *ret_late_records)
{
	char *text = NULL;
	size_t size;

	plan.take = list_stacks;
	plan.context = open_memstream(&text, &size);
	profile_free(slice_stream_play(stream, &plan));
	fclose(plan.context);
	*ret_late_records = plan.late_records;
	return text;
}

static void late_records_find_their_slice_whether_names_are_renewed_or_not(void **state)
{
	uint64_t random = 4, cuts[MAX_CUTS], late, late_renewed;

	for (uint64_t seed = 1; seed <= trials(20); seed++) {
		struct slice_stream stream;
		struct slice_plan plan = {.cuts = cuts, .reads_at_cuts = true};
		char *expected, *text;

		slice_stream_init(&stream, seed, 200);
		plan.cut_count = random_cuts(&random, &stream, cuts);
		expected = slices_of(&stream, plan, &late);
		plan.max_names_bytes = 1;
		text = slices_of(&stream, plan, &late_renewed);
		assert_int_equal(late, late_renewed);
		assert_same_text(expected, text, seed);
		free(text);
		free(expected);
		slice_stream_done(&stream);
	}
}

static void a_cut_at_each_record_of_a_short_stream_changes_nothing(void **state)
{
	struct slice_stream stream;
	struct slice_plan plan = {0};
	char *expected;

	slice_stream_init(&stream, 99, 30);
	expected = text_of(&stream, &plan);
	for (size_t at = 0; at < stream.records.size;) {
		const struct pkbpf_event_header *header = (const void *)(stream.records.data + at);
		uint64_t time_ns = header->time_ns;
		char *text;

		plan = (struct slice_plan){
			.cuts = &time_ns, .cut_count = 1, .reads_at_cuts = at & 64};
		if (time_ns > SLICE_STREAM_START_NS) {
			text = text_of(&stream, &plan);
			assert_same_text(expected, text, at);
			free(text);
		}
		at += header->size;
	}
	free(expected);
	slice_stream_done(&stream);
}

static void what_comes_too_late_counts_in_the_slice_that_runs(void **state)
{
	const uint64_t cuts[] = {SLICE_STREAM_START_NS + 1000000000ULL,
				 SLICE_STREAM_START_NS + 1100000000ULL};
	struct slice_stream stream;
	struct slice_plan plan = {.cuts = cuts, .cut_count = 2};

	/* The first slice is closed by the second cut. */
	slice_stream_init(&stream, 7, 400);
	profile_free(slice_stream_play(&stream, &plan));
	assert_true(plan.late_records > 0);
	slice_stream_done(&stream);
}

static void two_cuts_at_the_same_moment_make_an_empty_slice(void **state)
{
	const uint64_t middle = SLICE_STREAM_START_NS + 2000000000ULL, cuts[] = {middle, middle};
	struct slice_stream stream;
	struct slice_plan plan = {0};
	char *expected, *text;

	slice_stream_init(&stream, 5, 200);
	expected = text_of(&stream, &plan);
	plan = (struct slice_plan){.cuts = cuts, .cut_count = 2, .reads_at_cuts = true};
	text = text_of(&stream, &plan);
	assert_int_equal(plan.slice_count, 3);
	assert_same_text(expected, text, 5);
	free(text);
	free(expected);
	slice_stream_done(&stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_cut_at_random_merge_to_the_whole),
		cmocka_unit_test(so_do_those_whose_account_is_read_at_cuts),
		cmocka_unit_test(merging_is_associative),
		cmocka_unit_test(single_events_are_in_one_slice_each),
		cmocka_unit_test(late_records_find_their_slice_whether_names_are_renewed_or_not),
		cmocka_unit_test(a_cut_at_each_record_of_a_short_stream_changes_nothing),
		cmocka_unit_test(what_comes_too_late_counts_in_the_slice_that_runs),
		cmocka_unit_test(two_cuts_at_the_same_moment_make_an_empty_slice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
