// SPDX-License-Identifier: BSD-2-Clause
/* Tests for event/decoder: every bound of every kind of record, broken one at a time. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>

#include "record_examples.h"

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

/* Its number takes the place of the first word of memory. */
static void rejects_numbered_raw_stacks_without_room_for_the_number(void **state)
{
	static const struct {
		uint64_t stack_size;
		bool accepted;
	} rows[] = {{64, false}, {56, true}, {0, true}};
	size_t fixed = sizeof(struct pkbpf_event_sample) + (2 + PKBPF_RAW_HEAD_WORDS) * 8;
	struct event_buffer buffer = {0};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pkbpf_event_sample *sample;
		int result;

		encode_kind(&buffer, PKBPF_EVENT_RAW_STACK);
		sample = (void *)buffer.data;
		sample->header.flags |= PKBPF_RAW_NUMBERED;
		sample->ips[sample->n_kernel + PKBPF_REGS + 1] = rows[i].stack_size;
		result = decode_copy(buffer.data, buffer.size);
		assert_int_equal(result, rows[i].accepted ? (int)buffer.size : -EBADMSG);
		assert_int_equal(delivered, rows[i].accepted);
		/* Nothing but the head: the number is missing. */
		sample->header.size = (uint32_t)fixed;
		sample->ips[sample->n_kernel + PKBPF_REGS + 1] = 0;
		assert_int_equal(decode_copy(buffer.data, fixed), -EBADMSG);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rejects_samples_out_of_bounds),
		cmocka_unit_test(accepts_limits_of_enums),
		cmocka_unit_test(rejects_raw_stacks_out_of_bounds),
		cmocka_unit_test(rejects_numbered_raw_stacks_without_room_for_the_number),
		cmocka_unit_test(rejects_mapping_whose_path_does_not_end),
		cmocka_unit_test(rejects_mapping_with_path_of_path_max),
		cmocka_unit_test(rejects_mapping_that_ends_before_it_starts),
		cmocka_unit_test(rejects_lost_record_of_unknown_cause),
		cmocka_unit_test(rejects_stacks_out_of_bounds),
		cmocka_unit_test(rejects_totals_out_of_bounds),
		cmocka_unit_test(rejects_slow_requests_whose_times_are_not_in_order),
		cmocka_unit_test(terminates_comm_that_fills_its_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
