// SPDX-License-Identifier: BSD-2-Clause
/* Tests for event/decoder: every bound of every kind of record, broken one at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <pkbpf/histogram.h>

#include "base/array.h"
#include "event/decoder.h"
#include "event/encoder.h"

static const int kinds[] = {
	PKBPF_EVENT_SAMPLE, PKBPF_EVENT_FORK,	   PKBPF_EVENT_COMM,  PKBPF_EVENT_EXIT,	  PKBPF_EVENT_MAPPING,
	PKBPF_EVENT_LOST,   PKBPF_EVENT_RAW_STACK, PKBPF_EVENT_STACK, PKBPF_EVENT_TOTALS, PKBPF_EVENT_SLOW_IO,
};

static int delivered;

static void got_sample(void *context, const struct sample_view *sample)
{
	delivered++;
}

static void got_task(void *context, const struct task_view *task)
{
	delivered++;
}

static void got_mapping(void *context, const struct mapping_view *mapping)
{
	delivered++;
}

static void got_lost(void *context, const struct lost_view *lost)
{
	delivered++;
}

static void got_raw_stack(void *context, const struct raw_stack_view *raw)
{
	delivered++;
}

static void got_stack(void *context, const struct stack_view *stack)
{
	delivered++;
}

static void got_totals(void *context, const struct totals_view *totals)
{
	delivered++;
}

static void got_slow_io(void *context, const struct slow_io_view *slow_io)
{
	delivered++;
}

static void got_other(void *context, const struct pkbpf_event_header *record)
{
	delivered++;
}

static const struct event_sink_ops counting_ops = {
	.on_sample = got_sample,
	.on_task = got_task,
	.on_mapping = got_mapping,
	.on_lost = got_lost,
	.on_raw_stack = got_raw_stack,
	.on_stack = got_stack,
	.on_totals = got_totals,
	.on_slow_io = got_slow_io,
	.on_other = got_other,
};

/* Decodes an exact heap copy, so that AddressSanitizer sees a read past the end. */
static int decode_copy(const void *data, size_t size)
{
	struct event_sink sink = {&counting_ops, NULL};
	void *copy = malloc(size ? size : 1);
	int result;

	assert_non_null(copy);
	memcpy(copy, data, size);
	delivered = 0;
	result = event_decode(copy, size, &sink);
	free(copy);
	return result;
}

static uint64_t ips[] = {1, 2, 3, 4, 5};
static uint64_t registers[PKBPF_REGS];
static uint8_t stack_bytes[64];
static const struct pkbpf_histogram_bucket buckets[] = {
	{3, 1}, {7, 2}, {PKBPF_HISTOGRAM_BUCKETS - 1, 9}};

static void encode_kind(struct event_buffer *buffer, int kind)
{
	struct sample_view sample = {.kernel_ips = ips,
				     .kernel_count = 2,
				     .user_ips = ips,
				     .user_count = 3,
				     .comm = "x"};
	struct raw_stack_view raw = {.sample = sample,
				     .regs = registers,
				     .stack_start = 4096,
				     .stack = stack_bytes,
				     .stack_size = sizeof(stack_bytes)};
	struct task_view task = {.kind = (enum pkbpf_event_kind)kind, .pid = 1, .tid = 1};
	struct mapping_view mapping = {.start = 1, .end = 2, .path = "/bin/x"};
	struct lost_view lost = {.cause = 0, .count = 1};
	struct stack_view stack = {
		.kernel_ips = ips, .kernel_count = 2, .user_ips = ips, .user_count = 3};
	struct totals_view totals = {
		.count = 3, .buckets = buckets, .bucket_count = ARRAY_SIZE(buckets)};
	struct slow_io_view slow_io = {.time_ns = 30, .insert_ns = 10, .issue_ns = 20, .comm = "x"};
	int err = -1;

	raw.sample.user_count = 0;
	event_buffer_clear(buffer);
	switch (kind) {
	case PKBPF_EVENT_SAMPLE:
		err = event_encode_sample(buffer, &sample);
		break;
	case PKBPF_EVENT_FORK:
	case PKBPF_EVENT_COMM:
	case PKBPF_EVENT_EXIT:
		err = event_encode_task(buffer, &task);
		break;
	case PKBPF_EVENT_MAPPING:
		err = event_encode_mapping(buffer, &mapping);
		break;
	case PKBPF_EVENT_LOST:
		err = event_encode_lost(buffer, &lost);
		break;
	case PKBPF_EVENT_RAW_STACK:
		err = event_encode_raw_stack(buffer, &raw);
		break;
	case PKBPF_EVENT_TOTALS:
		err = event_encode_totals(buffer, &totals);
		break;
	case PKBPF_EVENT_STACK:
		err = event_encode_stack(buffer, 1, &stack);
		break;
	case PKBPF_EVENT_SLOW_IO:
		err = event_encode_slow_io(buffer, &slow_io);
		break;
	}
	assert_int_equal(err, 0);
}

static void set_size(struct event_buffer *buffer, uint32_t size)
{
	memcpy(buffer->data, &size, sizeof(size));
}

static void rejects_every_record_cut_anywhere(void **state)
{
	struct event_buffer buffer = {0};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		encode_kind(&buffer, kinds[i]);
		assert_int_equal(decode_copy(buffer.data, buffer.size), (int)buffer.size);
		assert_int_equal(delivered, 1);
		for (size_t size = 0; size < buffer.size; size++) {
			assert_int_equal(decode_copy(buffer.data, size), -EMSGSIZE);
			assert_int_equal(delivered, 0);
		}
	}
	event_buffer_done(&buffer);
}

static void rejects_every_record_whose_size_says_less_than_its_contents(void **state)
{
	struct event_buffer buffer = {0};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		encode_kind(&buffer, kinds[i]);
		for (size_t size = 16; size < buffer.size; size += 8) {
			set_size(&buffer, (uint32_t)size);
			assert_int_equal(decode_copy(buffer.data, size), -EBADMSG);
			assert_int_equal(delivered, 0);
		}
	}
	event_buffer_done(&buffer);
}

static void accepts_records_with_more_at_their_end(void **state)
{
	struct event_buffer buffer = {0};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		uint64_t larger[512] = {0};

		encode_kind(&buffer, kinds[i]);
		memcpy(larger, buffer.data, buffer.size);
		((struct pkbpf_event_header *)(void *)larger)->size = sizeof(larger);
		assert_int_equal(decode_copy(larger, sizeof(larger)), (int)sizeof(larger));
		assert_int_equal(delivered, 1);
	}
	event_buffer_done(&buffer);
}

static void rejects_headers_that_are_none(void **state)
{
	static const struct {
		uint32_t size;
		uint16_t kind;
		int result;
	} rows[] = {
		{0, 2, -EBADMSG},
		{8, 2, -EBADMSG},
		{15, 2, -EBADMSG},
		{48, 0, -EBADMSG},
		{50, 2, -EBADMSG},
		{EVENT_MAX_RECORD_SIZE + 8, 2, -EBADMSG},
		{UINT32_MAX - 7, 2, -EBADMSG},
		{EVENT_MAX_RECORD_SIZE, 2, -EMSGSIZE},
		{48, 2, 48},
		{16, 2, -EBADMSG},
		{16, 500, 16},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pkbpf_event_task task = {
			.header = {.size = rows[i].size, .kind = rows[i].kind}};

		assert_int_equal(decode_copy(&task, sizeof(task)), rows[i].result);
		assert_int_equal(delivered, rows[i].result > 0);
	}
}

static void shows_kinds_of_later_versions_as_bytes(void **state)
{
	struct pkbpf_event_header header = {.size = sizeof(header), .kind = 16};

	assert_int_equal(decode_copy(&header, sizeof(header)), sizeof(header));
	assert_int_equal(delivered, 1);
}

struct broken_sample {
	const char *what;
	size_t offset;
	size_t size;
	uint64_t value;
};

#define FIELD(name, value)                                                                         \
	{                                                                                          \
#name, offsetof(struct pkbpf_event_sample, name),                                  \
			sizeof(((struct pkbpf_event_sample *)0)->name), value                      \
	}

static void rejects_samples_out_of_bounds(void **state)
{
	static const struct broken_sample rows[] = {
		FIELD(profile_kind, PKBPF_PROFILE_KINDS),
		FIELD(user_end, PKBPF_END_COUNT),
		FIELD(user_end, 255),
		FIELD(n_kernel, PKBPF_MAX_KERNEL_FRAMES + 1),
		FIELD(n_kernel, 3),
		FIELD(n_user, PKBPF_MAX_USER_FRAMES + 1),
		FIELD(n_user, 65535),
		FIELD(n_user, 4),
		FIELD(n_guessed, 4),
	};
	struct event_buffer buffer = {0};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		encode_kind(&buffer, PKBPF_EVENT_SAMPLE);
		memcpy(buffer.data + rows[i].offset, &rows[i].value, rows[i].size);
		assert_int_equal(decode_copy(buffer.data, buffer.size), -EBADMSG);
		assert_int_equal(delivered, 0);
	}
	event_buffer_done(&buffer);
}

static void accepts_limits_of_enums(void **state)
{
	struct event_buffer buffer = {0};
	struct pkbpf_event_sample *sample;

	encode_kind(&buffer, PKBPF_EVENT_SAMPLE);
	sample = (void *)buffer.data;
	sample->profile_kind = PKBPF_PROFILE_KINDS - 1;
	sample->user_end = PKBPF_END_COUNT - 1;
	sample->n_guessed = sample->n_user;
	assert_int_equal(decode_copy(buffer.data, buffer.size), (int)buffer.size);
	event_buffer_done(&buffer);
}

static void rejects_raw_stacks_out_of_bounds(void **state)
{
	static const struct {
		uint16_t n_kernel, n_user;
		uint64_t stack_start, stack_size;
		bool accepted;
	} rows[] = {
		{2, 0, 4096, 64, true},
		{2, 0, 4096, 56, true},
		{2, 0, 4096, 72, false},
		{2, 0, 4096, 60, false},
		{2, 0, 4096, EVENT_MAX_RAW_STACK_SIZE + 8, false},
		{2, 0, 4096, UINT64_MAX - 7, false},
		{2, 0, UINT64_MAX - 63, 64, false},
		{2, 0, UINT64_MAX - 64, 64, true},
		{2, 1, 4096, 8, false},
		{PKBPF_MAX_KERNEL_FRAMES, 0, 4096, 8, false},
	};
	struct event_buffer buffer = {0};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pkbpf_event_sample *sample;
		uint64_t *words;
		int result;

		encode_kind(&buffer, PKBPF_EVENT_RAW_STACK);
		sample = (void *)buffer.data;
		words = (uint64_t *)sample->ips + sample->n_kernel + PKBPF_REGS;
		words[0] = rows[i].stack_start;
		words[1] = rows[i].stack_size;
		sample->n_kernel = rows[i].n_kernel;
		sample->n_user = rows[i].n_user;
		result = decode_copy(buffer.data, buffer.size);
		assert_int_equal(result, rows[i].accepted ? (int)buffer.size : -EBADMSG);
		assert_int_equal(delivered, rows[i].accepted);
	}
	event_buffer_done(&buffer);
}

static void rejects_mapping_whose_path_does_not_end(void **state)
{
	struct event_buffer buffer = {0};
	struct pkbpf_event_mapping *mapping;

	encode_kind(&buffer, PKBPF_EVENT_MAPPING);
	mapping = (void *)buffer.data;
	memset(mapping->path, 'x', buffer.size - sizeof(*mapping));
	assert_int_equal(decode_copy(buffer.data, buffer.size), -EBADMSG);
	mapping->path[buffer.size - sizeof(*mapping) - 1] = '\0';
	assert_int_equal(decode_copy(buffer.data, buffer.size), (int)buffer.size);
	event_buffer_done(&buffer);
}

static void rejects_mapping_with_path_of_path_max(void **state)
{
	uint64_t words[(sizeof(struct pkbpf_event_mapping) + PATH_MAX + 8) / 8] = {0};
	struct pkbpf_event_mapping *mapping = (void *)words;

	mapping->header =
		(struct pkbpf_event_header){.size = sizeof(words), .kind = PKBPF_EVENT_MAPPING};
	mapping->end = 1;
	memset(mapping->path, 'x', PATH_MAX);
	assert_int_equal(decode_copy(words, sizeof(words)), -EBADMSG);
	mapping->path[PATH_MAX - 1] = '\0';
	assert_int_equal(decode_copy(words, sizeof(words)), (int)sizeof(words));
}

static void rejects_mapping_that_ends_before_it_starts(void **state)
{
	struct event_buffer buffer = {0};
	struct pkbpf_event_mapping *mapping;

	encode_kind(&buffer, PKBPF_EVENT_MAPPING);
	mapping = (void *)buffer.data;
	mapping->start = mapping->end;
	assert_int_equal(decode_copy(buffer.data, buffer.size), -EBADMSG);
	mapping->start = UINT64_MAX;
	assert_int_equal(decode_copy(buffer.data, buffer.size), -EBADMSG);
	event_buffer_done(&buffer);
}

static void rejects_lost_record_of_unknown_cause(void **state)
{
	struct event_buffer buffer = {0};

	encode_kind(&buffer, PKBPF_EVENT_LOST);
	((struct pkbpf_event_lost *)(void *)buffer.data)->cause = PKBPF_COUNTER_COUNT;
	assert_int_equal(decode_copy(buffer.data, buffer.size), -EBADMSG);
	event_buffer_done(&buffer);
}

static void rejects_stacks_out_of_bounds(void **state)
{
	struct event_buffer buffer = {0};
	struct pkbpf_event_stack *stack;

	for (int i = 0; i < 4; i++) {
		encode_kind(&buffer, PKBPF_EVENT_STACK);
		stack = (void *)buffer.data;
		if (i == 0)
			stack->n_user++;
		else if (i == 1)
			stack->n_kernel = PKBPF_MAX_KERNEL_FRAMES + 1;
		else if (i == 2)
			stack->n_guessed = stack->n_user + 1;
		else
			stack->user_end = PKBPF_END_COUNT;
		assert_int_equal(decode_copy(buffer.data, buffer.size), -EBADMSG);
		assert_int_equal(delivered, 0);
	}
	event_buffer_done(&buffer);
}

static void rejects_totals_out_of_bounds(void **state)
{
	struct event_buffer buffer = {0};

	for (int i = 0; i < 6; i++) {
		struct pkbpf_event_totals *totals;

		encode_kind(&buffer, PKBPF_EVENT_TOTALS);
		totals = (void *)buffer.data;
		if (i == 0)
			totals->profile_kind = PKBPF_PROFILE_KINDS;
		else if (i == 1)
			totals->n_buckets++;
		else if (i == 2)
			totals->n_buckets = UINT32_MAX;
		else if (i == 3)
			totals->buckets[2].index = PKBPF_HISTOGRAM_BUCKETS;
		else if (i == 4)
			totals->buckets[1].index = totals->buckets[0].index;
		else
			totals->buckets[0].index = UINT32_MAX;
		assert_int_equal(decode_copy(buffer.data, buffer.size), -EBADMSG);
		assert_int_equal(delivered, 0);
	}
	event_buffer_done(&buffer);
}

static void keep_comm(void *context, const struct task_view *task)
{
	strcpy(context, task->comm);
}

static void terminates_comm_that_fills_its_field(void **state)
{
	static const struct event_sink_ops ops = {.on_task = keep_comm};
	struct pkbpf_event_task task = {.header = {.size = sizeof(task), .kind = PKBPF_EVENT_COMM}};
	char comm[PKBPF_COMM_SIZE + 1];
	struct event_sink sink = {&ops, comm};

	memset(task.comm, 'c', sizeof(task.comm));
	assert_int_equal(event_decode(&task, sizeof(task), &sink), sizeof(task));
	assert_string_equal(comm, "cccccccccccccccc");
}

static void rejects_slow_requests_whose_times_are_not_in_order(void **state)
{
	static const struct {
		uint64_t insert_ns, issue_ns, time_ns;
		uint16_t flags;
		bool accepted;
	} rows[] = {
		{10, 20, 30, 0, true},
		{10, 10, 10, 0, true},
		{0, UINT64_MAX, UINT64_MAX, 0, true},
		{10, 9, 30, 0, false},
		{10, 31, 30, 0, false},
		{31, 31, 30, 0, false},
		{10, 0, 30, 0, false},
		{10, 0, 30, PKBPF_SLOW_IO_FAILED, false},
		{10, 0, 30, PKBPF_SLOW_IO_OPEN, true},
		{10, 9, 30, PKBPF_SLOW_IO_OPEN, false},
		{31, 0, 30, PKBPF_SLOW_IO_OPEN, false},
		{UINT64_MAX, 0, 30, PKBPF_SLOW_IO_OPEN, false},
	};
	struct event_buffer buffer = {0};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pkbpf_event_slow_io *slow_io;
		int result;

		encode_kind(&buffer, PKBPF_EVENT_SLOW_IO);
		slow_io = (void *)buffer.data;
		slow_io->insert_ns = rows[i].insert_ns;
		slow_io->issue_ns = rows[i].issue_ns;
		slow_io->header.time_ns = rows[i].time_ns;
		slow_io->header.flags = rows[i].flags;
		result = decode_copy(buffer.data, buffer.size);
		assert_int_equal(result, rows[i].accepted ? (int)buffer.size : -EBADMSG);
		assert_int_equal(delivered, rows[i].accepted);
	}
	event_buffer_done(&buffer);
}

static void sinks_that_are_not_interested_are_left_alone(void **state)
{
	static const struct event_sink_ops deaf = {0};
	struct event_buffer buffer = {0};
	struct event_sink sink = {&deaf, NULL};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		encode_kind(&buffer, kinds[i]);
		assert_int_equal(event_decode(buffer.data, buffer.size, &sink), (int)buffer.size);
	}
	event_buffer_done(&buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rejects_every_record_cut_anywhere),
		cmocka_unit_test(rejects_every_record_whose_size_says_less_than_its_contents),
		cmocka_unit_test(accepts_records_with_more_at_their_end),
		cmocka_unit_test(rejects_headers_that_are_none),
		cmocka_unit_test(shows_kinds_of_later_versions_as_bytes),
		cmocka_unit_test(rejects_samples_out_of_bounds),
		cmocka_unit_test(accepts_limits_of_enums),
		cmocka_unit_test(rejects_raw_stacks_out_of_bounds),
		cmocka_unit_test(rejects_mapping_whose_path_does_not_end),
		cmocka_unit_test(rejects_mapping_with_path_of_path_max),
		cmocka_unit_test(rejects_mapping_that_ends_before_it_starts),
		cmocka_unit_test(rejects_lost_record_of_unknown_cause),
		cmocka_unit_test(rejects_stacks_out_of_bounds),
		cmocka_unit_test(rejects_totals_out_of_bounds),
		cmocka_unit_test(rejects_slow_requests_whose_times_are_not_in_order),
		cmocka_unit_test(terminates_comm_that_fills_its_field),
		cmocka_unit_test(sinks_that_are_not_interested_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
