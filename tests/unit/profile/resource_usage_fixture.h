/* SPDX-License-Identifier: BSD-2-Clause */
/* An account of resources, and the records that it is made of. */
#ifndef PKBPF_TEST_RESOURCE_USAGE_FIXTURE_H
#define PKBPF_TEST_RESOURCE_USAGE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "event/resource_event.h"
#include "profile/account/resource_usage.h"

#define START_NS 1000000000ULL
#define END_NS	 2000000000ULL

static inline int setup(void **state)
{
	*state = resource_usage_new();
	return *state ? 0 : -1;
}

static inline int teardown(void **state)
{
	resource_usage_free(*state);
	return 0;
}

static inline int feed(struct resource_usage *usage, const struct event_buffer *buffer)
{
	int err = 0;

	for (size_t at = 0; at < buffer->size && !err;) {
		const struct pkbpf_event_header *header = (const void *)(buffer->data + at);

		err = resource_usage_feed(usage, header);
		at += header->size;
	}
	return err;
}

static inline void feed_machine(struct resource_usage *usage, enum pkbpf_resource_moment moment,
				uint64_t busy_ns)
{
	struct pkbpf_event_machine machine = {
		.header = {.flags = (uint16_t)moment,
			   .time_ns = moment == PKBPF_RESOURCE_START ? START_NS : END_NS},
		.user_ns = busy_ns,
		.memory_bytes = 4096,
	};
	struct event_buffer buffer = {0};

	assert_int_equal(machine_event_encode(&buffer, &machine), 0);
	assert_int_equal(feed(usage, &buffer), 0);
	event_buffer_done(&buffer);
}

static inline void feed_thread(struct resource_usage *usage, struct resource_view view)
{
	struct event_buffer buffer = {0};

	if (!view.tid)
		view.tid = view.pid;
	if (!view.thread_start_ns)
		view.thread_start_ns = view.process_start_ns;
	if (!view.time_ns)
		view.time_ns = view.moment == PKBPF_RESOURCE_START ? START_NS + 1 : END_NS + 1;
	if (!view.comm[0])
		strcpy(view.comm, "app");
	assert_int_equal(resource_event_encode(&buffer, &view), 0);
	assert_int_equal(feed(usage, &buffer), 0);
	event_buffer_done(&buffer);
}

#define START PKBPF_RESOURCE_START
#define END   PKBPF_RESOURCE_END
#define EXIT  PKBPF_RESOURCE_EXIT

#endif
