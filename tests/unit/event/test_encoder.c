// SPDX-License-Identifier: BSD-2-Clause
/* Tests for event/encoder: what goes in comes out of the decoder, nothing it would refuse goes
 * in. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include <pkbpf/histogram.h>

#include "base/array.h"
#include "encoder_fixture.h"

static void check_task(void *context, const struct task_view *task)
{
	const struct task_view *expected = context;

	assert_int_equal(task->time_ns, expected->time_ns);
	assert_int_equal(task->kind, expected->kind);
	assert_int_equal(task->pid, expected->pid);
	assert_int_equal(task->tid, expected->tid);
	assert_int_equal(task->parent_pid, expected->parent_pid);
	assert_int_equal(task->parent_tid, expected->parent_tid);
	assert_int_equal(task->exec, expected->exec);
	assert_int_equal(task->from_snapshot, expected->from_snapshot);
	assert_string_equal(task->comm, expected->comm);
}

static void task_records_survive_the_round_trip(void **state)
{
	static const struct event_sink_ops ops = {.on_task = check_task};
	struct task_view tasks[] = {
		{.time_ns = 1,
		 .kind = PKBPF_EVENT_FORK,
		 .pid = 2,
		 .tid = 3,
		 .parent_pid = 4,
		 .parent_tid = 5},
		{.time_ns = 2,
		 .kind = PKBPF_EVENT_COMM,
		 .pid = 2,
		 .tid = 2,
		 .exec = true,
		 .comm = "ls"},
		{.time_ns = 3,
		 .kind = PKBPF_EVENT_COMM,
		 .pid = 9,
		 .tid = 9,
		 .from_snapshot = true,
		 .comm = "a b)\n"},
		{.time_ns = UINT64_MAX, .kind = PKBPF_EVENT_EXIT, .pid = 2, .tid = 3},
	};

	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++) {
		event_buffer_clear(*state);
		assert_int_equal(event_encode_task(*state, &tasks[i]), 0);
		decode_one(*state, &ops, &tasks[i]);
	}
	tasks[0].kind = PKBPF_EVENT_SAMPLE;
	assert_int_equal(event_encode_task(*state, &tasks[0]), -EINVAL);
}

static void check_mapping(void *context, const struct mapping_view *mapping)
{
	const struct mapping_view *expected = context;

	assert_int_equal(mapping->time_ns, expected->time_ns);
	assert_int_equal(mapping->pid, expected->pid);
	assert_int_equal(mapping->tid, expected->tid);
	assert_int_equal(mapping->start, expected->start);
	assert_int_equal(mapping->end, expected->end);
	assert_int_equal(mapping->file_offset, expected->file_offset);
	assert_int_equal(mapping->inode, expected->inode);
	assert_int_equal(mapping->device_major, expected->device_major);
	assert_int_equal(mapping->device_minor, expected->device_minor);
	assert_int_equal(mapping->inode_generation, expected->inode_generation);
	assert_int_equal(mapping->protection, expected->protection);
	assert_int_equal(mapping->from_snapshot, expected->from_snapshot);
	assert_string_equal(mapping->path, expected->path);
}

static void mapping_survives_the_round_trip_whatever_the_length_of_its_path(void **state)
{
	static const struct event_sink_ops ops = {.on_mapping = check_mapping};
	char path[40] = "";

	for (size_t length = 0; length < sizeof(path); length++) {
		struct mapping_view mapping = {
			.time_ns = 77,
			.pid = 1,
			.tid = 2,
			.start = 0x7f0000001000,
			.end = 0x7f0000009000,
			.file_offset = 0x3000,
			.inode = 1234567890123,
			.device_major = 259,
			.device_minor = 3,
			.inode_generation = 0xdeadbeef,
			.protection = 5,
			.from_snapshot = length % 2,
			.path = path,
		};

		memset(path, 'x', length);
		path[length] = '\0';
		event_buffer_clear(*state);
		assert_int_equal(event_encode_mapping(*state, &mapping), 0);
		decode_one(*state, &ops, &mapping);
		if (length == sizeof(path) - 1)
			break;
	}
}

static void check_path_length(void *context, const struct mapping_view *mapping)
{
	*(size_t *)context = strlen(mapping->path);
}

static void path_longer_than_path_max_is_cut(void **state)
{
	static const struct event_sink_ops ops = {.on_mapping = check_path_length};
	static char path[PATH_MAX + 100];
	struct mapping_view mapping = {.start = 0, .end = 1, .path = path};
	size_t length = 0;

	memset(path, 'y', sizeof(path) - 1);
	assert_int_equal(event_encode_mapping(*state, &mapping), 0);
	decode_one(*state, &ops, &length);
	assert_int_equal(length, PATH_MAX - 1);
}

static void empty_mapping_is_refused(void **state)
{
	struct mapping_view mapping = {.start = 0x2000, .end = 0x2000, .path = ""};

	assert_int_equal(event_encode_mapping(*state, &mapping), -EINVAL);
	assert_int_equal(((struct event_buffer *)*state)->size, 0);
}

static void check_lost(void *context, const struct lost_view *lost)
{
	assert_int_equal(lost->time_ns, 5);
	assert_int_equal(lost->cause, PKBPF_COUNTER_LOST_RING_FULL);
	assert_int_equal(lost->count, 42);
	++*(int *)context;
}

static void lost_record_survives_the_round_trip(void **state)
{
	static const struct event_sink_ops ops = {.on_lost = check_lost};
	struct lost_view lost = {.time_ns = 5, .cause = PKBPF_COUNTER_LOST_RING_FULL, .count = 42};
	int calls = 0;

	assert_int_equal(event_encode_lost(*state, &lost), 0);
	decode_one(*state, &ops, &calls);
	assert_int_equal(calls, 1);
	lost.cause = PKBPF_COUNTER_COUNT;
	assert_int_equal(event_encode_lost(*state, &lost), -EINVAL);
}

static void check_totals(void *context, const struct totals_view *totals)
{
	const struct totals_view *expected = context;

	assert_int_equal(totals->time_ns, expected->time_ns);
	assert_int_equal(totals->stack_id, expected->stack_id);
	assert_int_equal(totals->waker_id, expected->waker_id);
	assert_int_equal(totals->pid, expected->pid);
	assert_int_equal(totals->tid, expected->tid);
	assert_int_equal(totals->cgroup_id, expected->cgroup_id);
	assert_int_equal(totals->device, expected->device);
	assert_int_equal(totals->kind, expected->kind);
	assert_int_equal(totals->state, expected->state);
	assert_int_equal(totals->measure, expected->measure);
	assert_int_equal(totals->estimated, expected->estimated);
	assert_int_equal(totals->open, expected->open);
	assert_string_equal(totals->comm, expected->comm);
	assert_int_equal(totals->count, expected->count);
	assert_int_equal(totals->total, expected->total);
	assert_int_equal(totals->max, expected->max);
	assert_int_equal(totals->bytes, expected->bytes);
	assert_int_equal(totals->variance, expected->variance);
	assert_int_equal(totals->bucket_count, expected->bucket_count);
	assert_memory_equal(totals->buckets, expected->buckets,
			    expected->bucket_count * sizeof(*expected->buckets));
}

static void totals_survive_the_round_trip(void **state)
{
	static const struct event_sink_ops ops = {.on_totals = check_totals};
	struct pkbpf_histogram_bucket buckets[] = {
		{1, 10}, {2, 20}, {PKBPF_HISTOGRAM_BUCKETS - 1, 30}};
	struct totals_view totals = {
		.time_ns = 1,
		.stack_id = 2,
		.pid = 3,
		.tid = 4,
		.cgroup_id = 5,
		.device = 8 << 20 | 1,
		.kind = PKBPF_PROFILE_BLOCKIO,
		.state = 6,
		.measure = 7,
		.open = true,
		.comm = "writer",
		.count = 60,
		.total = 8,
		.max = 9,
		.bytes = 10,
		.variance = 11,
		.waker_id = 12,
		.buckets = buckets,
		.bucket_count = ARRAY_SIZE(buckets),
	};

	assert_int_equal(event_encode_totals(*state, &totals), 0);
	decode_one(*state, &ops, &totals);
	totals.open = false;
	totals.estimated = true;
	event_buffer_clear(*state);
	assert_int_equal(event_encode_totals(*state, &totals), 0);
	decode_one(*state, &ops, &totals);
	buckets[2].index = 1;
	assert_int_equal(event_encode_totals(*state, &totals), -EINVAL);
}

static void check_slow_io(void *context, const struct slow_io_view *slow_io)
{
	const struct slow_io_view *expected = context;

	assert_int_equal(slow_io->time_ns, expected->time_ns);
	assert_int_equal(slow_io->insert_ns, expected->insert_ns);
	assert_int_equal(slow_io->issue_ns, expected->issue_ns);
	assert_int_equal(slow_io->stack_id, expected->stack_id);
	assert_int_equal(slow_io->cgroup_id, expected->cgroup_id);
	assert_int_equal(slow_io->sector, expected->sector);
	assert_int_equal(slow_io->pid, expected->pid);
	assert_int_equal(slow_io->tid, expected->tid);
	assert_int_equal(slow_io->device, expected->device);
	assert_int_equal(slow_io->bytes, expected->bytes);
	assert_int_equal(slow_io->state, expected->state);
	assert_int_equal(slow_io->open, expected->open);
	assert_int_equal(slow_io->failed, expected->failed);
	assert_int_equal(slow_io->fua, expected->fua);
	assert_int_equal(slow_io->metadata, expected->metadata);
	assert_string_equal(slow_io->comm, expected->comm);
}

static void slow_request_survives_the_round_trip(void **state)
{
	static const struct event_sink_ops ops = {.on_slow_io = check_slow_io};
	struct slow_io_view slow_io = {
		.time_ns = 300,
		.insert_ns = 100,
		.issue_ns = 200,
		.stack_id = 2,
		.cgroup_id = 3,
		.sector = 4,
		.pid = 5,
		.tid = 6,
		.device = 8 << 20 | 1,
		.bytes = 7,
		.state = 8,
		.comm = "writer",
	};
	bool *const flags[] = {&slow_io.open, &slow_io.failed, &slow_io.fua, &slow_io.metadata};

	/* Each flag alone. */
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		*flags[i] = true;
		event_buffer_clear(*state);
		assert_int_equal(event_encode_slow_io(*state, &slow_io), 0);
		decode_one(*state, &ops, &slow_io);
		*flags[i] = false;
	}
	slow_io.issue_ns = 0;
	event_buffer_clear(*state);
	assert_int_equal(event_encode_slow_io(*state, &slow_io), -EINVAL);
	slow_io.open = true;
	assert_int_equal(event_encode_slow_io(*state, &slow_io), 0);
	decode_one(*state, &ops, &slow_io);
	slow_io.insert_ns = 301;
	assert_int_equal(event_encode_slow_io(*state, &slow_io), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ENCODER_TEST(task_records_survive_the_round_trip),
		ENCODER_TEST(mapping_survives_the_round_trip_whatever_the_length_of_its_path),
		ENCODER_TEST(path_longer_than_path_max_is_cut),
		ENCODER_TEST(empty_mapping_is_refused),
		ENCODER_TEST(lost_record_survives_the_round_trip),
		ENCODER_TEST(totals_survive_the_round_trip),
		ENCODER_TEST(slow_request_survives_the_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
