/* SPDX-License-Identifier: BSD-2-Clause */
/* One slice of a capture as formats with a time axis draw it: the stacks of each process and kind,
 * sorted, so that those with a common beginning stand beside each other. */
#ifndef PKBPF_EXPORT_TIMELINE_TIMELINE_SLICE_H
#define PKBPF_EXPORT_TIMELINE_TIMELINE_SLICE_H

#include "export/format.h"
#include "finding/results.h"
#include "profile/function_table.h"

/* What is not measured is said in the file. */
#define TIMELINE_NOTE                                                                              \
	"recorded in slices: stacks belong to their slice, their order and place within it are "   \
	"not measured; times of slow block requests are"

#define TIMELINE_TRACE_NOTE                                                                        \
	"recorded with --trace: CPU samples, waits and block requests are single events at their " \
	"times, waits and requests from the length of --trace-min on; off-CPU and block I/O "      \
	"stacks of all lengths belong to their slice, their order and place within it are not "    \
	"measured"

struct timeline_stack {
	uint32_t pid;
	uint64_t born_ns; /* with the pid one process, whatever it executed; 0: before the start */
	const char *comm;
	enum pkbpf_profile_kind kind;
	uint64_t weight;
	size_t path, depth; /* of functions, root first: timeline_path() */
};

struct timeline_slice {
	const struct profile *profile;
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	struct function_table *functions;
	struct results results;
	const struct resource_rows *rows;
	struct timeline_stack *stacks; /* by pid, kind and path */
	size_t stack_count;
	uint32_t *paths;
	size_t path_count, path_capacity;
	/* All CPU samples of the slice are among the moments; stacks[] has none then. */
	bool has_samples;
	const struct moment **moments; /* in order of time */
	size_t moment_count;
	/* block requests that are known one by one: the slowest, and those of the trace */
	struct slow_io *requests;
	size_t request_count;
};

/* -ENOMEM. */
int timeline_slice_init(struct timeline_slice *slice, const struct profile *profile, bool lines);
void timeline_slice_done(struct timeline_slice *slice);
static inline const uint32_t *timeline_path(const struct timeline_slice *slice,
					    const struct timeline_stack *stack)
{
	return slice->paths + stack->path;
}
/* The stack of a single event, in the same form, until the next call; -ENOMEM. */
int timeline_moment_stack(struct timeline_slice *slice, const struct moment *moment,
			  struct timeline_stack *ret_stack);
/* How long the stacks of a kind took, of a weight: CPU samples by their rate; 0: it is no time. */
double timeline_weight_ns(const struct timeline_slice *slice, enum pkbpf_profile_kind kind,
			  uint64_t weight);

#endif
