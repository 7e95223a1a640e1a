// SPDX-License-Identifier: BSD-2-Clause
/* Tests for capture/perf_sideband: perf records become ours, short ones are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/array.h"
#include "capture/perf_sideband.h"
#include "event/decoder.h"

struct seen {
	struct task_view task;
	struct mapping_view mapping;
	struct lost_view lost;
	char path[64];
	int tasks, mappings, losses;
};

static void see_task(void *context, const struct task_view *task)
{
	struct seen *seen = context;

	seen->task = *task;
	seen->tasks++;
}

static void see_mapping(void *context, const struct mapping_view *mapping)
{
	struct seen *seen = context;

	seen->mapping = *mapping;
	strncpy(seen->path, mapping->path, sizeof(seen->path) - 1);
	seen->mappings++;
}

static void see_lost(void *context, const struct lost_view *lost)
{
	struct seen *seen = context;

	seen->lost = *lost;
	seen->losses++;
}

/* Translates one record and decodes what came out. */
static int translate(const void *record, size_t size, struct seen *ret_seen)
{
	static const struct event_sink_ops ops = {
		.on_task = see_task, .on_mapping = see_mapping, .on_lost = see_lost};
	struct event_sink sink = {&ops, ret_seen};
	struct event_buffer buffer = {0};
	int err = perf_sideband_translate(record, size, &buffer);

	memset(ret_seen, 0, sizeof(*ret_seen));
	if (!err && buffer.size)
		assert_int_equal(event_decode(buffer.data, buffer.size, &sink), buffer.size);
	event_buffer_done(&buffer);
	return err;
}

static const struct {
	uint32_t pid, tid;
	uint64_t time_ns;
} id = {42, 43, 1000};

static size_t finish(uint8_t *record, size_t size, uint32_t type, uint16_t misc)
{
	struct perf_event_header header = {
		.type = type, .misc = misc, .size = (uint16_t)(size + sizeof(id))};

	memcpy(record + size, &id, sizeof(id));
	memcpy(record, &header, sizeof(header));
	return header.size;
}

static void translates_a_mapping(void **state)
{
	const struct {
		uint32_t pid, tid;
		uint64_t start, length, offset;
		uint32_t major, minor;
		uint64_t inode, generation;
		uint32_t protection, flags;
		char path[16];
	} body = {42, 43, 0x400000, 0x1000, 0x2000, 254, 1, 77, 5, 5, 2, "/bin/x"};
	uint8_t record[256];
	struct seen seen;
	size_t size;

	memcpy(record + 8, &body, sizeof(body));
	size = finish(record, 8 + sizeof(body), PERF_RECORD_MMAP2, 0);
	assert_int_equal(translate(record, size, &seen), 0);
	assert_int_equal(seen.mappings, 1);
	assert_int_equal(seen.mapping.time_ns, 1000);
	assert_int_equal(seen.mapping.pid, 42);
	assert_int_equal(seen.mapping.start, 0x400000);
	assert_int_equal(seen.mapping.end, 0x401000);
	assert_int_equal(seen.mapping.file_offset, 0x2000);
	assert_int_equal(seen.mapping.inode, 77);
	assert_int_equal(seen.mapping.device_major, 254);
	assert_string_equal(seen.path, "/bin/x");
}

static void translates_exec_fork_exit_and_loss(void **state)
{
	const struct {
		uint32_t pid, tid;
		char comm[8];
	} comm = {42, 42, "python3"};
	const struct {
		uint32_t pid, parent_pid, tid, parent_tid;
		uint64_t time_ns;
	} task = {50, 42, 51, 43, 999};
	const uint64_t lost[2] = {7, 12};
	uint8_t record[128];
	struct seen seen;
	size_t size;

	memcpy(record + 8, &comm, sizeof(comm));
	size = finish(record, 8 + sizeof(comm), PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	assert_int_equal(translate(record, size, &seen), 0);
	assert_int_equal(seen.task.kind, PKBPF_EVENT_COMM);
	assert_true(seen.task.exec);
	assert_string_equal(seen.task.comm, "python3");

	memcpy(record + 8, &task, sizeof(task));
	size = finish(record, 8 + sizeof(task), PERF_RECORD_FORK, 0);
	assert_int_equal(translate(record, size, &seen), 0);
	assert_int_equal(seen.task.kind, PKBPF_EVENT_FORK);
	assert_int_equal(seen.task.pid, 50);
	assert_int_equal(seen.task.tid, 51);
	assert_int_equal(seen.task.parent_pid, 42);
	assert_int_equal(seen.task.time_ns, 999);
	size = finish(record, 8 + sizeof(task), PERF_RECORD_EXIT, 0);
	assert_int_equal(translate(record, size, &seen), 0);
	assert_int_equal(seen.task.kind, PKBPF_EVENT_EXIT);

	memcpy(record + 8, lost, sizeof(lost));
	size = finish(record, 8 + sizeof(lost), PERF_RECORD_LOST, 0);
	assert_int_equal(translate(record, size, &seen), 0);
	assert_int_equal(seen.lost.count, 12);
	assert_int_equal(seen.lost.cause, PKBPF_COUNTER_LOST_SIDEBAND);
}

static void refuses_records_shorter_than_their_type_says(void **state)
{
	static const uint32_t types[] = {PERF_RECORD_MMAP2, PERF_RECORD_COMM, PERF_RECORD_FORK,
					 PERF_RECORD_EXIT, PERF_RECORD_LOST};
	uint8_t record[64] = {0};
	struct seen seen;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		size_t size = finish(record, 12, types[i], 0);

		assert_int_equal(translate(record, size, &seen), -EBADMSG);
	}
	assert_int_equal(translate(record, 8, &seen), -EBADMSG);
}

static void passes_over_types_it_does_not_know(void **state)
{
	uint8_t record[64] = {0};
	struct seen seen;

	assert_int_equal(translate(record, finish(record, 16, PERF_RECORD_THROTTLE, 0), &seen), 0);
	assert_int_equal(seen.tasks + seen.mappings + seen.losses, 0);
}

/* Needs rights: without them no CPU can be watched, and nothing is asked. */
static void watches_the_other_cpus_where_one_fails(void **state)
{
	struct listed_cpu cpus[] = {{.number = 1U << 20}, {.number = 0}};
	const struct cpu_list none = {0}, both = {.items = cpus, .count = 2};
	struct perf_sideband *sideband;
	struct error error = {0};
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	size_t opened;

	(void)state;
	assert_int_equal(perf_sideband_open(&none, false, epoll_fd, 0, &sideband, &error), 0);
	assert_int_not_equal(perf_sideband_update(sideband, &both, &opened, &error), 0);
	assert_int_equal(opened, geteuid() ? opened : 1);
	perf_sideband_close(sideband);
	close(epoll_fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(translates_a_mapping),
		cmocka_unit_test(translates_exec_fork_exit_and_loss),
		cmocka_unit_test(refuses_records_shorter_than_their_type_says),
		cmocka_unit_test(passes_over_types_it_does_not_know),
		cmocka_unit_test(watches_the_other_cpus_where_one_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
