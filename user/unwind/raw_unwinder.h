/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sink that turns raw stacks into samples. It sits between the time-ordered records and the next
 * sink, and passes all other records on.
 */
#ifndef PKBPF_UNWIND_RAW_UNWINDER_H
#define PKBPF_UNWIND_RAW_UNWINDER_H

#include <stdint.h>

#include "event/event_sink.h"
#include "process/process_table.h"
#include "unwind/code/generated_code.h"
#include "unwind/hotspot/hotspot_tracker.h"
#include "unwind/process_tracker.h"
#include "unwind/table/table_cache.h"

struct raw_unwinder_stats {
	uint64_t walked;    /* raw stacks that had to become samples */
	uint64_t complete;  /* of them: complete stacks */
	uint64_t waited_ns; /* time spent waiting for tables */
	uint64_t by_end[PKBPF_END_COUNT];
	/* stacks unwound in the kernel and unwound again here; of them, those that differ */
	uint64_t checked, check_wrong;
};

struct raw_unwinder;

/* All borrowed; used from the thread that feeds the sink. */
struct raw_unwinder_options {
	struct table_cache *tables; /* that thread is its owner */
	/* Mappings of every process at the time of the current record; the next sink updates it.
	 * Its file numbers are those of the tables. */
	struct process_table *processes;
	/* For processes whose mappings no record has announced; may be NULL. */
	struct process_tracker *live;
	struct generated_code *generated; /* may be NULL */
	struct hotspot_tracker *hotspot;  /* may be NULL */
	bool no_guess;			  /* only tables, no frame pointers */
};

/* NULL: out of memory. */
struct raw_unwinder *raw_unwinder_new(const struct raw_unwinder_options *options,
				      const struct event_sink *next);
void raw_unwinder_free(struct raw_unwinder *unwinder);
struct event_sink raw_unwinder_sink(struct raw_unwinder *unwinder);
struct raw_unwinder_stats raw_unwinder_stats(const struct raw_unwinder *unwinder);

#endif
