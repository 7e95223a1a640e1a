/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the sums that the programs at probes of GPU libraries have made. */
#ifndef PKBPF_SOURCE_GPU_CALLS_GPU_CALL_ROWS_H
#define PKBPF_SOURCE_GPU_CALLS_GPU_CALL_ROWS_H

#include <stdint.h>

#include <pkbpf/gpu_call.h>

#include "event/encoder.h"
#include "process/process_table.h"
#include "source/source.h"

struct gpu_call_maps {
	int rows_fd, kernels_fd;
	struct process_table *processes;
};

/* Sends one row. -ENOMEM. */
int gpu_call_row_send(const struct gpu_call_maps *maps, const struct pkbpf_gpu_row_key *key,
		      const struct pkbpf_gpu_row *row, uint64_t now_ns,
		      struct event_buffer *buffer);

/* Sends rows of epochs before `until`, and deletes them. Adds the stacks that were read to
 * samples[group]. -ENOMEM; rows stay for the next time. */
int gpu_call_rows_drain(const struct gpu_call_maps *maps, uint32_t until, uint64_t now_ns,
			struct event_buffer *buffer, uint64_t *samples);
/* Reads names of kernels in memory of their processes that the programs could not read. */
void gpu_call_names_read(int kernels_fd);

/* Maps with numbers of stacks. */
struct gpu_call_stacks {
	int rows_fd, blocks_fd, launches_fd;
};

/* Calls take for each stack that is still to be sent. */
void gpu_call_rows_each_stack(const struct gpu_call_stacks *of, source_stack_fn *take,
			      void *context);

#endif
