/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In how many slices the probes of each file are on, so that all of them cost what they may. A file
 * is watched in one of 1, 2, 4 … 1,024 slices; which one is drawn by a hash, so that it beats with
 * nothing that happens at regular times. Numbers only.
 */
#ifndef PKBPF_SOURCE_REGIONS_REGION_DUTY_H
#define PKBPF_SOURCE_REGIONS_REGION_DUTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REGION_DUTY_MOST 1024
/* A watched slice that costs so many times what one may ends early. */
#define REGION_DUTY_BURST 10

struct region_duty {	  /* zero-initialized: watched all the time, costs unknown */
	uint64_t cost_ns; /* of its last slice that was watched */
	uint32_t shift;	  /* one of 1 << shift slices */
};

struct region_duties {
	uint32_t dear_slices; /* one after the other */
	uint64_t cheap_ns;    /* for so long all cost less than half of what they may */
};

/* After a slice of length_ns in which all together may cost allowed_ns on average: takes away, or
 * gives back, one step. files: count of them, with their costs. true: some duty has changed. */
bool region_duties_step(struct region_duties *all, struct region_duty *const *files, size_t count,
			uint64_t allowed_ns, uint64_t length_ns);
/* Is the file with this identity watched in the slice with this number? */
bool region_duty_watches(const struct region_duty *duty, uint64_t identity, uint64_t sequence);

#endif
