/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps what `pkbpf serve` costs below a limit: a minute above it takes a step, ten minutes below
 * half of it give one back.
 */
#ifndef PKBPF_CLI_SERVE_GOVERNOR_H
#define PKBPF_CLI_SERVE_GOVERNOR_H

#include <pkbpf/event.h>

#include "live/live_options.h"

struct serve_governor {
	double limit; /* share of the machine; 0: none */
	unsigned int step;
	uint64_t cost_ns, elapsed_ns; /* of the minute at hand */
	unsigned int calm_minutes;
	double last_share; /* of the last whole minute */
};

/* Adds a slice: CPU time of all parts, its length, and the CPUs there are. Returns +1 or -1 when a
 * step is to be taken or given back, which step already counts; else 0. asked: kinds that were
 * asked for. */
int serve_governor_add(struct serve_governor *governor, uint64_t cost_ns, uint64_t length_ns,
		       unsigned int cpus, uint32_t asked);
/* Leaves out what the step sheds. */
void serve_governor_apply(const struct serve_governor *governor, struct live_options *live);
/* "stacks of page faults": what a step sheds beside those before it. */
const char *serve_governor_sheds(unsigned int step, uint32_t asked);

#endif
