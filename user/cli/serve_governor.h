/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps what `pkbpf serve` costs below a limit. What is left out, step by step: most stacks of
 * waits, of page faults and of block requests; all stacks of page faults; most CPU samples; block
 * requests; waits. Counts and times of processes, threads and devices stay exact in all of them.
 *
 * A minute (six slices, whatever their length) above the limit takes a step, and so does a slice
 * above ten times the limit. Ten minutes in a row below half of it give one back; when that has to
 * be taken again within ten minutes, the next time takes twice as long. The first minute of a
 * capture, which reads all programs that run, is not judged.
 */
#ifndef PKBPF_CLI_SERVE_GOVERNOR_H
#define PKBPF_CLI_SERVE_GOVERNOR_H

#include <pkbpf/config.h>
#include <pkbpf/event.h>

#include "live/live_options.h"

struct serve_governor {
	double limit; /* share of the machine; 0: none */
	unsigned int step;
	unsigned int unjudged;	      /* slices of the capture, until all of its first minute */
	uint64_t cost_ns, elapsed_ns; /* of the minute at hand */
	unsigned int slices;	      /* of it */
	unsigned int calm_minutes;    /* in a row */
	unsigned int calm_wanted;     /* 0: as in the beginning */
	unsigned int since_given;     /* slices since a step was given back; 0: none was lately */
	double last_share;	      /* of what was judged last */
	uint64_t last_ns;	      /* its length */
};

/* A capture has begun. */
void serve_governor_begin(struct serve_governor *governor);
/* Adds a slice: CPU time of all parts, its length, and the CPUs there are. Returns +1 or -1 when a
 * step was taken or given back, else 0. asked: kinds that were asked for, of which alone something
 * can be left out. */
int serve_governor_add(struct serve_governor *governor, uint64_t cost_ns, uint64_t length_ns,
		       unsigned int cpus, uint32_t asked);
/* The kinds that are left at this step, and what is left out of them. */
uint32_t serve_governor_kinds(const struct serve_governor *governor, uint32_t asked);
struct pkbpf_shed_control serve_governor_shed(const struct serve_governor *governor,
					      uint32_t asked);
/* "stacks of page faults, 7 of 8": what step 1, 2… leaves out beside those before it. */
const char *serve_governor_text(unsigned int step, uint32_t asked);
/* All that is left out, as a list; "": nothing. */
void serve_governor_left_out(const struct serve_governor *governor, uint32_t asked, char *ret_text,
			     size_t size);

#endif
