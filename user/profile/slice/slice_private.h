/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files that merge slices; private. */
#ifndef PKBPF_PROFILE_SLICE_SLICE_PRIVATE_H
#define PKBPF_PROFILE_SLICE_SLICE_PRIVATE_H

#include <errno.h>

#include "profile/profile_private.h"

/* An item of `from` is missing in `into`, or not needed there. */
#define NOT_THERE UINT32_MAX

struct slice_merging {
	struct profile *into;
	const struct profile *from;
	/* number in `from` -> number in `into` */
	uint32_t *processes, *frames, *stacks;
	uint32_t *stack;   /* room for the longest one */
	uint64_t clock_ns; /* from the clock of `from` to that of `into` */
	double rate;	   /* weight of a CPU sample of `from` in those of `into` */
};

/* Clocks of slices that follow each other overlap by no more. */
#define CLOCK_SLACK_NS NS_PER_SECOND

/* 0 stays: not known, or not yet. */
static inline uint64_t slice_time_there(const struct slice_merging *work, uint64_t time_ns)
{
	return time_ns ? time_ns + work->clock_ns : 0;
}

static inline uint32_t slice_process_there(const struct slice_merging *work, uint32_t process)
{
	return process < process_table_count(work->from->processes) ? work->processes[process]
								    : NOT_THERE;
}

/* A list that is full keeps what it has; what it does not take is counted. */
static inline int slice_left_out(struct slice_merging *work, int err)
{
	if (err != -ENOSPC)
		return err;
	work->into->info.counters[PKBPF_COUNTER_MERGE_TOO_MANY]++;
	return 0;
}

/* Each adds that part of `from` to `into`; the first two fill in the numbers. -ENOMEM. */
int slice_merge_processes(struct slice_merging *work);
int slice_merge_stacks(struct slice_merging *work);
int slice_merge_accounts(struct slice_merging *work);
int slice_merge_resources(struct slice_merging *work);
/* What the run was. Last: others compare both. */
void slice_merge_info(struct profile_info *into, const struct profile_info *from);

/* What is to be added to times of `from`. */
uint64_t slice_clock_ns(const struct profile_info *into, const struct profile_info *from);
/* Brings both to one rate of samples; returns the weight of one of `from`. */
double slice_join_rates(struct profile *into, const struct profile_info *from);
uint64_t slice_scaled(uint64_t weight, double rate);

#endif
