/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides what a capture leaves out to stay within --max-overhead. Stacks of waits come first:
 * their source sees to them (source/offcpu/offcpu_governor.h). A second above the limit after that
 * takes the next step, and five below a third of it give one back. Counts and times of threads,
 * processes and devices stay exact in all of them.
 */
#ifndef PKBPF_LIVE_OVERHEAD_LIMIT_H
#define PKBPF_LIVE_OVERHEAD_LIMIT_H

#include <stdint.h>

#include <pkbpf/config.h>

struct overhead_limit {
	uint32_t limit_permille; /* of one CPU: pkbpf and its programs; 0: none */
	uint32_t kinds_mask;	 /* of the capture: steps of other kinds are no steps */
	uint32_t step;		 /* how many are taken */
	uint32_t seconds_above, seconds_below; /* in a row */
	uint64_t unheeded;		       /* seconds above, with nothing left to leave out */
};

/* Adds a second or so. Returns +1 or -1 when a step was taken or given back, else 0. */
int overhead_limit_add(struct overhead_limit *limit, uint64_t used_ns, uint64_t passed_ns);
/* What is left out at this step. */
struct pkbpf_shed_control overhead_limit_shed(const struct overhead_limit *limit);
/* Leaves out what either does. */
void overhead_shed_add(struct pkbpf_shed_control *shed, const struct pkbpf_shed_control *more);
/* "one page fault in 8 has a stack": what the step taken last leaves out; "": none is taken. */
const char *overhead_limit_text(const struct overhead_limit *limit);

#endif
