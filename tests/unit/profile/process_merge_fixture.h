/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes that come, are measured and end, and the sums of what is told of them after they have
 * been put in groups. */
#ifndef PKBPF_TEST_PROCESS_MERGE_FIXTURE_H
#define PKBPF_TEST_PROCESS_MERGE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pkbpf/offcpu.h>

#include "event/resource_event.h"
#include "fake_profile.h"
#include "profile/shrink/process_merge.h"

#define SERVER	 "/usr/bin/server"
#define CGROUP	 7
#define LATER_NS (60 * 1000000000ULL)

struct fixture {
	struct fake_machine *machine;
	struct fake_profile fake;
	struct event_sink sink;
};

static inline void add_machine(struct fixture *fixture, enum pkbpf_resource_moment moment,
			       uint64_t time_ns)
{
	struct pkbpf_event_machine machine = {
		.header = {.flags = (uint16_t)moment, .time_ns = time_ns}};
	struct event_buffer buffer = {0};

	assert_int_equal(machine_event_encode(&buffer, &machine), 0);
	fixture->sink.ops->on_other(fixture->sink.context, (const void *)buffer.data);
	event_buffer_done(&buffer);
}

static inline int setup_with(void **state, const struct aggregator_options *options)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->machine = fake_machine_new();
	fake_profile_init(&fixture->fake, options);
	fixture->fake.symbolizer = fake_symbols_new(NULL, 0, fixture->fake.processes);
	fixture->sink = aggregator_sink(fixture->fake.aggregator);
	fake_process(fixture->machine, 1, 0, "init");
	fake_process(fixture->machine, 50, 1, "server");
	fake_play_new(fixture->machine, &fixture->sink);
	add_machine(fixture, PKBPF_RESOURCE_START, FAKE_START_NS);
	*state = fixture;
	return 0;
}

static inline int setup(void **state)
{
	return setup_with(state, NULL);
}

static inline int teardown(void **state)
{
	struct fixture *fixture = *state;

	fake_machine_free(fixture->machine);
	fake_profile_done(&fixture->fake);
	free(fixture);
	return 0;
}

static inline void play(struct fixture *fixture)
{
	fake_play_new(fixture->machine, &fixture->sink);
}

static inline void add_final(struct fixture *fixture, enum pkbpf_resource_moment moment,
			     uint32_t pid, const char *comm, uint64_t start_ns)
{
	struct resource_view view = {.moment = moment,
				     .time_ns = fake_machine_now_ns(fixture->machine),
				     .pid = pid,
				     .tid = pid,
				     .process_start_ns = start_ns,
				     .thread_start_ns = start_ns,
				     .cgroup_id = CGROUP,
				     .counters = {.run_ns = 1000}};
	struct event_buffer buffer = {0};

	snprintf(view.comm, sizeof(view.comm), "%s", comm);
	assert_int_equal(resource_event_encode(&buffer, &view), 0);
	fixture->sink.ops->on_other(fixture->sink.context, (const void *)buffer.data);
	event_buffer_done(&buffer);
}

static inline void add_account(struct fixture *fixture, uint32_t pid, const char *comm,
			       uint64_t start_ns)
{
	add_final(fixture, PKBPF_RESOURCE_EXIT, pid, comm, start_ns);
}

static inline void add_sample(struct fixture *fixture, uint32_t pid, uint64_t address)
{
	struct sample_view sample = {.pid = pid,
				     .tid = pid,
				     .cgroup_id = CGROUP,
				     .user_end = PKBPF_END_ROOT,
				     .count = 1,
				     .weight = 1,
				     .user_ips = &address,
				     .user_count = 1};

	fixture->sink.ops->on_sample(fixture->sink.context, &sample);
}

/* Waits of 100 ns each, with a stack of their own. */
static inline void add_waits(struct fixture *fixture, uint32_t pid, const char *comm,
			     uint64_t count)
{
	struct pkbpf_histogram_bucket bucket = {pkbpf_histogram_index(100), (uint32_t)count};
	uint64_t address = 0x400000 + pid;
	struct stack_view stack = {.stack_id = pid,
				   .pid = pid,
				   .user_end = PKBPF_END_ROOT,
				   .user_ips = &address,
				   .user_count = 1};
	struct totals_view totals = {.pid = pid,
				     .tid = pid,
				     .kind = PKBPF_PROFILE_OFFCPU,
				     .state = PKBPF_WAIT_SLEEP,
				     .cgroup_id = CGROUP,
				     .stack_id = pid,
				     .count = count,
				     .total = 100 * count,
				     .max = 100,
				     .buckets = &bucket,
				     .bucket_count = 1};

	snprintf(totals.comm, sizeof(totals.comm), "%s", comm);
	fixture->sink.ops->on_stack(fixture->sink.context, &stack);
	fixture->sink.ops->on_totals(fixture->sink.context, &totals);
}

static inline void begin_process(struct fixture *fixture, uint32_t pid, const char *comm)
{
	fake_fork(fixture->machine, 1, pid);
	fake_exec(fixture->machine, pid, comm);
	fake_map(fixture->machine, pid, 0x400000, 0x500000, 0x1000, SERVER);
	play(fixture);
}

/* Lives, is sampled, waits three times and ends. */
static inline void run_process(struct fixture *fixture, uint32_t pid, const char *comm)
{
	uint64_t start_ns = fake_machine_now_ns(fixture->machine);

	begin_process(fixture, pid, comm);
	add_sample(fixture, pid, 0x400100);
	add_waits(fixture, pid, comm, 3);
	fake_exit(fixture->machine, pid, pid);
	play(fixture);
	add_account(fixture, pid, comm, start_ns);
}

static inline void let_time_pass(struct fixture *fixture)
{
	fake_machine_at(fixture->machine, fake_machine_now_ns(fixture->machine) + LATER_NS);
	fake_comm(fixture->machine, 1, 1, "init");
	play(fixture);
}

/* Until now. */
static inline void merge(struct fixture *fixture)
{
	uint32_t *numbers = NULL;

	assert_int_equal(profile_merge_processes(fixture->fake.profile,
						 fake_machine_now_ns(fixture->machine), &numbers),
			 0);
	assert_non_null(numbers);
	free(numbers);
}

struct sums {
	size_t rows, processes;
	uint64_t samples, waited_ns, members;
};

static inline struct sums sums_of(const struct fixture *fixture, const char *comm)
{
	size_t count;
	const struct profile_row *rows = profile_rows(fixture->fake.profile, &count);
	struct sums sums = {0};

	for (size_t i = 0; i < count; i++) {
		const struct process *process =
			process_table_by_id(fixture->fake.processes, rows[i].process);

		assert_non_null(process);
		if (strcmp(process->comm, comm) != 0)
			continue;
		sums.rows++;
		sums.samples += rows[i].kind == PKBPF_PROFILE_CPU ? rows[i].weight : 0;
		sums.waited_ns += rows[i].kind == PKBPF_PROFILE_OFFCPU ? rows[i].weight : 0;
	}
	for (uint32_t id = 0; id < process_table_count(fixture->fake.processes); id++) {
		const struct process *process = process_table_by_id(fixture->fake.processes, id);

		sums.processes += process && strcmp(process->comm, comm) == 0;
		sums.members += process && strcmp(process->comm, comm) == 0 ? process->members : 0;
	}
	return sums;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
