/* SPDX-License-Identifier: BSD-2-Clause */
/* Off-CPU time of a row by state, and wait-time distributions. */
#ifndef PKBPF_ROWS_PART_ROW_WAITS_H
#define PKBPF_ROWS_PART_ROW_WAITS_H

#include "rows/part/row_part.h"

/* Off-CPU time was recorded. */
#define ROW_HAS_WAITS ROW_HAS_KIND(PKBPF_PROFILE_OFFCPU)

struct row_waits {
	uint64_t on_cpu_ns, sleep_ns, disk_ns, uninterruptible_ns, stopped_ns;
	/* From the kernel's account (which is kept beside it); of off-CPU when that was
	 * recorded. */
	uint64_t runqueue_ns, account_runqueue_ns;
	uint64_t offcpu_ns; /* all of them but on-CPU, with the run queue */
	uint64_t wall_ns;   /* and with on-CPU: wall time of all threads */
	double disk_share;  /* percent of the wall time */
	uint64_t count;	    /* of waits, each with its end on the run queue */
	/* Of parts of waits: the end on the run queue is one of its own. */
	struct row_lengths lengths, runqueue, disk;
	/* Of sleep_ns at most, were each wait no longer than nearly all of the row's block requests
	 * took. */
	uint64_t request_sleep_ns;
};

extern const struct row_part row_waits_part;

#endif
