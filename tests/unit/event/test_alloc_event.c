// SPDX-License-Identifier: BSD-2-Clause
#include "event/alloc_event.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct alloc_view example = {
	.time_ns = 5,
	.stack_id = 6,
	.pid = 100,
	.tid = 101,
	.cgroup_id = 7,
	.address = 0x1000,
	.size = 100,
	.weight = 65586,
	.comm = "server",
};

static void allocations_come_back_as_they_were(void **state)
{
	struct event_buffer buffer = {0};
	struct alloc_view view;

	assert_int_equal(alloc_event_encode(&buffer, &example), 0);
	assert_int_equal(alloc_event_decode((const void *)buffer.data, &view), 0);
	/* What follows in the last word is nobody's. */
	assert_memory_equal(&view, &example, offsetof(struct alloc_view, comm) + sizeof(view.comm));
	event_buffer_done(&buffer);
}

static void frees_come_back_as_they_were(void **state)
{
	const struct free_view free = {.time_ns = 5, .pid = 100, .tid = 101, .address = 0x1000};
	struct event_buffer buffer = {0};
	struct free_view view;

	assert_int_equal(free_event_encode(&buffer, &free), 0);
	assert_int_equal(free_event_decode((const void *)buffer.data, &view), 0);
	assert_memory_equal(&view, &free, sizeof(view));
	assert_int_equal(alloc_event_decode((const void *)buffer.data, &(struct alloc_view){0}),
			 -EBADMSG);
	event_buffer_done(&buffer);
}

/* Its weight follows from the mean distance of samples. */
static void calls_in_windows_have_a_weight_but_no_address(void **state)
{
	struct pkbpf_event_alloc call = {
		.header = {.kind = PKBPF_EVENT_ALLOC,
			   .flags = PKBPF_ALLOC_CALL,
			   .size = sizeof(call)},
		.size = 100,
		.weight = 16384,
	};
	struct alloc_view view;

	assert_int_equal(alloc_event_decode(&call.header, &view), 0);
	assert_int_equal(view.address, 0);
	assert_in_range(view.weight, 16384 + 50 - 2, 16384 + 50 + 2);
	call.size = 1 << 20;
	assert_int_equal(alloc_event_decode(&call.header, &view), 0);
	assert_int_equal(view.weight, 1 << 20);
	call.weight = 0;
	assert_int_equal(alloc_event_decode(&call.header, &view), -EBADMSG);
	call.weight = 16384;
	call.address = 0x1000;
	assert_int_equal(alloc_event_decode(&call.header, &view), -EBADMSG);
}

static void refuse(struct alloc_view view)
{
	struct event_buffer buffer = {0};

	assert_int_equal(alloc_event_encode(&buffer, &view), 0);
	assert_int_equal(alloc_event_decode((const void *)buffer.data, &view), -EBADMSG);
	event_buffer_done(&buffer);
}

/* The values come from the profiled program. */
static void what_no_allocator_gives_is_refused(void **state)
{
	struct alloc_view view = example;

	view.address = 0;
	refuse(view);
	view = example;
	view.size = 0;
	refuse(view);
	view.size = view.weight + 1;
	refuse(view);
	view.size = view.weight = UINT64_MAX;
	refuse(view);
}

static void short_records_are_refused(void **state)
{
	struct pkbpf_event_header header = {.size = sizeof(header), .kind = PKBPF_EVENT_ALLOC};

	assert_int_equal(alloc_event_decode(&header, &(struct alloc_view){0}), -EBADMSG);
	header.kind = PKBPF_EVENT_FREE;
	assert_int_equal(free_event_decode(&header, &(struct free_view){0}), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_in_windows_have_a_weight_but_no_address),
		cmocka_unit_test(allocations_come_back_as_they_were),
		cmocka_unit_test(frees_come_back_as_they_were),
		cmocka_unit_test(what_no_allocator_gives_is_refused),
		cmocka_unit_test(short_records_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
