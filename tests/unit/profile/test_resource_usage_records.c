// SPDX-License-Identifier: BSD-2-Clause
/* Tests what the account of resources knows beside the numbers of threads, and which records it
 * refuses. */
#include "resource_usage_fixture.h"

static void feed_limit(struct resource_usage *usage, struct cgroup_limit_view view)
{
	struct event_buffer buffer = {0};

	view.quota_ns = 50;
	view.period_ns = 100;
	assert_int_equal(cgroup_limit_event_encode(&buffer, &view), 0);
	assert_int_equal(feed(usage, &buffer), 0);
	event_buffer_done(&buffer);
}

static void cgroups_have_names(void **state)
{
	struct resource_usage *usage = *state;
	struct event_buffer buffer = {0};

	assert_int_equal(cgroup_event_encode(&buffer, 1, 42, "/system.slice/x.service"), 0);
	assert_int_equal(cgroup_event_encode(&buffer, 1, 42, "not/absolute"), -22);
	assert_int_equal(feed(usage, &buffer), 0);
	event_buffer_done(&buffer);
	assert_string_equal(resource_usage_cgroup(usage, 42), "/system.slice/x.service");
	assert_null(resource_usage_cgroup(usage, 43));
}

static void limits_of_cpu_time_count_what_is_of_the_interval(void **state)
{
	struct resource_usage *usage = *state;
	struct resource_cgroup_limit limit;

	feed_limit(usage, (struct cgroup_limit_view){.moment = START,
						     .cgroup_id = 1,
						     .path = "/old",
						     .periods = 10,
						     .throttled_periods = 4,
						     .throttled_ns = 7});
	feed_limit(usage, (struct cgroup_limit_view){
				  .moment = START, .cgroup_id = 2, .path = "/gone", .periods = 10});
	feed_limit(usage, (struct cgroup_limit_view){.moment = END,
						     .cgroup_id = 1,
						     .path = "/old",
						     .periods = 16,
						     .throttled_periods = 9,
						     .throttled_ns = 57});
	feed_limit(usage, (struct cgroup_limit_view){.moment = END,
						     .cgroup_id = 3,
						     .path = "/made/inside",
						     .periods = 5,
						     .throttled_periods = 5,
						     .throttled_ns = 6});
	assert_int_equal(resource_usage_cgroup_limit_count(usage), 3);
	assert_true(resource_usage_cgroup_limit(usage, 0, &limit));
	assert_string_equal(limit.path, "/old");
	assert_int_equal(limit.periods, 6);
	assert_int_equal(limit.throttled_periods, 5);
	assert_int_equal(limit.throttled_ns, 50);
	assert_false(resource_usage_cgroup_limit(usage, 1, &limit));
	assert_true(resource_usage_cgroup_limit(usage, 2, &limit));
	assert_string_equal(limit.path, "/made/inside");
	assert_int_equal(limit.periods, 5);
	assert_int_equal(limit.quota_ns, 50);
}

static void recordings_without_the_time_of_all_threads_do_not_know_it(void **state)
{
	struct resource_usage *usage = *state;
	struct pkbpf_event_machine machine = {.header = {.size = sizeof(machine),
							 .kind = PKBPF_EVENT_MACHINE,
							 .flags = START,
							 .time_ns = START_NS},
					      .user_ns = 100,
					      .threads_ns = 50};

	assert_int_equal(resource_usage_feed(usage, &machine.header), 0);
	machine.header.flags = END;
	machine.header.time_ns = END_NS;
	machine.user_ns = 300;
	machine.threads_ns = 170;
	assert_int_equal(resource_usage_feed(usage, &machine.header), 0);
	assert_int_equal(resource_usage_machine(usage).threads_ns, 120);
	machine.header.size = offsetof(struct pkbpf_event_machine, threads_ns);
	assert_int_equal(resource_usage_feed(usage, &machine.header), 0);
	assert_int_equal(resource_usage_machine(usage).busy_ns, 200);
	assert_int_equal(resource_usage_machine(usage).threads_ns, 0);
	machine.header.size -= 8;
	assert_int_equal(resource_usage_feed(usage, &machine.header), -74);
}

static void read_cpus(struct resource_usage *usage, unsigned int moment, uint64_t busy_ns,
		      uint64_t idle_ns, uint64_t cpu_count)
{
	struct pkbpf_event_machine machine = {
		.header = {.size = sizeof(machine),
			   .kind = PKBPF_EVENT_MACHINE,
			   .flags = (uint16_t)moment,
			   .time_ns = moment == START ? START_NS : END_NS},
		.user_ns = busy_ns,
		.idle_ns = idle_ns,
		.cpu_count = cpu_count,
	};

	assert_int_equal(resource_usage_feed(usage, &machine.header), 0);
}

static void cpus_that_are_offline_have_no_time(void **state)
{
	const uint64_t length_ns = END_NS - START_NS;
	struct resource_usage *usage = *state;
	struct resource_machine machine;

	read_cpus(usage, START, 0, 0, 1);
	read_cpus(usage, END, 0, length_ns, 1);
	machine = resource_usage_machine(usage);
	assert_int_equal(machine.cpu_ns, length_ns);
	assert_int_equal(resource_machine_cpu_ns(&machine, 4), length_ns);
	read_cpus(usage, END, 0, length_ns, 0);
	machine = resource_usage_machine(usage);
	assert_int_equal(resource_machine_cpu_ns(&machine, 4), 4 * length_ns);
}

static void idle_time_that_jumps_with_the_cpus_is_what_is_left(void **state)
{
	const uint64_t length_ns = END_NS - START_NS;
	struct resource_usage *usage = *state;

	read_cpus(usage, START, 0, 1000 * length_ns, 4);
	read_cpus(usage, END, length_ns, 0, 2);
	assert_int_equal(resource_usage_machine(usage).cpu_ns, 3 * length_ns);
	assert_int_equal(resource_usage_machine(usage).idle_ns, 2 * length_ns);
}

static void times_of_cpus_add_up_if_all_are_known(void **state)
{
	struct resource_machine machine = {.known = true, .elapsed_ns = 10, .cpu_ns = 40};
	struct resource_usage *usage = *state;

	resource_usage_put_machine(usage, &machine);
	machine.cpu_ns = 20;
	resource_usage_put_machine(usage, &machine);
	assert_int_equal(resource_usage_machine(usage).cpu_ns, 60);
	machine.cpu_ns = 0;
	resource_usage_put_machine(usage, &machine);
	assert_int_equal(resource_usage_machine(usage).cpu_ns, 0);
}

static void a_process_that_was_killed_for_want_of_memory_counts_once(void **state)
{
	struct resource_usage *usage = *state;
	struct event_buffer buffer = {0};

	feed_machine(usage, START, 0);
	for (uint32_t tid = 9; tid <= 10; tid++)
		feed_thread(usage, (struct resource_view){.moment = EXIT,
							  .oom_killed = true,
							  .pid = 9,
							  .tid = tid,
							  .process_start_ns = START_NS,
							  .thread_start_ns = START_NS + tid});
	feed_thread(usage, (struct resource_view){
				   .moment = EXIT, .pid = 11, .process_start_ns = START_NS});
	feed_machine(usage, END, 0);
	assert_int_equal(resource_usage_process(usage, 0).oom_killed, 1);
	assert_int_equal(resource_usage_process(usage, 1).oom_killed, 0);
	/* Who lives was not. */
	assert_int_equal(resource_event_encode(&buffer, &(struct resource_view){.moment = END,
										.oom_killed = true,
										.pid = 9}),
			 0);
	assert_int_equal(feed(usage, &buffer), -74);
	event_buffer_done(&buffer);
}

static void feed_slices(struct resource_slices *slices, enum pkbpf_resource_moment moment,
			uint32_t pid)
{
	struct resource_view view = {.moment = moment,
				     .pid = pid,
				     .tid = pid,
				     .process_start_ns = pid,
				     .thread_start_ns = pid,
				     .time_ns = START_NS,
				     .comm = "app"};
	struct pkbpf_event_machine machine = {
		.header = {.flags = (uint16_t)moment, .time_ns = START_NS}, .memory_bytes = 4096};
	struct event_buffer buffer = {0};

	assert_int_equal(pid ? resource_event_encode(&buffer, &view)
			     : machine_event_encode(&buffer, &machine),
			 0);
	assert_int_equal(resource_usage_feed_slices(slices, (const void *)buffer.data), 0);
	event_buffer_done(&buffer);
}

/* The reading at each cut has those that live. */
static void bystanders_that_are_not_read_any_more_are_forgotten(void **state)
{
	struct resource_usage *first = *state, *slice = first;
	struct resource_slices slices = {.running = slice};

	feed_slices(&slices, PKBPF_RESOURCE_BYSTANDER, 7);
	feed_slices(&slices, PKBPF_RESOURCE_BYSTANDER, 8);
	for (unsigned int cut = 0; cut < 4; cut++) {
		slices.closing = slice;
		slices.running = resource_usage_new();
		assert_int_equal(resource_usage_follow(slices.running, slice), 0);
		feed_slices(&slices, PKBPF_RESOURCE_BYSTANDER, 7);
		feed_slices(&slices, PKBPF_RESOURCE_CUT, 0);
		assert_int_equal(resource_usage_close(&slices), 0);
		if (slice != first)
			resource_usage_free(slice);
		slice = slices.running;
	}
	assert_int_equal(resource_usage_process_count(slice), 1);
	resource_usage_free(slice);
}

static void malformed_records_are_refused(void **state)
{
	struct resource_usage *usage = *state;
	struct pkbpf_event_header resource = {
		.size = 24, .kind = PKBPF_EVENT_RESOURCE, .flags = START};
	struct pkbpf_event_machine machine = {
		.header = {.size = sizeof(machine), .kind = PKBPF_EVENT_MACHINE, .flags = 9}};
	struct event_buffer buffer = {0};
	struct pkbpf_event_cgroup_limit *limit;
	struct pkbpf_event_cgroup *cgroup;
	struct event_buffer limits = {0};

	for (int wrong = 0; wrong < 4; wrong++) {
		event_buffer_clear(&limits);
		assert_int_equal(cgroup_limit_event_encode(
					 &limits, &(struct cgroup_limit_view){.moment = START,
									      .quota_ns = 1,
									      .period_ns = 1,
									      .path = "/notend"}),
				 0);
		limit = (void *)limits.data;
		limit->path[7] = wrong == 0 ? 'x' : '\0';
		limit->path[0] = wrong == 1 ? 'x' : '/';
		limit->period_ns = wrong != 2;
		limit->header.flags = wrong == 3 ? EXIT : START;
		assert_int_equal(resource_usage_feed(usage, &limit->header), -74);
	}
	event_buffer_done(&limits);
	assert_int_equal(cgroup_event_encode(&buffer, 1, 42, "/notend"), 0);
	cgroup = (void *)buffer.data;
	cgroup->path[7] = 'x';
	assert_int_equal(resource_usage_feed(usage, &resource), -74);
	assert_int_equal(resource_usage_feed(usage, &machine.header), -74);
	assert_int_equal(resource_usage_feed(usage, &cgroup->header), -74);
	event_buffer_done(&buffer);
	assert_false(resource_usage_known(usage));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(cgroups_have_names),
		TEST(limits_of_cpu_time_count_what_is_of_the_interval),
		TEST(recordings_without_the_time_of_all_threads_do_not_know_it),
		TEST(cpus_that_are_offline_have_no_time),
		TEST(idle_time_that_jumps_with_the_cpus_is_what_is_left),
		TEST(times_of_cpus_add_up_if_all_are_known),
		TEST(a_process_that_was_killed_for_want_of_memory_counts_once),
		TEST(bystanders_that_are_not_read_any_more_are_forgotten),
		TEST(malformed_records_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
