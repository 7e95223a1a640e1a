/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of GPU libraries of a slice as values to compare: launches by kernel, bytes of copies by
 * direction, allocations by place, and waits by function. */
#ifndef PKBPF_DIFF_MEASURE_GPU_H
#define PKBPF_DIFF_MEASURE_GPU_H

#include "diff/measurement.h"
#include "profile/profile.h"

/* What a report says of calls of one function. Texts are borrowed, and "" where there are none. */
struct gpu_figures {
	const char *group, *function, *kernel, *direction;
	double calls, blocks, bytes;
	double time_ns, kernel_ns; /* of the calls; of the device that worked for them */
};

/* Adds to the last slice. false: out of memory. */
bool measure_gpu_call(struct measurement *measurement, const struct gpu_figures *figures);
/* All calls of a profile. -ENOMEM. */
int measure_gpu(struct measurement *measurement, const struct profile *profile);

#endif
