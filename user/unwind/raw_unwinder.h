/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sink that turns raw stacks into samples: it stands between the records in time order and the
 * next sink, and passes everything else on.
 */
#ifndef PKBPF_UNWIND_RAW_UNWINDER_H
#define PKBPF_UNWIND_RAW_UNWINDER_H

#include <stdint.h>

#include "event/event_sink.h"
#include "process/process_table.h"
#include "unwind/code/generated_code.h"
#include "unwind/process_tracker.h"
#include "unwind/table/table_cache.h"

struct raw_unwinder_stats {
	uint64_t walked;    /* raw stacks seen that were to become samples */
	uint64_t complete;  /* of them, reached the root */
	uint64_t waited_ns; /* for tables */
	uint64_t by_end[PKBPF_END_COUNT];
	/* stacks that had been unwound in the kernel; those unwound differently here */
	uint64_t checked, check_wrong;
};

struct raw_unwinder;

/* All borrowed, used from the thread that feeds the sink. */
struct raw_unwinder_options {
	struct table_cache *tables; /* whose owner that thread is */
	/* What every process has mapped at that moment: the next sink feeds it with what is passed
	 * on. Its files are those of the tables. */
	struct process_table *processes;
	/* Asked for processes of which no record has announced a mapping; may be NULL. */
	struct process_tracker *live;
	struct generated_code *generated; /* may be NULL */
	bool no_guess;			  /* tables only */
};

/* NULL: out of memory. */
struct raw_unwinder *raw_unwinder_new(const struct raw_unwinder_options *options,
				      const struct event_sink *next);
void raw_unwinder_free(struct raw_unwinder *unwinder);
struct event_sink raw_unwinder_sink(struct raw_unwinder *unwinder);
struct raw_unwinder_stats raw_unwinder_stats(const struct raw_unwinder *unwinder);

#endif
