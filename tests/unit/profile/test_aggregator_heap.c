// SPDX-License-Identifier: BSD-2-Clause
/* Sampled allocations on their way to rows and places of the profile. */
#include <string.h>

#include "aggregator_fixture.h"
#include "event/alloc_event.h"
#include "event/decoder.h"
#include "event/encoder.h"
#include "profile/slice/slice.h"

#define SAMPLER "/usr/lib/pkbpf/libpkbpf-alloc.so"

static void feed(struct fixture *fixture, struct event_buffer *buffer)
{
	struct event_sink sink = aggregator_sink(fixture->fake.aggregator);

	for (size_t offset = 0; offset < buffer->size;) {
		int used = event_decode(buffer->data + offset, buffer->size - offset, &sink);

		assert_true(used > 0);
		offset += (size_t)used;
	}
	event_buffer_done(buffer);
}

/* The sampler's frames, their caller in the server, and main. */
static void send_stack(struct fixture *fixture, uint64_t stack_id)
{
	static const uint64_t ips[] = {0x600010, 0x600110, 0x400123, 0x400456};
	struct stack_view stack = {.stack_id = stack_id,
				   .pid = 100,
				   .user_end = PKBPF_END_ROOT,
				   .user_ips = ips,
				   .user_count = 4};
	struct event_buffer buffer = {0};

	fake_map(fixture->machine, 100, 0x600000, 0x601000, 0x1000, SAMPLER);
	play(fixture);
	assert_int_equal(event_encode_stack(&buffer, 1000, &stack), 0);
	feed(fixture, &buffer);
}

static void send_alloc(struct fixture *fixture, uint64_t address, uint64_t time_ns)
{
	struct alloc_view view = {.time_ns = time_ns,
				  .stack_id = 7,
				  .pid = 100,
				  .tid = 100,
				  .address = address,
				  .size = 1000,
				  .weight = 64000,
				  .comm = "server"};
	struct event_buffer buffer = {0};

	assert_int_equal(alloc_event_encode(&buffer, &view), 0);
	feed(fixture, &buffer);
}

static void send_free(struct fixture *fixture, uint64_t address, uint64_t time_ns)
{
	struct free_view view = {.time_ns = time_ns, .pid = 100, .tid = 101, .address = address};
	struct event_buffer buffer = {0};

	assert_int_equal(free_event_encode(&buffer, &view), 0);
	feed(fixture, &buffer);
}

static uint64_t weight_of(const struct profile *profile, enum pkbpf_profile_kind kind)
{
	size_t count;
	const struct profile_row *rows = profile_rows(profile, &count);
	uint64_t weight = 0;

	for (size_t i = 0; i < count; i++)
		weight += rows[i].kind == kind ? rows[i].weight : 0;
	return weight;
}

static void rows_begin_at_the_caller_of_the_allocator(void **state)
{
	struct fixture *fixture = *state;
	size_t count;

	send_stack(fixture, 7);
	send_alloc(fixture, 0x1000, 2000);
	assert_int_equal(weight_of(fixture->fake.profile, PKBPF_PROFILE_ALLOC), 64000);
	assert_int_equal(row_at(fixture, 0)->count, 64);
	profile_stack(fixture->fake.profile, row_at(fixture, 0)->stack, &count);
	assert_int_equal(count, 2);
	assert_int_equal(location_at(fixture, 0, 0)->address, 0x400123 - 0x400000 + 0x1000);
	assert_true(location_at(fixture, 0, 0)->is_return_address);
}

static void what_was_not_freed_is_live_at_the_end(void **state)
{
	struct fixture *fixture = *state;
	struct profile *profile = fixture->fake.profile;
	const struct heap_list *heaps = profile_heaps(profile);

	send_stack(fixture, 7);
	send_alloc(fixture, 0x1000, 2000);
	send_alloc(fixture, 0x2000, 2001);
	send_alloc(fixture, 0x3000, 2002);
	send_free(fixture, 0x2000, 3000);
	assert_int_equal(weight_of(profile, PKBPF_PROFILE_LIVE), 0);
	aggregator_end(fixture->fake.aggregator);
	assert_int_equal(weight_of(profile, PKBPF_PROFILE_ALLOC), 192000);
	assert_int_equal(weight_of(profile, PKBPF_PROFILE_LIVE), 128000);
	assert_int_equal(heaps->items.count, 1);
	assert_int_equal(heaps->items.items[0].pid, 100);
	assert_int_equal(heaps->items.items[0].live.bytes, 128000);
	assert_int_equal(heaps->items.items[0].live.samples, 2);
	assert_int_equal(heaps->items.items[0].at_peak_bytes, 192000);
	assert_int_equal(heaps->items.items[0].brief_bytes, 64000);
	assert_int_equal(heaps->items.items[0].trend, HEAP_TREND_UNKNOWN);
}

static void send_cut(struct fixture *fixture, uint64_t time_ns)
{
	struct cut_view cut = {.time_ns = time_ns, .sequence = 1};
	struct event_buffer buffer = {0};

	assert_int_equal(event_encode_cut(&buffer, &cut), 0);
	feed(fixture, &buffer);
}

static void send_exit(struct fixture *fixture, uint64_t time_ns)
{
	struct task_view task = {
		.time_ns = time_ns, .kind = PKBPF_EVENT_EXIT, .pid = 100, .tid = 100};
	struct event_buffer buffer = {0};

	assert_int_equal(event_encode_task(&buffer, &task), 0);
	feed(fixture, &buffer);
}

static void memory_freed_after_a_cut_is_not_live_in_merged_slices(void **state)
{
	struct fixture *fixture = *state;
	struct profile *merged = slice_new(), *slice;

	send_stack(fixture, 7);
	send_alloc(fixture, 0x1000, 2000);
	send_cut(fixture, 3000);
	send_free(fixture, 0x1000, 4000);
	send_exit(fixture, 5000);
	aggregator_end(fixture->fake.aggregator);
	while ((slice = aggregator_take_closed(fixture->fake.aggregator, UINT64_MAX))) {
		assert_int_equal(slice_merge(merged, slice), 0);
		if (!profile_info(slice)->sequence)
			assert_int_equal(weight_of(merged, PKBPF_PROFILE_LIVE), 64000);
		profile_free(slice);
	}
	assert_int_equal(weight_of(merged, PKBPF_PROFILE_ALLOC), 64000);
	assert_int_equal(weight_of(merged, PKBPF_PROFILE_LIVE), 0);
	profile_free(merged);
}

static void exec_takes_the_heap_with_it(void **state)
{
	struct fixture *fixture = *state;
	struct task_view task = {.time_ns = 3000,
				 .kind = PKBPF_EVENT_COMM,
				 .pid = 100,
				 .tid = 100,
				 .exec = true,
				 .comm = "next"};
	struct event_buffer buffer = {0};

	send_stack(fixture, 7);
	send_alloc(fixture, 0x1000, 2000);
	assert_int_equal(event_encode_task(&buffer, &task), 0);
	feed(fixture, &buffer);
	aggregator_end(fixture->fake.aggregator);
	assert_int_equal(weight_of(fixture->fake.profile, PKBPF_PROFILE_ALLOC), 64000);
	assert_int_equal(weight_of(fixture->fake.profile, PKBPF_PROFILE_LIVE), 0);
}

static void a_stack_that_never_came_is_counted(void **state)
{
	struct fixture *fixture = *state;

	play(fixture);
	send_alloc(fixture, 0x1000, 2000);
	assert_int_equal(weight_of(fixture->fake.profile, PKBPF_PROFILE_ALLOC), 64000);
	assert_int_equal(profile_info(fixture->fake.profile)->counters[PKBPF_COUNTER_STACK_UNKNOWN],
			 1);
}

static void a_full_list_keeps_what_grows(void **state)
{
	struct heap_list list = {0};
	size_t growing = 0;

	for (uint32_t i = 0; i < 3 * HEAP_PLACES_MAX; i++) {
		struct heap_place place = {.stack = i, .live = {.bytes = i % 1000}};

		place.trend = i % HEAP_PLACES_MAX == 5 ? HEAP_TREND_GROWS : HEAP_TREND_UNKNOWN;
		assert_int_equal(heap_list_add(&list, &place), 0);
	}
	assert_in_range(list.items.count, HEAP_PLACES_MAX / 2, HEAP_PLACES_MAX);
	array_foreach(&list.items, place)
		growing += place->trend == HEAP_TREND_GROWS;
	assert_int_equal(growing, 3);
	array_free(&list.items);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(rows_begin_at_the_caller_of_the_allocator),
		TEST(what_was_not_freed_is_live_at_the_end),
		TEST(memory_freed_after_a_cut_is_not_live_in_merged_slices),
		TEST(exec_takes_the_heap_with_it),
		TEST(a_stack_that_never_came_is_counted),
		TEST(a_full_list_keeps_what_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
