// SPDX-License-Identifier: BSD-2-Clause
/* Tests that single events of a trace keep their times, stacks and threads through a recording. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <pkbpf/offcpu.h>
#include <pkbpf/trace.h>

#include "profile/slice/slice.h"
#include "recorded_profile.h"

#define WAIT_BEGIN_NS 5000000
#define TRACE_NS      1000000

static const struct pkbpf_event_wait wait = {
	.header = {.size = sizeof(wait), .kind = PKBPF_EVENT_WAIT, .time_ns = 9000000},
	.stack_id = 77,
	.begin_ns = WAIT_BEGIN_NS,
	.wait_ns = 2000000,
	.queue_ns = 300000,
	.ran_ns = 1700000,
	.cause = {.waker = 55, .wake = PKBPF_WAKE_THREAD, .owner = 56},
	.pid = 100,
	.tid = 101,
	.state = PKBPF_WAIT_DISK,
	.comm = "worker",
};

static void request(const struct event_sink *sink, uint64_t length_ns)
{
	struct slow_io_view view = {
		.time_ns = 10000000 + length_ns,
		.insert_ns = 10000000,
		.issue_ns = 10000000 + length_ns / 4,
		.pid = 100,
		.tid = 101,
		.device = 254U << 20,
		.bytes = 4096,
		.state = PKBPF_BLOCKIO_READ,
		.comm = "worker",
	};

	sink->ops->on_slow_io(sink->context, &view);
}

/* A sample, a wait, and two requests of which one is long enough. */
static void play(struct fake_profile *fake, struct fake_machine *machine)
{
	static const struct fake_symbol symbols[] = {{.space = FRAME_FILE,
						      .path = "/usr/bin/server",
						      .start = 0x1000,
						      .end = 0x2000,
						      .lines = {{.function = "serve"}}}};
	const struct aggregator_options options = {
		.want_user = true,
		.want_kernel = true,
		.slow_io_limit = 5,
		.slow_io_ns = 4 * TRACE_NS,
		.trace_ns = TRACE_NS,
	};
	struct event_sink sink;
	uint64_t ips[] = {0x400123};
	struct stack_view stack = {.stack_id = 77,
				   .pid = 100,
				   .user_end = PKBPF_END_ROOT,
				   .user_ips = ips,
				   .user_count = 1};

	fake_profile_init(fake, &options);
	sink = aggregator_sink(fake->aggregator);
	fake_process(machine, 100, 1, "server");
	fake_map(machine, 100, 0x400000, 0x500000, 0x1000, "/usr/bin/server");
	fake_sample(machine, 100, 102, FAKE_IPS(), FAKE_IPS(0x400200));
	fake_play_new(machine, &sink);
	sink.ops->on_stack(sink.context, &stack);
	sink.ops->on_other(sink.context, &wait.header);
	request(&sink, TRACE_NS / 2);
	request(&sink, TRACE_NS * 2);
	request(&sink, TRACE_NS * 5);
	fake_profile_name(fake, symbols, 1);
	profile_info(fake->profile)->trace_ns = TRACE_NS;
}

static const char *leaf_of(const struct profile *profile, const struct moment *moment)
{
	size_t count;
	const uint32_t *frames = profile_stack(profile, moment->stack, &count);

	return count ? profile_frame(profile, frames[0])->symbol.lines[0].function : "";
}

static const struct moment *moment_of(const struct profile *profile, enum pkbpf_profile_kind kind,
				      size_t expected)
{
	const struct moment *found = NULL;
	size_t count = 0;

	array_foreach(&profile_moments(profile)->items, moment) {
		if (moment->kind == kind) {
			found = found ? found : moment;
			count++;
		}
	}
	assert_int_equal(count, expected);
	return found;
}

static void expect_all(const struct profile *profile)
{
	const struct moment *moment = moment_of(profile, PKBPF_PROFILE_OFFCPU, 1);

	assert_int_equal(profile_info_read(profile)->trace_ns, TRACE_NS);
	assert_int_equal(moment->begin_ns, WAIT_BEGIN_NS);
	assert_int_equal(moment->length_ns, 2000000);
	assert_int_equal(moment->queue_ns, 300000);
	assert_int_equal(moment->ran_ns, 1700000);
	assert_int_equal(moment->waker, 55);
	assert_int_equal(moment->wake, PKBPF_WAKE_THREAD);
	assert_int_equal(moment->owner, 56);
	assert_int_equal(moment->state, PKBPF_WAIT_DISK);
	assert_int_equal(moment->tid, 101);
	assert_string_equal(profile_string(profile, moment->comm), "worker");
	assert_string_equal(leaf_of(profile, moment), "serve");
	assert_int_equal(process_table_by_id(profile_processes(profile), moment->process)->pid,
			 100);
	moment = moment_of(profile, PKBPF_PROFILE_CPU, 1);
	assert_int_equal(moment->tid, 102);
	assert_int_equal(moment->weight, 1);
	assert_string_equal(leaf_of(profile, moment), "serve");
	moment = moment_of(profile, PKBPF_PROFILE_BLOCKIO, 2);
	assert_int_equal(moment->begin_ns, 10000000);
	assert_int_equal(moment->length_ns + moment->queue_ns, 2 * TRACE_NS);
	assert_int_equal(moment->weight, 4096);
	/* --slow-io has its own limit. */
	assert_non_null(slow_io_list_at(profile_slow_io(profile), 0));
	assert_null(slow_io_list_at(profile_slow_io(profile), 1));
}

static void single_events_come_back_from_a_recording(void **state)
{
	struct fake_machine *machine = fake_machine_new();
	struct fake_profile fake;
	const struct profile *written;
	struct profile *read;
	int fd;

	play(&fake, machine);
	expect_all(fake.profile);
	written = fake.profile;
	fd = recorded_profiles(&written, 1);
	read = recorded_read(fd, 0, NULL);
	expect_all(read);
	close(fd);
	profile_free(read);
	fake_profile_done(&fake);
	fake_machine_free(machine);
}

static void a_choice_of_kinds_leaves_others_out(void **state)
{
	const struct slice_choice choice = {.kinds_mask = 1U << PKBPF_PROFILE_CPU};
	struct fake_machine *machine = fake_machine_new();
	struct fake_profile fake;
	const struct profile *written;
	struct profile *read;
	int fd;

	play(&fake, machine);
	written = fake.profile;
	fd = recorded_profiles(&written, 1);
	read = recorded_read(fd, 0, &choice);
	moment_of(read, PKBPF_PROFILE_CPU, 1);
	moment_of(read, PKBPF_PROFILE_OFFCPU, 0);
	close(fd);
	profile_free(read);
	fake_profile_done(&fake);
	fake_machine_free(machine);
}

static void merged_slices_keep_events_where_times_are_shown(void **state)
{
	struct fake_machine *machine = fake_machine_new();
	struct profile *sums = slice_new(), *times = slice_new();
	struct fake_profile fake;

	play(&fake, machine);
	assert_int_equal(slice_merge(sums, fake.profile), 0);
	assert_int_equal(profile_moments(sums)->items.count, 0);
	assert_int_equal(slice_keep_times(times), 0);
	assert_int_equal(slice_merge(times, fake.profile), 0);
	assert_string_equal(leaf_of(times, moment_of(times, PKBPF_PROFILE_CPU, 1)), "serve");
	assert_int_equal(moment_of(times, PKBPF_PROFILE_OFFCPU, 1)->begin_ns, WAIT_BEGIN_NS);
	profile_free(sums);
	profile_free(times);
	fake_profile_done(&fake);
	fake_machine_free(machine);
}

static void a_broken_record_of_a_wait_is_counted(void **state)
{
	struct fake_machine *machine = fake_machine_new();
	struct pkbpf_event_wait broken = wait;
	struct fake_profile fake;
	struct event_sink sink;

	play(&fake, machine);
	sink = aggregator_sink(fake.aggregator);
	broken.state = PKBPF_WAIT_STATES;
	sink.ops->on_other(sink.context, &broken.header);
	broken.header.size = sizeof(broken) - 8;
	sink.ops->on_other(sink.context, &broken.header);
	assert_int_equal(profile_info_read(fake.profile)->counters[PKBPF_COUNTER_LOST_MALFORMED],
			 2);
	moment_of(fake.profile, PKBPF_PROFILE_OFFCPU, 1);
	fake_profile_done(&fake);
	fake_machine_free(machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(single_events_come_back_from_a_recording),
		cmocka_unit_test(a_choice_of_kinds_leaves_others_out),
		cmocka_unit_test(merged_slices_keep_events_where_times_are_shown),
		cmocka_unit_test(a_broken_record_of_a_wait_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
