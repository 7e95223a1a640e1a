// SPDX-License-Identifier: BSD-2-Clause
/* Tests for event/replayer: what was recorded comes back; cut, damaged and foreign files are told
 * apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/decoder.h"
#include "event/encoder.h"
#include "recorder.h"
#include "replayer.h"

#define TASKS 10

static void count_task(void *context, const struct task_view *task)
{
	int *count = context;

	assert_int_equal(task->pid, 1000 + *count);
	++*count;
}

static const struct event_sink_ops counting_ops = {.on_task = count_task};

struct recording {
	char *data;
	size_t size;
};

static struct recording record_tasks(void)
{
	struct event_buffer buffer = {0};
	struct recording recording = {0};
	FILE *out = open_memstream(&recording.data, &recording.size);

	assert_int_equal(recorder_begin(out), 0);
	for (uint32_t i = 0; i < TASKS; i++) {
		struct task_view task = {.kind = PKBPF_EVENT_EXIT, .pid = 1000 + i, .tid = 1};

		event_buffer_clear(&buffer);
		assert_int_equal(event_encode_task(&buffer, &task), 0);
		assert_int_equal(recorder_write(out, buffer.data, buffer.size), 0);
	}
	fclose(out);
	event_buffer_done(&buffer);
	return recording;
}

static int replay_bytes(const void *data, size_t size, int *ret_count, struct error *error)
{
	struct event_sink sink = {&counting_ops, ret_count};
	FILE *in = tmpfile();
	int err;

	assert_non_null(in);
	assert_int_equal(fwrite(data, 1, size, in), size);
	rewind(in);
	*ret_count = 0;
	err = replay_stream(in, &sink, error);
	fclose(in);
	return err;
}

static void brings_back_every_record_in_order(void **state)
{
	struct recording recording = record_tasks();
	int count;

	assert_int_equal(replay_bytes(recording.data, recording.size, &count, NULL), 0);
	assert_int_equal(count, TASKS);
	free(recording.data);
}

static void recording_without_records_is_a_recording(void **state)
{
	struct recording recording = record_tasks();
	int count;

	assert_int_equal(replay_bytes(recording.data, 16, &count, NULL), 0);
	assert_int_equal(count, 0);
	free(recording.data);
}

static void delivers_what_comes_before_the_cut(void **state)
{
	struct recording recording = record_tasks();
	size_t record = sizeof(struct pkbpf_event_task);

	for (size_t size = 16; size < recording.size; size++) {
		struct error error = {""};
		int count, err = replay_bytes(recording.data, size, &count, &error);

		assert_int_equal(count, (size - 16) / record);
		assert_int_equal(err, (size - 16) % record ? -EBADMSG : 0);
		if (err)
			assert_non_null(strstr(error.text, "is truncated"));
	}
	free(recording.data);
}

static void refuses_files_that_are_no_recordings(void **state)
{
	struct error error = {""};
	int count;

	assert_int_equal(replay_bytes("", 0, &count, &error), -EBADMSG);
	assert_int_equal(replay_bytes("PKBPFEVT", 8, &count, &error), -EBADMSG);
	assert_int_equal(replay_bytes("\x7f"
				      "ELF\2\1\1\0\0\0\0\0\0\0\0\0\0\0",
				      18, &count, &error),
			 -EBADMSG);
	assert_string_equal(error.text, "not a stream of events");
}

static void says_that_a_newer_recording_needs_a_newer_program(void **state)
{
	struct recording recording = record_tasks();
	struct error error = {""};
	int count;

	recording.data[8] = EVENT_FILE_VERSION + 1;
	assert_int_equal(replay_bytes(recording.data, recording.size, &count, &error), -ENOTSUP);
	assert_non_null(strstr(error.text, "version 2"));
	assert_int_equal(count, 0);
	recording.data[8] = 0;
	assert_int_equal(replay_bytes(recording.data, recording.size, &count, &error), -EBADMSG);
	free(recording.data);
}

static void says_where_a_recording_is_damaged(void **state)
{
	struct recording recording = record_tasks();
	struct error error = {""};
	int count;

	recording.data[16 + 3 * 48] = 3; /* size of the fourth record */
	assert_int_equal(replay_bytes(recording.data, recording.size, &count, &error), -EBADMSG);
	assert_int_equal(count, 3);
	assert_non_null(strstr(error.text, "byte 160"));
	free(recording.data);
}

static void passes_on_errors_of_the_stream(void **state)
{
	int count = 0;
	struct event_sink sink = {&counting_ops, &count};
	FILE *in = fopen("/proc/self/mem", "r"); /* address 0 is never mapped */

	assert_non_null(in);
	assert_int_equal(replay_stream(in, &sink, NULL), -EIO);
	fclose(in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(brings_back_every_record_in_order),
		cmocka_unit_test(recording_without_records_is_a_recording),
		cmocka_unit_test(delivers_what_comes_before_the_cut),
		cmocka_unit_test(refuses_files_that_are_no_recordings),
		cmocka_unit_test(says_that_a_newer_recording_needs_a_newer_program),
		cmocka_unit_test(says_where_a_recording_is_damaged),
		cmocka_unit_test(passes_on_errors_of_the_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
