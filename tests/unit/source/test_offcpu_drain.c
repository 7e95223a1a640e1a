// SPDX-License-Identifier: BSD-2-Clause
/* Tests that what the off-CPU programs add up becomes records of the increments, each exactly
 * once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pkbpf/trace.h>

#include "event/decoder.h"
#include "source/offcpu/offcpu_tables_private.h"

#define MAX_SEEN 64
#define THREADS	 8
#define ROWS	 4

struct seen {
	struct totals_view views[MAX_SEEN];
	size_t count;
};

struct fixture {
	struct offcpu_tables tables;
	struct pkbpf_thread threads[THREADS];
	struct pkbpf_wait_row rows[ROWS];
	struct pkbpf_wait_histogram histograms[ROWS];
	struct event_buffer buffer;
	struct seen seen;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct offcpu_tables *tables = &fixture->tables;

	tables->threads = (struct mapped_table){.items = fixture->threads, .count = THREADS};
	tables->rows = (struct mapped_table){.items = fixture->rows, .count = ROWS};
	tables->histograms = (struct mapped_table){.items = fixture->histograms, .count = ROWS};
	tables->sent_rows = calloc(ROWS, sizeof(*tables->sent_rows));
	tables->sent_threads = calloc(THREADS, sizeof(*tables->sent_threads));
	tables->sent_histograms = calloc(ROWS, sizeof(*tables->sent_histograms));
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	free(fixture->tables.sent_rows);
	free(fixture->tables.sent_threads);
	free(fixture->tables.sent_histograms);
	free(fixture->tables.ahead_ns);
	array_free(&fixture->tables.waited);
	hash_map_done(&fixture->tables.waited_numbers);
	event_buffer_done(&fixture->buffer);
	free(fixture);
	return 0;
}

static void on_totals(void *context, const struct totals_view *totals)
{
	struct seen *seen = context;

	assert_true(seen->count < MAX_SEEN);
	seen->views[seen->count++] = *totals;
}

static struct seen *drain(struct fixture *fixture)
{
	static const struct event_sink_ops ops = {.on_totals = on_totals};
	struct event_sink sink = {.ops = &ops, .context = &fixture->seen};

	assert_int_equal(offcpu_drain_increments(&fixture->tables, &fixture->buffer), 0);
	fixture->seen.count = 0;
	for (size_t at = 0; at < fixture->buffer.size;) {
		int size =
			event_decode(fixture->buffer.data + at, fixture->buffer.size - at, &sink);

		assert_true(size > 0);
		at += (size_t)size;
	}
	event_buffer_clear(&fixture->buffer);
	return &fixture->seen;
}

/* Sum of the totals of a measure and state; all their counts in *ret_count. */
static uint64_t total_of(const struct seen *seen, enum pkbpf_offcpu_measure measure, uint8_t state,
			 uint64_t *ret_count)
{
	uint64_t total = 0;

	*ret_count = 0;
	for (size_t i = 0; i < seen->count; i++) {
		if (seen->views[i].measure != measure || seen->views[i].state != state)
			continue;
		total += seen->views[i].total;
		*ret_count += seen->views[i].count;
	}
	return total;
}

static void begin_thread(struct fixture *fixture, int slot, uint32_t pid, uint32_t tid)
{
	fixture->threads[slot] = (struct pkbpf_thread){.tid = tid,
						       .pid = pid,
						       .place = PKBPF_THREAD_ON_CPU,
						       .first_ns = 100,
						       .since_ns = 100,
						       .comm = "server"};
}

static void begin_row(struct fixture *fixture, int row, uint32_t pid, uint64_t stack_id,
		      uint32_t state)
{
	fixture->rows[row] = (struct pkbpf_wait_row){
		.stack_id = stack_id, .pid = pid, .state = state, .cgroup_id = 5, .comm = "server"};
}

/* What the programs do when a wait ends, of which `weight` were seen. */
static void wait(struct fixture *fixture, int slot, int row, uint64_t wait_ns, uint64_t queue_ns,
		 uint32_t weight)
{
	struct pkbpf_wait_row *to = &fixture->rows[row];
	struct pkbpf_thread *thread = &fixture->threads[slot];

	thread->time_ns[to->state] += wait_ns;
	thread->count[to->state]++;
	thread->time_ns[PKBPF_WAIT_RUNQUEUE] += queue_ns;
	thread->count[PKBPF_WAIT_RUNQUEUE] += queue_ns != 0;
	thread->since_ns += wait_ns + queue_ns;
	to->count += weight;
	to->total_ns += wait_ns * weight;
	to->queue_ns += queue_ns * weight;
	if (weight > 1) {
		to->flags |= PKBPF_TOTALS_ESTIMATED;
		to->estimated_ns += wait_ns * weight;
		to->estimated_queue_ns += queue_ns * weight;
	}
	if (wait_ns > to->max_ns)
		to->max_ns = wait_ns;
}

static void a_row_becomes_a_wait_and_the_queue_behind_it(void **state)
{
	struct fixture *fixture = *state;
	const struct totals_view *view;
	struct seen *seen;
	uint64_t count;

	begin_thread(fixture, 0, 100, 101);
	begin_row(fixture, 1, 100, 77, PKBPF_WAIT_SLEEP);
	wait(fixture, 0, 1, 30000, 2000, 1);
	wait(fixture, 0, 1, 50000, 0, 1);
	seen = drain(fixture);
	view = &seen->views[0];
	assert_int_equal(view->measure, PKBPF_OFFCPU_WAITS);
	assert_int_equal(view->stack_id, 77);
	assert_int_equal(view->pid, 100);
	assert_int_equal(view->cgroup_id, 5);
	assert_int_equal(view->state, PKBPF_WAIT_SLEEP);
	assert_int_equal(view->count, 2);
	assert_int_equal(view->total, 80000);
	assert_int_equal(view->max, 50000);
	assert_false(view->estimated);
	assert_string_equal(view->comm, "server");
	assert_int_equal(total_of(seen, PKBPF_OFFCPU_WAITS, PKBPF_WAIT_RUNQUEUE, &count), 2000);
	/* The end of a wait is no wait of its own. */
	assert_int_equal(count, 0);
	assert_int_equal(fixture->tables.used_rows, 1);
}

static void what_was_sent_is_not_sent_again(void **state)
{
	struct fixture *fixture = *state;
	struct seen *seen;
	uint64_t count;

	begin_thread(fixture, 0, 100, 101);
	begin_row(fixture, 0, 100, 77, PKBPF_WAIT_DISK);
	wait(fixture, 0, 0, 30000, 0, 1);
	drain(fixture);
	assert_int_equal(drain(fixture)->count, 0);
	wait(fixture, 0, 0, 400, 0, 1);
	seen = drain(fixture);
	assert_int_equal(total_of(seen, PKBPF_OFFCPU_WAITS, PKBPF_WAIT_DISK, &count), 400);
	assert_int_equal(count, 1);
	assert_int_equal(total_of(seen, PKBPF_OFFCPU_TIME, PKBPF_WAIT_DISK, &count), 400);
	assert_int_equal(count, 1);
}

/* All times in a state that were sent for threads, and under rows, as one drain after the other
 * sends them. */
struct sums {
	uint64_t time_ns[PKBPF_WAIT_STATES], row_ns[PKBPF_WAIT_STATES], wall_ns;
};

static void add_sums(struct sums *sums, const struct seen *seen)
{
	for (size_t i = 0; i < seen->count; i++) {
		const struct totals_view *view = &seen->views[i];

		if (view->measure == PKBPF_OFFCPU_TIME)
			sums->time_ns[view->state] += view->total;
		else if (view->measure == PKBPF_OFFCPU_WAITS)
			sums->row_ns[view->state] += view->total;
		else if (view->measure == PKBPF_OFFCPU_WALL)
			sums->wall_ns += view->total;
	}
}

static struct seen *cut(struct fixture *fixture, uint64_t until_ns)
{
	struct seen *seen;

	fixture->tables.until_ns = until_ns;
	seen = drain(fixture);
	fixture->tables.until_ns = 0;
	return seen;
}

static void begin_wait(struct fixture *fixture, int slot, int row, uint64_t since_ns)
{
	fixture->threads[slot].time_ns[PKBPF_WAIT_NONE] +=
		since_ns - fixture->threads[slot].since_ns;
	fixture->threads[slot].since_ns = since_ns;
	fixture->threads[slot].place = PKBPF_THREAD_OFF_CPU;
	fixture->threads[slot].state = (uint8_t)fixture->rows[row].state;
	fixture->threads[slot].row = (uint32_t)row;
}

static void a_wait_across_cuts_is_divided_at_them(void **state)
{
	struct fixture *fixture = *state;
	struct sums slices[4] = {0}, all = {0};

	begin_thread(fixture, 0, 100, 101);
	begin_row(fixture, 1, 100, 77, PKBPF_WAIT_SLEEP);
	begin_wait(fixture, 0, 1, 1100);
	for (int i = 0; i < 3; i++)
		add_sums(&slices[i], cut(fixture, 2100 + 1000 * i));
	/* Of the wait the last 300 ns are of the run queue, after the last cut. */
	wait(fixture, 0, 1, 3100, 300, 1);
	fixture->threads[0].place = PKBPF_THREAD_ENDED;
	add_sums(&slices[3], drain(fixture));
	for (int i = 0; i < 4; i++) {
		uint64_t sum = 0;

		for (int at = 0; at < PKBPF_WAIT_STATES; at++) {
			sum += slices[i].time_ns[at];
			all.time_ns[at] += slices[i].time_ns[at];
			all.row_ns[at] += slices[i].row_ns[at];
		}
		assert_int_equal(slices[i].wall_ns, sum);
	}
	assert_int_equal(slices[0].time_ns[PKBPF_WAIT_NONE], 1000);
	assert_int_equal(slices[1].time_ns[PKBPF_WAIT_SLEEP], 1000);
	assert_int_equal(slices[1].row_ns[PKBPF_WAIT_SLEEP], 1000);
	assert_int_equal(all.time_ns[PKBPF_WAIT_SLEEP], 3100);
	assert_int_equal(all.time_ns[PKBPF_WAIT_RUNQUEUE], 300);
	assert_int_equal(all.row_ns[PKBPF_WAIT_SLEEP], 3100);
	assert_int_equal(all.row_ns[PKBPF_WAIT_RUNQUEUE], 300);
}

static void what_was_run_queue_before_a_cut_changes_no_sum(void **state)
{
	struct fixture *fixture = *state;
	struct sums all = {0};

	begin_thread(fixture, 0, 100, 101);
	begin_row(fixture, 1, 100, 77, PKBPF_WAIT_SLEEP);
	begin_wait(fixture, 0, 1, 1100);
	add_sums(&all, cut(fixture, 2100));
	/* It was woken long before the cut. */
	wait(fixture, 0, 1, 200, 900, 1);
	add_sums(&all, drain(fixture));
	assert_int_equal(all.time_ns[PKBPF_WAIT_SLEEP] + all.time_ns[PKBPF_WAIT_RUNQUEUE], 1100);
	assert_int_equal(all.row_ns[PKBPF_WAIT_SLEEP] + all.row_ns[PKBPF_WAIT_RUNQUEUE], 1100);
	/* What the next ones are is told rightly. */
	wait(fixture, 0, 1, 50, 7, 1);
	add_sums(&all, drain(fixture));
	assert_int_equal(all.time_ns[PKBPF_WAIT_SLEEP] + all.time_ns[PKBPF_WAIT_RUNQUEUE], 1157);
}

static void a_thread_on_its_cpu_has_run_until_the_cut(void **state)
{
	struct fixture *fixture = *state;
	struct sums all = {0};

	begin_thread(fixture, 0, 100, 101);
	add_sums(&all, cut(fixture, 5100));
	assert_int_equal(all.time_ns[PKBPF_WAIT_NONE], 5000);
	assert_int_equal(all.wall_ns, 5000);
	assert_int_equal(drain(fixture)->count, 0);
}

static void lengths_are_counted_across_an_overflow_of_their_counter(void **state)
{
	struct fixture *fixture = *state;
	uint32_t bucket = pkbpf_histogram_index(5000);
	struct seen *seen;

	fixture->histograms[2] = (struct pkbpf_wait_histogram){
		.pid = 100, .state = PKBPF_WAIT_SLEEP, .max_ns = 5000};
	fixture->histograms[2].buckets[bucket] = UINT32_MAX;
	seen = drain(fixture);
	assert_int_equal(seen->views[0].count, UINT32_MAX);
	fixture->histograms[2].buckets[bucket] += 3;
	seen = drain(fixture);
	assert_int_equal(seen->count, 1);
	assert_int_equal(seen->views[0].measure, PKBPF_OFFCPU_LENGTHS);
	assert_int_equal(seen->views[0].count, 3);
	assert_int_equal(fixture->tables.used_histograms, 1);
}

static void switches_are_told_apart(void **state)
{
	struct fixture *fixture = *state;
	struct seen *seen;
	uint64_t count;

	begin_thread(fixture, 0, 100, 101);
	fixture->threads[0].voluntary = 7;
	fixture->threads[0].involuntary = 2;
	seen = drain(fixture);
	total_of(seen, PKBPF_OFFCPU_SWITCHES, 0, &count);
	assert_int_equal(count, 7);
	total_of(seen, PKBPF_OFFCPU_SWITCHES, 1, &count);
	assert_int_equal(count, 2);
	fixture->threads[0].voluntary += 5;
	fixture->threads[0].involuntary += 1;
	seen = drain(fixture);
	total_of(seen, PKBPF_OFFCPU_SWITCHES, 0, &count);
	assert_int_equal(count, 5);
	total_of(seen, PKBPF_OFFCPU_SWITCHES, 1, &count);
	assert_int_equal(count, 1);
}

static void an_ended_thread_tells_its_wall_clock_once_and_leaves(void **state)
{
	struct fixture *fixture = *state;
	struct seen *seen;
	uint64_t count;

	begin_thread(fixture, 3, 100, 101);
	fixture->threads[3].time_ns[PKBPF_WAIT_NONE] = 900;
	fixture->threads[3].since_ns = 1000;
	seen = drain(fixture);
	assert_int_equal(total_of(seen, PKBPF_OFFCPU_WALL, 0, &count), 0);
	fixture->threads[3].place = PKBPF_THREAD_ENDED;
	seen = drain(fixture);
	assert_int_equal(total_of(seen, PKBPF_OFFCPU_WALL, 0, &count), 900);
	assert_int_equal(count, 1);
	assert_int_equal(fixture->threads[3].tid, PKBPF_THREAD_TOMBSTONE);
	assert_int_equal(drain(fixture)->count, 0);
}

static void on_other(void *context, const struct pkbpf_event_header *record)
{
	struct pkbpf_event_wait *life = context;

	if (record->kind == PKBPF_EVENT_WAIT)
		memcpy(life, record, sizeof(*life));
}

static void a_trace_has_the_account_of_a_thread_that_ends(void **state)
{
	static const struct event_sink_ops ops = {.on_other = on_other};
	struct fixture *fixture = *state;
	struct pkbpf_event_wait life = {0};
	struct event_sink sink = {.ops = &ops, .context = &life};
	struct event_buffer *buffer = &fixture->buffer;

	offcpu_tables_trace(&fixture->tables);
	begin_thread(fixture, 3, 100, 101);
	fixture->threads[3].time_ns[PKBPF_WAIT_NONE] = 700;
	fixture->threads[3].time_ns[PKBPF_WAIT_SLEEP] = 200;
	fixture->threads[3].since_ns = 1000;
	fixture->threads[3].place = PKBPF_THREAD_ENDED;
	assert_int_equal(offcpu_drain_increments(&fixture->tables, buffer), 0);
	for (size_t at = 0; at < buffer->size;) {
		int size = event_decode(buffer->data + at, buffer->size - at, &sink);

		assert_true(size > 0);
		at += (size_t)size;
	}
	assert_int_equal(life.state, PKBPF_WAIT_NONE);
	assert_int_equal(life.tid, 101);
	assert_int_equal(life.begin_ns, 100);
	assert_int_equal(life.wait_ns, 900);
	assert_int_equal(life.ran_ns, 700);
}

static void a_tid_that_is_used_again_has_two_accounts(void **state)
{
	struct fixture *fixture = *state;
	struct seen *seen;
	uint64_t count, lives = 0;

	/* The old thread's account waits for its drain when the kernel gives the number to another
	 * process. */
	begin_thread(fixture, 5, 100, 101);
	fixture->threads[5].time_ns[PKBPF_WAIT_SLEEP] = 900;
	fixture->threads[5].since_ns = 1000;
	fixture->threads[5].place = PKBPF_THREAD_ENDED;
	begin_thread(fixture, 6, 200, 101);
	fixture->threads[6].time_ns[PKBPF_WAIT_SLEEP] = 50;
	seen = drain(fixture);
	for (size_t i = 0; i < seen->count; i++) {
		if (seen->views[i].measure == PKBPF_OFFCPU_TIME)
			assert_int_equal(seen->views[i].total,
					 seen->views[i].pid == 100 ? 900 : 50);
		lives += seen->views[i].measure == PKBPF_OFFCPU_WALL;
	}
	assert_int_equal(lives, 1);
	fixture->threads[6].time_ns[PKBPF_WAIT_SLEEP] = 80;
	seen = drain(fixture);
	assert_int_equal(total_of(seen, PKBPF_OFFCPU_TIME, PKBPF_WAIT_SLEEP, &count), 30);
	/* A third one takes the first one's place, and begins with nothing sent. */
	begin_thread(fixture, 5, 300, 103);
	fixture->threads[5].time_ns[PKBPF_WAIT_SLEEP] = 7;
	seen = drain(fixture);
	assert_int_equal(total_of(seen, PKBPF_OFFCPU_TIME, PKBPF_WAIT_SLEEP, &count), 7);
}

static void sampled_stacks_add_up_to_what_the_threads_waited(void **state)
{
	struct fixture *fixture = *state;
	uint64_t exact_ns = 0, count;
	struct seen *seen;

	fixture->tables.sampled = true;
	begin_thread(fixture, 0, 100, 101);
	begin_row(fixture, 0, 100, 77, PKBPF_WAIT_SLEEP);
	begin_row(fixture, 1, 100, 78, PKBPF_WAIT_SLEEP);
	/* One wait in four has a stack, and those that have are longer than the others. */
	for (int i = 0; i < 400; i++) {
		bool chosen = i % 4 == 0;

		if (chosen)
			wait(fixture, 0, i % 8 == 0, 3000, 500, 4);
		else
			fixture->threads[0].time_ns[PKBPF_WAIT_SLEEP] += 1000,
				fixture->threads[0].time_ns[PKBPF_WAIT_RUNQUEUE] += 500;
		exact_ns += chosen ? 3000 : 1000;
	}
	seen = drain(fixture);
	/* Each row is cut off to whole nanoseconds. */
	assert_in_range(total_of(seen, PKBPF_OFFCPU_WAITS, PKBPF_WAIT_SLEEP, &count), exact_ns - 2,
			exact_ns);
	assert_int_equal(count, 400);
	assert_in_range(total_of(seen, PKBPF_OFFCPU_WAITS, PKBPF_WAIT_RUNQUEUE, &count),
			400 * 500 - 2, 400 * 500);
	assert_true(seen->views[0].estimated);
}

static void waits_that_stand_for_themselves_are_not_scaled(void **state)
{
	struct fixture *fixture = *state;
	struct seen *seen;
	uint64_t count;

	fixture->tables.sampled = true;
	begin_thread(fixture, 0, 100, 101);
	begin_row(fixture, 0, 100, 77, PKBPF_WAIT_SLEEP);
	begin_row(fixture, 1, 100, 78, PKBPF_WAIT_SLEEP);
	/* One long wait, and a sample of short ones, some of them of the same place, that says
	 * three times too much. */
	wait(fixture, 0, 0, 899800, 0, 1);
	wait(fixture, 0, 0, 150, 0, 4);
	wait(fixture, 0, 1, 300, 0, 4);
	fixture->threads[0].time_ns[PKBPF_WAIT_SLEEP] += 150;
	seen = drain(fixture);
	for (size_t i = 0; i < seen->count; i++) {
		const struct totals_view *view = &seen->views[i];

		if (view->measure == PKBPF_OFFCPU_WAITS)
			assert_int_equal(view->total, view->stack_id == 77 ? 900000 : 400);
	}
	assert_int_equal(total_of(seen, PKBPF_OFFCPU_WAITS, PKBPF_WAIT_SLEEP, &count), 900400);
}

static void time_without_any_sampled_stack_is_still_listed(void **state)
{
	struct fixture *fixture = *state;
	struct seen *seen;
	uint64_t count;

	fixture->tables.sampled = true;
	begin_thread(fixture, 0, 100, 101);
	fixture->threads[0].time_ns[PKBPF_WAIT_DISK] = 5000;
	seen = drain(fixture);
	assert_int_equal(total_of(seen, PKBPF_OFFCPU_WAITS, PKBPF_WAIT_DISK, &count), 5000);
	assert_int_equal(seen->views[0].stack_id, 0);
	assert_true(seen->views[0].estimated);
	assert_int_equal(drain(fixture)->count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_row_becomes_a_wait_and_the_queue_behind_it, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_was_sent_is_not_sent_again, setup, teardown),
		cmocka_unit_test_setup_teardown(a_wait_across_cuts_is_divided_at_them, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_was_run_queue_before_a_cut_changes_no_sum,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_thread_on_its_cpu_has_run_until_the_cut, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			lengths_are_counted_across_an_overflow_of_their_counter, setup, teardown),
		cmocka_unit_test_setup_teardown(switches_are_told_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(
			an_ended_thread_tells_its_wall_clock_once_and_leaves, setup, teardown),
		cmocka_unit_test_setup_teardown(a_trace_has_the_account_of_a_thread_that_ends,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_tid_that_is_used_again_has_two_accounts, setup,
						teardown),
		cmocka_unit_test_setup_teardown(sampled_stacks_add_up_to_what_the_threads_waited,
						setup, teardown),
		cmocka_unit_test_setup_teardown(waits_that_stand_for_themselves_are_not_scaled,
						setup, teardown),
		cmocka_unit_test_setup_teardown(time_without_any_sampled_stack_is_still_listed,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
