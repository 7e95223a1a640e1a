// SPDX-License-Identifier: BSD-2-Clause
// Tests that the memory of stacks is limited while samples come.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/array.h"
#include "fake_profile.h"
#include "trials.h"
#include "profile/shrink/profile_merge.h"

#define SERVER "/usr/bin/server"

struct fixture {
	struct fake_machine *machine;
	struct fake_profile fake;
};

/* A process whose code begins at 0x400000. */
static void begin(struct fixture *fixture, const struct aggregator_options *options)
{
	struct event_sink sink;

	fixture->machine = fake_machine_new();
	fake_profile_init(&fixture->fake, options);
	sink = aggregator_sink(fixture->fake.aggregator);
	fake_process(fixture->machine, 100, 1, "server");
	fake_map(fixture->machine, 100, 0x400000, 0x500000, 0x1000, SERVER);
	fake_play(fixture->machine, &sink);
}

static void end(struct fixture *fixture)
{
	fake_machine_free(fixture->machine);
	fake_profile_done(&fixture->fake);
}

static struct sample_view user_sample(struct fake_ips user)
{
	return (struct sample_view){
		.pid = 100,
		.tid = 100,
		.user_end = PKBPF_END_ROOT,
		.count = 1,
		.weight = 1,
		.user_ips = user.items,
		.user_count = user.count,
	};
}

/* What one of 30 frames takes at most. */
#define SAMPLE_BYTES 4096

/* A stack of 30 frames, anew in every sample. */
static void add_random_sample(struct fixture *fixture, uint32_t *seed)
{
	struct event_sink sink = aggregator_sink(fixture->fake.aggregator);
	uint64_t ips[30];
	struct sample_view sample = user_sample((struct fake_ips){ips, 30});

	for (size_t i = 0; i < 30; i++) {
		*seed = *seed * 1664525 + 1013904223;
		ips[i] = 0x400000 + (*seed >> 14) % 0x400;
	}
	sink.ops->on_sample(sink.context, &sample);
}

static void memory_stays_within_its_limit_and_no_sample_is_lost(void **state)
{
	static const struct fake_symbol symbols[] = {
		FAKE_FUNCTION(SERVER, 0x1000, 0x1200, "read"),
		FAKE_FUNCTION(SERVER, 0x1200, 0x2000, "write"),
	};
	struct aggregator_options options = {
		.want_user = true, .merge_bytes = 128 << 10, .max_bytes = 1 << 20};
	struct fixture memory, *fixture = &memory;
	uint32_t seed = 5;
	int steps = 0;

	begin(fixture, &options);
	fixture->fake.symbolizer =
		fake_symbols_new(symbols, ARRAY_SIZE(symbols), fixture->fake.processes);
	for (int i = 0; i < 20000; i++) {
		add_random_sample(fixture, &seed);
		steps +=
			aggregator_limit_memory(fixture->fake.aggregator, fixture->fake.symbolizer);
		assert_true(profile_stack_bytes(fixture->fake.profile) <=
			    options.max_bytes + SAMPLE_BYTES);
	}
	/* 20,000 stacks would have taken 4 MiB. A step is rare. */
	assert_in_range(steps, 5, 100);
	assert_int_equal(profile_account(fixture->fake.profile).recorded, 20000);
	end(fixture);
}

/* As of a program that makes its return addresses up, where nothing has a name. */
static void memory_stays_within_its_limit_where_every_address_is_new(void **state)
{
	struct aggregator_options options = {
		.want_user = true, .merge_bytes = 128 << 10, .max_bytes = 1 << 20};
	static const size_t depths[] = {30, 5, 1};
	struct fixture memory, *fixture = &memory;
	uint64_t ips[30], next = 0x10000;
	const struct profile_row *rows;
	size_t count, steps = 0;

	for (size_t at = 0; at < ARRAY_SIZE(depths); at++) {
		size_t depth = depths[at];
		struct sample_view sample = user_sample((struct fake_ips){ips, depth});
		uint64_t recorded = 0;

		begin(fixture, &options);
		fixture->fake.symbolizer = fake_symbols_new(NULL, 0, fixture->fake.processes);
		for (int i = 0; i < 20000; i++) {
			struct event_sink sink = aggregator_sink(fixture->fake.aggregator);

			for (size_t j = 0; j < depth; j++)
				ips[j] = next++;
			sink.ops->on_sample(sink.context, &sample);
			steps += aggregator_limit_memory(fixture->fake.aggregator,
							 fixture->fake.symbolizer);
			assert_true(profile_stack_bytes(fixture->fake.profile) <=
				    options.max_bytes + SAMPLE_BYTES);
		}
		rows = profile_rows(fixture->fake.profile, &count);
		for (size_t i = 0; i < count; i++)
			recorded += rows[i].count;
		assert_int_equal(recorded, 20000);
		assert_true(profile_cut_events(fixture->fake.profile, PKBPF_END_SHORTENED) > 10000);
		end(fixture);
	}
	/* 600,000, 100,000 and 20,000 frames, and 20,000 stacks, would have taken 68, 13 and 3
	 * MiB. */
	assert_in_range(steps, 100, 1000);
}

/* The few frames there are take more than the limit, and stay, since they are few. */
static void a_limit_that_cannot_be_kept_is_not_tried_after_each_sample(void **state)
{
	struct aggregator_options options = {
		.want_user = true, .merge_bytes = 1024, .max_bytes = 2048};
	struct fixture memory, *fixture = &memory;
	int steps = 0;

	begin(fixture, &options);
	fixture->fake.symbolizer = fake_symbols_new(NULL, 0, fixture->fake.processes);
	for (uint64_t i = 0; i < 4096; i++) {
		struct event_sink sink = aggregator_sink(fixture->fake.aggregator);
		struct sample_view sample =
			user_sample(FAKE_IPS(0x400000 + i % 64, 0x400000 + i / 64));

		sink.ops->on_sample(sink.context, &sample);
		steps +=
			aggregator_limit_memory(fixture->fake.aggregator, fixture->fake.symbolizer);
	}
	assert_in_range(steps, 5, 100);
	assert_int_equal(profile_account(fixture->fake.profile).recorded, 4096);
	end(fixture);
}

static void add_new_place(struct fixture *fixture, uint64_t address)
{
	struct event_sink sink = aggregator_sink(fixture->fake.aggregator);
	struct sample_view sample = user_sample(FAKE_IPS(address));

	sink.ops->on_sample(sink.context, &sample);
}

/* Each may be in another large file. */
static void names_are_looked_up_a_few_at_a_time_before_a_merge(void **state)
{
	static const struct fake_symbol symbols[] = {FAKE_FUNCTION(SERVER, 0x1000, 0x2000, "main")};
	struct aggregator_options options = {.want_user = true,
					     .merge_bytes = 64 << 10,
					     .max_bytes = 1 << 20,
					     .most_naming_ns = 1};
	struct fixture memory, *fixture = &memory;
	uint64_t address = 0x400000, steps = 0, places;

	begin(fixture, &options);
	fixture->fake.symbolizer =
		fake_symbols_new(symbols, ARRAY_SIZE(symbols), fixture->fake.processes);
	while (profile_stack_bytes(fixture->fake.profile) < options.merge_bytes)
		add_new_place(fixture, address++);
	places = profile_frame_count(fixture->fake.profile);
	while (!aggregator_limit_memory(fixture->fake.aggregator, fixture->fake.symbolizer))
		steps++;
	assert_in_range(steps, places / 2, places - 1);
	assert_int_equal(profile_stack_count(fixture->fake.profile), 1);
	/* Where more comes than gets a name the memory is limited all the same, by what has one. */
	for (uint64_t i = 0; i < trials(20000); i++) {
		add_new_place(fixture, address++ % 0x80000 + 0x400000);
		add_new_place(fixture, address++ % 0x80000 + 0x400000);
		aggregator_limit_memory(fixture->fake.aggregator, fixture->fake.symbolizer);
		assert_true(profile_stack_bytes(fixture->fake.profile) <=
			    options.max_bytes / 4 * 5 + SAMPLE_BYTES);
	}
	end(fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_stays_within_its_limit_and_no_sample_is_lost),
		cmocka_unit_test(memory_stays_within_its_limit_where_every_address_is_new),
		cmocka_unit_test(a_limit_that_cannot_be_kept_is_not_tried_after_each_sample),
		cmocka_unit_test(names_are_looked_up_a_few_at_a_time_before_a_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
