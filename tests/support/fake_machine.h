/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A machine on paper for tests above the kernel: processes, threads, mappings and samples as calls,
 * turned into the record bytes a real machine would have sent. Every call is one moment: time moves
 * on by 1 ms, or is set with fake_machine_at(). Out of memory aborts the test program.
 *
 *	struct fake_machine *machine = fake_machine_new();
 *
 *	fake_process(machine, 100, 1, "server");		runs since before the interval
 *	fake_map(machine, 100, 0x400000, 0x500000, 0x1000, "/usr/bin/server");
 *	fake_sample(machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400123, 0x400456));
 *	fake_play(machine, &sink);				records in time order into a sink
 *	fake_machine_free(machine);
 */
#ifndef PKBPF_TEST_FAKE_MACHINE_H
#define PKBPF_TEST_FAKE_MACHINE_H

#include <stdint.h>

#include "event/encoder.h"
#include "event/event_sink.h"

#define FAKE_START_NS 1000000000ULL /* time of the first record */
#define FAKE_STEP_NS  1000000ULL

struct fake_ips {
	const uint64_t *items;
	size_t count;
};

/* A list of addresses, leaf first; FAKE_IPS() is the empty one. Lives as long as the enclosing
 * block. */
#define FAKE_IPS(...)                                                                              \
	((struct fake_ips){(const uint64_t[]){0, ##__VA_ARGS__} + 1,                               \
			   sizeof((const uint64_t[]){0, ##__VA_ARGS__}) / sizeof(uint64_t) - 1})

struct fake_machine;

struct fake_machine *fake_machine_new(void);
void fake_machine_free(struct fake_machine *machine);
/* All records so far, in order of the calls. Borrowed until the next call. */
const struct event_buffer *fake_machine_records(const struct fake_machine *machine);
uint64_t fake_machine_now_ns(const struct fake_machine *machine); /* time of the next record */
void fake_machine_at(struct fake_machine *machine, uint64_t time_ns);

/* A process that already ran at the start (FROM_SNAPSHOT records), with its first thread. */
void fake_process(struct fake_machine *machine, uint32_t pid, uint32_t parent_pid,
		  const char *comm);
/* Seen happening. A fork inherits comm and mappings of its parent. */
void fake_fork(struct fake_machine *machine, uint32_t parent_pid, uint32_t pid);
void fake_thread(struct fake_machine *machine, uint32_t pid, uint32_t tid);
void fake_exec(struct fake_machine *machine, uint32_t pid, const char *comm);
void fake_comm(struct fake_machine *machine, uint32_t pid, uint32_t tid, const char *comm);
void fake_exit(struct fake_machine *machine, uint32_t pid, uint32_t tid);
/* An executable mapping. A path beginning with '/' but not "//" gets device 8:1 and an inode that
 * depends on the path alone; all others ("//anon", "[vdso]", "") have none. */
void fake_map(struct fake_machine *machine, uint32_t pid, uint64_t start, uint64_t end,
	      uint64_t file_offset, const char *path);
/* Any mapping; time_ns and, when 0, tid are filled in. */
void fake_map_view(struct fake_machine *machine, const struct mapping_view *mapping);
uint64_t fake_inode(const char *path); /* the inode fake_map() gives to this path */

/* One CPU sample of count and weight 1 on CPU 0 whose user stack is complete (END_ROOT, or END_NONE
 * when there are no user addresses); comm is that of the process. */
void fake_sample(struct fake_machine *machine, uint32_t pid, uint32_t tid, struct fake_ips kernel,
		 struct fake_ips user);
/* Any sample; time_ns is filled in, comm too when it is "". */
void fake_sample_view(struct fake_machine *machine, const struct sample_view *sample);
void fake_lost(struct fake_machine *machine, enum pkbpf_counter cause, uint64_t count);

/* Sends all records through a queue and the decoder into sink. Returns the number delivered; aborts
 * the test program when the decoder refuses one. */
uint64_t fake_play(const struct fake_machine *machine, const struct event_sink *sink);
/* The same for the records encoded since the last call of this function. */
uint64_t fake_play_new(struct fake_machine *machine, const struct event_sink *sink);

#endif
