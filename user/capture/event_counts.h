/* SPDX-License-Identifier: BSD-2-Clause */
/* Perf events that count, and do not sample: of processes and what they start, of a cgroup, or of
 * all CPUs. */
#ifndef PKBPF_CAPTURE_EVENT_COUNTS_H
#define PKBPF_CAPTURE_EVENT_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct counted_event {
	uint32_t type; /* PERF_TYPE_* */
	uint64_t config;
};

#define EVENT_COUNTS_MAX 32 /* events of one set */

struct event_counts;

/* What is counted. The threads are those of now and all that they start; with neither tids nor
 * cgroup_fd all CPUs. */
struct event_scope {
	const uint32_t *tids;
	size_t tid_count;
	int cgroup_fd; /* directory of a cgroup v2; -1: none */
	uint32_t cpu_count;
};

/* Events that cannot be opened everywhere are left out; error says why of the first one when none
 * is left, and then it returns NULL. */
struct event_counts *event_counts_open(const struct counted_event *events, size_t count,
				       const struct event_scope *scope, struct error *error);
/* Of one process that starts others, as above. */
struct event_counts *event_counts_open_process(const struct counted_event *events, size_t count,
					       uint32_t pid, struct error *error);

struct event_count {
	bool known;  /* had a counter at some time since the last reading */
	bool scaled; /* only part of that time: extrapolated */
	double value;
};

/* Since the last reading, or the opening; by the order of the events. */
void event_counts_read(struct event_counts *counts, struct event_count *ret_counts);
void event_counts_free(struct event_counts *counts); /* NULL is fine */

#endif
