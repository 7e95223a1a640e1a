// SPDX-License-Identifier: BSD-2-Clause
/* Turns calls that describe a machine into the record bytes that machine would have sent. */
#include "fake_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "event/event_queue.h"

struct fake_comm {
	char comm[PKBPF_COMM_SIZE + 1];
};

struct fake_machine {
	struct event_buffer records;
	uint64_t now_ns;
	size_t played; /* bytes already sent by fake_play_new() */
	ARRAY_OF(struct fake_comm) comms;
	struct hash_map comm_of_pid; /* pid -> item of comms */
};

static void require(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "fake machine: %s\n", what);
	abort();
}

static uint64_t advance(struct fake_machine *machine)
{
	uint64_t time_ns = machine->now_ns;

	machine->now_ns += FAKE_STEP_NS;
	return time_ns;
}

static const char *comm_of(const struct fake_machine *machine, uint32_t pid)
{
	const uint64_t *item = hash_map_find(&machine->comm_of_pid, pid);

	return item ? machine->comms.items[*item].comm : "";
}

static void set_comm(struct fake_machine *machine, uint32_t pid, const char *comm)
{
	struct fake_comm copy;
	uint64_t *item;
	bool added;

	/* comm may point into comms, which may move */
	snprintf(copy.comm, sizeof(copy.comm), "%s", comm);
	item = hash_map_get(&machine->comm_of_pid, pid, machine->comms.count, &added);
	require(item && (!added || array_add(&machine->comms)), "out of memory");
	machine->comms.items[*item] = copy;
}

struct fake_machine *fake_machine_new(void)
{
	struct fake_machine *machine = calloc(1, sizeof(*machine));

	require(machine, "out of memory");
	machine->now_ns = FAKE_START_NS;
	return machine;
}

void fake_machine_free(struct fake_machine *machine)
{
	if (!machine)
		return;
	event_buffer_done(&machine->records);
	array_free(&machine->comms);
	hash_map_done(&machine->comm_of_pid);
	free(machine);
}

const struct event_buffer *fake_machine_records(const struct fake_machine *machine)
{
	return &machine->records;
}

uint64_t fake_machine_now_ns(const struct fake_machine *machine)
{
	return machine->now_ns;
}

void fake_machine_at(struct fake_machine *machine, uint64_t time_ns)
{
	machine->now_ns = time_ns;
}

static void add_task(struct fake_machine *machine, struct task_view task, const char *comm)
{
	task.time_ns = advance(machine);
	snprintf(task.comm, sizeof(task.comm), "%.*s", PKBPF_COMM_SIZE, comm);
	require(event_encode_task(&machine->records, &task) == 0, "cannot encode a task record");
}

void fake_process(struct fake_machine *machine, uint32_t pid, uint32_t parent_pid, const char *comm)
{
	set_comm(machine, pid, comm);
	add_task(machine,
		 (struct task_view){.kind = PKBPF_EVENT_FORK,
				    .pid = pid,
				    .tid = pid,
				    .parent_pid = parent_pid,
				    .parent_tid = parent_pid,
				    .from_snapshot = true},
		 "");
	add_task(machine,
		 (struct task_view){
			 .kind = PKBPF_EVENT_COMM, .pid = pid, .tid = pid, .from_snapshot = true},
		 comm);
}

void fake_fork(struct fake_machine *machine, uint32_t parent_pid, uint32_t pid)
{
	set_comm(machine, pid, comm_of(machine, parent_pid));
	add_task(machine,
		 (struct task_view){.kind = PKBPF_EVENT_FORK,
				    .pid = pid,
				    .tid = pid,
				    .parent_pid = parent_pid,
				    .parent_tid = parent_pid},
		 "");
}

void fake_thread(struct fake_machine *machine, uint32_t pid, uint32_t tid)
{
	add_task(machine,
		 (struct task_view){.kind = PKBPF_EVENT_FORK,
				    .pid = pid,
				    .tid = tid,
				    .parent_pid = pid,
				    .parent_tid = pid},
		 "");
}

void fake_exec(struct fake_machine *machine, uint32_t pid, const char *comm)
{
	set_comm(machine, pid, comm);
	add_task(machine,
		 (struct task_view){.kind = PKBPF_EVENT_COMM, .pid = pid, .tid = pid, .exec = true},
		 comm);
}

void fake_comm(struct fake_machine *machine, uint32_t pid, uint32_t tid, const char *comm)
{
	if (pid == tid)
		set_comm(machine, pid, comm);
	add_task(machine, (struct task_view){.kind = PKBPF_EVENT_COMM, .pid = pid, .tid = tid},
		 comm);
}

void fake_exit(struct fake_machine *machine, uint32_t pid, uint32_t tid)
{
	add_task(machine, (struct task_view){.kind = PKBPF_EVENT_EXIT, .pid = pid, .tid = tid}, "");
}

uint64_t fake_inode(const char *path)
{
	uint64_t hash = 14695981039346656037ULL; /* FNV-1a: the same inode in every run */

	for (; *path; path++)
		hash = (hash ^ (uint8_t)*path) * 1099511628211ULL;
	return (hash >> 32) | 1;
}

void fake_map(struct fake_machine *machine, uint32_t pid, uint64_t start, uint64_t end,
	      uint64_t file_offset, const char *path)
{
	bool has_file = path[0] == '/' && path[1] != '/';

	fake_map_view(machine, &(struct mapping_view){.pid = pid,
						      .start = start,
						      .end = end,
						      .file_offset = file_offset,
						      .inode = has_file ? fake_inode(path) : 0,
						      .device_major = has_file ? 8 : 0,
						      .device_minor = has_file ? 1 : 0,
						      .protection = 1 | PKBPF_PROT_EXEC,
						      .path = path});
}

void fake_map_view(struct fake_machine *machine, const struct mapping_view *mapping)
{
	struct mapping_view copy = *mapping;

	copy.time_ns = advance(machine);
	if (!copy.tid)
		copy.tid = copy.pid;
	require(event_encode_mapping(&machine->records, &copy) == 0,
		"cannot encode a mapping record");
}

void fake_sample(struct fake_machine *machine, uint32_t pid, uint32_t tid, struct fake_ips kernel,
		 struct fake_ips user)
{
	fake_sample_view(machine, &(struct sample_view){.pid = pid,
							.tid = tid,
							.kind = PKBPF_PROFILE_CPU,
							.user_end = user.count ? PKBPF_END_ROOT
									       : PKBPF_END_NONE,
							.after_syscall = kernel.count > 0,
							.count = 1,
							.weight = 1,
							.kernel_ips = kernel.items,
							.kernel_count = kernel.count,
							.user_ips = user.items,
							.user_count = user.count});
}

void fake_sample_view(struct fake_machine *machine, const struct sample_view *sample)
{
	struct sample_view copy = *sample;

	copy.time_ns = advance(machine);
	if (!copy.comm[0])
		snprintf(copy.comm, sizeof(copy.comm), "%s", comm_of(machine, copy.pid));
	require(event_encode_sample(&machine->records, &copy) == 0,
		"cannot encode a sample record");
}

void fake_lost(struct fake_machine *machine, enum pkbpf_counter cause, uint64_t count)
{
	struct lost_view lost = {.time_ns = advance(machine), .cause = cause, .count = count};

	require(event_encode_lost(&machine->records, &lost) == 0, "cannot encode a lost record");
}

static uint64_t play_from(const struct fake_machine *machine, size_t offset,
			  const struct event_sink *sink)
{
	struct event_queue *queue = event_queue_new();
	struct event_queue_stats stats;

	require(queue, "out of memory");
	while (offset < machine->records.size) {
		struct pkbpf_event_header header;

		memcpy(&header, machine->records.data + offset, sizeof(header));
		require(event_queue_push(queue, machine->records.data + offset, header.size) == 0,
			"the queue refused a record");
		offset += header.size;
	}
	event_queue_flush(queue, UINT64_MAX, sink);
	stats = event_queue_stats(queue);
	event_queue_free(queue);
	require(stats.malformed == 0, "the decoder refused a record");
	return stats.delivered;
}

uint64_t fake_play(const struct fake_machine *machine, const struct event_sink *sink)
{
	return play_from(machine, 0, sink);
}

uint64_t fake_play_new(struct fake_machine *machine, const struct event_sink *sink)
{
	uint64_t delivered = play_from(machine, machine->played, sink);

	machine->played = machine->records.size;
	return delivered;
}
