// SPDX-License-Identifier: BSD-2-Clause
/* Tests for event/recorder: the bytes of a stream, errors of the stream. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/encoder.h"
#include "recorder.h"

static void stream_is_its_header_and_the_records_as_they_are(void **state)
{
	struct event_buffer buffer = {0};
	struct task_view task = {.kind = PKBPF_EVENT_EXIT, .pid = 1, .tid = 1, .time_ns = 5};
	char *data = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&data, &size);

	assert_int_equal(event_encode_task(&buffer, &task), 0);
	assert_int_equal(event_encode_task(&buffer, &task), 0);
	assert_int_equal(recorder_begin(out), 0);
	assert_int_equal(recorder_write(out, buffer.data, buffer.size), 0);
	fclose(out);
	assert_int_equal(size, 16 + buffer.size);
	assert_memory_equal(data, "PKBPFEVT\x02\0\0\0\0\0\0\0", 16);
	assert_memory_equal(data + 16, buffer.data, buffer.size);
	free(data);
	event_buffer_done(&buffer);
}

static void refuses_bytes_that_would_make_the_rest_unreadable(void **state)
{
	struct pkbpf_event_header header = {.size = 24, .kind = 2};
	char *data = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&data, &size);

	assert_int_equal(recorder_write(out, &header, sizeof(header)), -EBADMSG);
	assert_int_equal(recorder_write(out, &header, 5), -EBADMSG);
	fclose(out);
	assert_int_equal(size, 0);
	free(data);
}

static void reports_a_full_disk(void **state)
{
	FILE *out = fopen("/dev/full", "w");

	assert_non_null(out);
	setvbuf(out, NULL, _IONBF, 0);
	assert_int_equal(recorder_begin(out), -ENOSPC);
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stream_is_its_header_and_the_records_as_they_are),
		cmocka_unit_test(refuses_bytes_that_would_make_the_rest_unreadable),
		cmocka_unit_test(reports_a_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
