/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that uses a GPU, for tests of the rules about GPUs. One file includes it. */
#ifndef PKBPF_GPU_FINDING_FIXTURE_H
#define PKBPF_GPU_FINDING_FIXTURE_H

#include <stdio.h>
#include <string.h>

#include "account_machine.h"
#include "event/gpu_call_event.h"
#include "finding_fixture.h"

#define MS     1000000ULL
#define SECOND 1000000000ULL
#define GIB    (1ULL << 30)
#define PID    5
#define KINDS  (1U << PKBPF_PROFILE_CPU | 1U << PKBPF_PROFILE_OFFCPU)
#define NAME   "train"

static struct fake_profile fake;
static uint64_t run_leaf = ACCOUNT_APPEND;

/* A program that computes for so long, as many samples in a call that waits for a GPU, and sleeps
 * there; the rest it waits for a disk. */
static inline void begin(uint64_t run_ns, uint64_t spin_ns, uint64_t sleep_ns, uint64_t disk_ns)
{
	account_begin(&fake, KINDS, 5 * SECOND, 15 * SECOND);
	profile_info(fake.profile)->has_targets = true;
	account_process(&fake, &(struct account_process){
				       .pid = PID, .comm = NAME, .run_ns = run_ns + spin_ns});
	account_on_cpu(&fake, PID, NAME, run_ns + spin_ns);
	account_samples(&fake, PID, NAME, run_ns / (10 * MS) * 99 / 100,
			FAKE_IPS(run_leaf, ACCOUNT_MAIN));
	account_samples(&fake, PID, NAME, spin_ns / (10 * MS) * 99 / 100,
			FAKE_IPS(ACCOUNT_GPU_WAIT, ACCOUNT_QUERY, ACCOUNT_MAIN));
	if (sleep_ns)
		account_waits(&fake, PID, NAME, PKBPF_WAIT_SLEEP, 100, sleep_ns / 100, 1,
			      FAKE_IPS(ACCOUNT_FUTEX), FAKE_IPS(ACCOUNT_GPU_WAIT, ACCOUNT_MAIN));
	if (disk_ns)
		account_waits(&fake, PID, NAME, PKBPF_WAIT_DISK, 100, disk_ns / 100, 2,
			      FAKE_IPS(ACCOUNT_IO_SLEEP), FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
}

static inline struct gpu_device device_of(const char *id, unsigned int busy_percent)
{
	struct gpu_device device = {.busy_ns = busy_percent * SECOND / 10,
				    .busy_of_ns = 10 * SECOND};

	snprintf(device.id, sizeof(device.id), "%s", id);
	snprintf(device.driver, sizeof(device.driver), "nvidia");
	return device;
}

static inline void add_device(struct gpu_device device)
{
	assert_true(gpu_list_add_device(profile_gpus(fake.profile), &device) >= 0);
}

static inline void add_user(uint32_t pid, uint64_t busy_ns, uint64_t memory)
{
	struct gpu_process process = {.pid = pid,
				      .busy_ns = busy_ns,
				      .busy_of_ns = 10 * SECOND,
				      .begin_ns = ACCOUNT_START_NS,
				      .end_ns = ACCOUNT_START_NS + 10 * SECOND,
				      .memory_kib = {memory >> 10, 1},
				      .memory_peak = memory};

	strcpy(process.comm, NAME);
	assert_int_equal(gpu_list_add_process(profile_gpus(fake.profile), &process), 0);
}

static inline void send_call(const char *function, struct pkbpf_event_gpu_call call)
{
	struct event_sink sink = aggregator_sink(fake.aggregator);

	call.header.kind = PKBPF_EVENT_GPU_CALL;
	call.header.size = sizeof(call);
	call.header.time_ns = ACCOUNT_START_NS + SECOND;
	call.pid = PID;
	strcpy(call.function, function);
	strcpy(call.comm, NAME);
	assert_int_equal(gpu_call_event_check(&call.header), 0);
	sink.ops->on_other(sink.context, &call.header);
}

static inline struct findings end(void)
{
	account_end(&fake);
	return findings_of(&fake);
}

static inline void assert_says(const struct findings *findings, const char *rule, const char *words)
{
	const struct finding *finding = finding_of(findings, rule);

	if (!finding)
		fail_msg("no finding %s", rule);
	else if (!strstr(finding->text, words))
		fail_msg("'%s' is not in: %s", words, finding->text);
}

#endif
