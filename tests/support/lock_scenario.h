/* SPDX-License-Identifier: BSD-2-Clause */
/* A server with a contended mutex, 7/10 of the time held by list_append() in a disk wait, another
 * program with a rwlock, and waits to be signalled. */
#ifndef PKBPF_TEST_LOCK_SCENARIO_H
#define PKBPF_TEST_LOCK_SCENARIO_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "account_machine.h"
#include "event/decoder.h"
#include "event/lock_event.h"

#define PID	100
#define OTHER	101
#define ADDRESS 0x1000
#define LOCK_MS 1000000ULL
#define SITE	1
#define HOLDER	2

static inline void lock_play(struct fake_profile *fake, struct event_buffer *buffer)
{
	struct event_sink sink = aggregator_sink(fake->aggregator);

	for (size_t offset = 0; offset < buffer->size;) {
		int used = event_decode(buffer->data + offset, buffer->size - offset, &sink);

		assert_true(used > 0);
		offset += (size_t)used;
	}
	event_buffer_done(buffer);
}

static inline void send_stack(struct fake_profile *fake, uint64_t stack_id, struct fake_ips user)
{
	struct stack_view stack = {.stack_id = stack_id,
				   .pid = PID,
				   .user_end = PKBPF_END_ROOT,
				   .user_ips = user.items,
				   .user_count = user.count};
	struct event_buffer buffer = {0};

	assert_int_equal(event_encode_stack(&buffer, ACCOUNT_START_NS + 1, &stack), 0);
	lock_play(fake, &buffer);
}

/* Waits of 1 ms each at a lock. name: of its symbol. */
static inline void send_lock(struct fake_profile *fake, uint32_t pid, uint64_t address,
			     uint32_t class, uint64_t waits, const char *name)
{
	struct pkbpf_event_lock lock = {
		.header.time_ns = ACCOUNT_START_NS + 2,
		.address = address,
		.pid = pid,
		.class = class,
		.max_waiters = 3,
		.waits = waits,
		.wait_ns = waits * LOCK_MS,
		.queue_ns = waits,
		.max_ns = LOCK_MS,
		.n_buckets = 1,
	};
	struct pkbpf_histogram_bucket bucket = {
		pkbpf_histogram_index(LOCK_MS) >> PKBPF_LOCK_BUCKET_SHIFT, (uint32_t)waits};
	struct event_buffer buffer = {0};

	strcpy(lock.name, name);
	assert_int_equal(lock_event_encode(&buffer, &lock, &bucket), 0);
	lock_play(fake, &buffer);
}

static inline void send_part(struct fake_profile *fake, uint32_t kind, uint64_t stack_id,
			     uint32_t state, uint64_t ns)
{
	struct pkbpf_event_lock_part part = {
		.header.time_ns = ACCOUNT_START_NS + 2,
		.address = ADDRESS,
		.lock_pid = PID,
		.class = PKBPF_LOCK_MUTEX,
		.stack_id = stack_id,
		.pid = kind == PKBPF_LOCK_HOLDER && state != PKBPF_LOCK_HAND_OVER ? PID : 0,
		.tid = kind == PKBPF_LOCK_HOLDER && state != PKBPF_LOCK_HAND_OVER ? PID + 1 : 0,
		.kind = kind,
		.state = state,
		.count = 1,
		.ns = ns,
		.comm = "worker",
	};
	struct event_buffer buffer = {0};

	assert_int_equal(lock_part_event_encode(&buffer, &part), 0);
	lock_play(fake, &buffer);
}

/* name: symbol of the mutex; "": none. For fake_profile_done(). */
static inline void lock_scenario(struct fake_profile *fake, const char *name)
{
	account_begin(fake, 1U << PKBPF_PROFILE_OFFCPU | 1U << PKBPF_PROFILE_LOCKS, 5000000000,
		      15000000000);
	account_process(fake, &(struct account_process){
				      .pid = PID, .comm = "server", .run_ns = 4000000000});
	account_process(fake, &(struct account_process){
				      .pid = OTHER, .comm = "other", .run_ns = 1000000000});
	send_stack(fake, SITE, FAKE_IPS(ACCOUNT_LOCK, ACCOUNT_QUERY, ACCOUNT_MAIN));
	send_stack(fake, HOLDER, FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_MAIN));
	send_lock(fake, PID, ADDRESS, PKBPF_LOCK_MUTEX, 10, name);
	send_part(fake, PKBPF_LOCK_SITE, SITE, 0, 10 * LOCK_MS);
	send_part(fake, PKBPF_LOCK_HOLDER, HOLDER, PKBPF_WAIT_DISK, 7 * LOCK_MS);
	send_part(fake, PKBPF_LOCK_HOLDER, 0, PKBPF_WAIT_NONE, 2 * LOCK_MS);
	send_part(fake, PKBPF_LOCK_HOLDER, 0, PKBPF_LOCK_HAND_OVER, 1 * LOCK_MS);
	send_lock(fake, OTHER, ADDRESS, PKBPF_LOCK_RWLOCK, 2, "");
	send_lock(fake, PID, 0, PKBPF_LOCK_SIGNAL, 4, "");
	account_end(fake);
}

#endif
