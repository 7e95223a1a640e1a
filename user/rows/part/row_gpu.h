/* SPDX-License-Identifier: BSD-2-Clause */
/* What a row used of GPUs. */
#ifndef PKBPF_ROWS_PART_ROW_GPU_H
#define PKBPF_ROWS_PART_ROW_GPU_H

#include "rows/part/row_part.h"

struct gpu_process;

struct row_gpu {
	uint64_t time_ns; /* of all devices */
	double share;	  /* percent of one device */
	/* Of memory over time: KiB times milliseconds, and of which time: of processes one after
	 * the other that of all. */
	uint64_t kib_ms, begin_ns, end_ns;
	uint64_t memory_bytes, peak_bytes; /* mean; peak: of one process on one device */
	/* In calls that wait for a GPU: CPU samples and what they come to, and waits asleep. Both
	 * together are a state of its own, which the times on a CPU and asleep do not have. */
	uint64_t spin_periods, spin_ns, wait_ns, state_ns;
};

extern const struct row_part row_gpu_part;

void row_gpu_add(struct resource_row *row, const struct gpu_process *process);
/* A stack below a call that waits for a GPU. */
void row_gpu_add_call(struct resource_row *row, const struct profile_row *stack);

#endif
