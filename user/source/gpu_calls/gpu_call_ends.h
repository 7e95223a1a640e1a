/* SPDX-License-Identifier: BSD-2-Clause */
/* What is left when processes end: memory that they had, names of their kernels, and calls that
 * have not returned. */
#ifndef PKBPF_SOURCE_GPU_CALLS_GPU_CALL_ENDS_H
#define PKBPF_SOURCE_GPU_CALLS_GPU_CALL_ENDS_H

#include <stdbool.h>

#include "source/gpu_calls/gpu_call_rows.h"

struct gpu_call_ends {
	int blocks_fd, resets_fd;
	uint64_t swept_ns; /* of the last look */
};

/* Sends what processes had that have ended or reset their device since the last time, as freed.
 * -ENOMEM: some of it is not sent. */
int gpu_call_ends_send(struct gpu_call_ends *ends, const struct gpu_call_maps *maps,
		       uint64_t now_ns, struct event_buffer *buffer);
/* Was this block there before its process lost all? */
bool gpu_block_is_gone(const struct pkbpf_gpu_block *block, const struct pkbpf_gpu_reset *reset);
/* Removes names of processes that have ended. */
void gpu_call_ends_forget_names(int kernels_fd);
/* Calls that have begun and not returned. */
uint64_t gpu_call_ends_open_calls(int threads_fd);

#endif
