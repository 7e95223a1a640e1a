// SPDX-License-Identifier: BSD-2-Clause
/* Tests for event/gpu_call_event: what is encoded is accepted, and what cannot be is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "event/gpu_call_event.h"

static struct pkbpf_event_gpu_call example(void)
{
	return (struct pkbpf_event_gpu_call){
		.header = {.size = sizeof(struct pkbpf_event_gpu_call), .time_ns = 77},
		.pid = 5,
		.group = PKBPF_GPU_COPY,
		.what = PKBPF_GPU_SUM,
		.count = 3,
		.unmeasured = 1,
		.bytes = 4096,
		.comm = "sixteen letters!",
		.function = "cudaMemcpy",
	};
}

static void a_record_comes_back(void **state)
{
	struct pkbpf_event_gpu_call call = example();
	const struct pkbpf_event_gpu_call *record;
	struct event_buffer buffer = {0};

	assert_int_equal(gpu_call_event_encode(&buffer, &call), 0);
	record = (const void *)buffer.data;
	assert_int_equal(buffer.size, sizeof(*record));
	assert_int_equal(record->header.kind, PKBPF_EVENT_GPU_CALL);
	assert_int_equal(record->header.time_ns, 77);
	assert_int_equal(record->bytes, 4096);
	assert_string_equal(record->function, "cudaMemcpy");
	assert_int_equal(gpu_call_event_check(&record->header), 0);
	event_buffer_done(&buffer);
	(void)state;
}

static void what_cannot_be_is_refused(void **state)
{
	struct pkbpf_event_gpu_call call = example();

	assert_int_equal(gpu_call_event_check(&call.header), 0);
	call.header.size--;
	assert_int_equal(gpu_call_event_check(&call.header), -EBADMSG);
	call = example();
	call.group = 0;
	assert_int_equal(gpu_call_event_check(&call.header), -EBADMSG);
	call.group = PKBPF_GPU_NAME;
	assert_int_equal(gpu_call_event_check(&call.header), -EBADMSG);
	call = example();
	call.what = PKBPF_GPU_WHATS;
	assert_int_equal(gpu_call_event_check(&call.header), -EBADMSG);
	call = example();
	call.unmeasured = 4;
	assert_int_equal(gpu_call_event_check(&call.header), -EBADMSG);
	call = example();
	call.function[0] = '\0';
	assert_int_equal(gpu_call_event_check(&call.header), -EBADMSG);
	memset(call.function, 'x', sizeof(call.function));
	assert_int_equal(gpu_call_event_check(&call.header), -EBADMSG);
	call = example();
	memset(call.kernel, 'x', sizeof(call.kernel));
	assert_int_equal(gpu_call_event_check(&call.header), -EBADMSG);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_comes_back),
		cmocka_unit_test(what_cannot_be_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
