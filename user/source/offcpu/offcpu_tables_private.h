/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files behind source/offcpu/offcpu_tables.h. */
#ifndef PKBPF_SOURCE_OFFCPU_OFFCPU_TABLES_PRIVATE_H
#define PKBPF_SOURCE_OFFCPU_OFFCPU_TABLES_PRIVATE_H

#include <stdbool.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "source/mapped_table.h"
#include "source/offcpu/offcpu_tables.h"

/* Values of a row that have been sent. */
struct sent_row {
	uint64_t count, total_ns, queue_ns, estimated_ns, estimated_queue_ns;
	bool settled; /* a row of a single wait, fully sent */
};

struct sent_thread {
	uint64_t wall_ns;
	uint64_t time_ns[PKBPF_WAIT_STATES], count[PKBPF_WAIT_STATES];
	uint64_t voluntary, involuntary, without_stack;
};

/* Waiting time of one process in one state since the last drain: the total of its threads, the
 * part that rows have exactly, and the estimate of the samples for the rest. */
struct waited {
	uint32_t pid;
	uint8_t state;
	uint64_t exact_ns, known_ns, estimated_ns;
};

struct offcpu_tables {
	struct pkbpf_bpf *skeleton;
	struct mapped_table threads, rows, histograms;
	struct sent_row *sent_rows;
	struct sent_thread *sent_threads;
	struct pkbpf_wait_histogram *sent_histograms;
	uint32_t used_rows, used_histograms; /* at the last drain */
	/* of the record being built */
	struct pkbpf_histogram_bucket buckets[PKBPF_HISTOGRAM_BUCKETS];
	bool sampled;
	bool traced; /* the account of each thread that ends is sent, too */
	/* of a cut: waits in flight are sent ahead until this time, also in their row; else 0 */
	uint64_t until_ns;
	uint64_t *ahead_ns;		/* by row; NULL: no cut yet, or no memory */
	uint64_t without_stack;		/* number of waits to report */
	ARRAY_OF(struct waited) waited; /* of the current drain, when sampled */
	struct hash_map waited_numbers;
};

struct thread_times {
	uint64_t time_ns[PKBPF_WAIT_STATES], count[PKBPF_WAIT_STATES];
};

/* offcpu_ahead.c: reads the times of a thread; with until_ns, including its current state. */
void offcpu_read_times(const volatile struct pkbpf_thread *thread, uint64_t until_ns,
		       struct thread_times *ret_times);
/* At a cut: sums the time so far of waits in flight, by row. */
void offcpu_sum_ahead(struct offcpu_tables *tables);
/* Counts time sent ahead as sent when it turns out to be run-queue time: the sum of both is
 * exact. */
void offcpu_settle(uint64_t now_ns, uint64_t *sent_ns, uint64_t now_queue_ns,
		   uint64_t *sent_queue_ns);
/* offcpu_drain.c: appends records of all increments since the last call; counts the rows and
 * histograms in use. */
int offcpu_drain_increments(struct offcpu_tables *tables, struct event_buffer *buffer);

#endif
