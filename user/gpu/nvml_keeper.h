/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NVIDIA's library in processes without rights: it is foreign code, which may block for seconds
 *when a device has fallen off the bus, crash, or write anywhere.
 *
 *	pkbpf ── keeper ── worker, with the library
 *
 * The keeper runs nothing of the library. It ends a worker that does not get on, and starts the
 *next one after a pause that grows. Both end with the program, however that ends.
 */
#ifndef PKBPF_GPU_NVML_KEEPER_H
#define PKBPF_GPU_NVML_KEEPER_H

#include "base/error.h"
#include "gpu/nvml_message.h"

struct nvml_keeper;

struct nvml_keeper_options {
	const char *library; /* as dlopen() takes it; NULL: the driver's */
	/* 0: the defaults, 1 s, 10 s and 1 s */
	uint64_t look_ns;  /* pause between two looks */
	uint64_t limit_ns; /* a worker that has not got on for so long is ended */
	uint64_t pause_ns; /* before the second worker; doubled each time up to 5 min */
};

/* Forks the keeper: while the program has one thread, and rights to give up. Negative errno. */
int nvml_keeper_start(const struct nvml_keeper_options *options, struct nvml_keeper **ret_keeper,
		      struct error *error);
/* Takes packets that have arrived, without waiting. true: there is a new complete look. */
bool nvml_keeper_read(struct nvml_keeper *keeper);
/* The newest complete look, in which busy_ns of uses is a percentage; NULL: none yet, or none since
 * a worker has ended: *ret_reason says why, "" while nothing is known yet. */
const struct gpu_look *nvml_keeper_look(const struct nvml_keeper *keeper, const char **ret_reason);
/* Packets and figures that were dropped because they cannot be. */
uint64_t nvml_keeper_dropped(const struct nvml_keeper *keeper);
/* Readable when a packet has arrived. */
int nvml_keeper_fd(const struct nvml_keeper *keeper);
void nvml_keeper_stop(struct nvml_keeper *keeper);

#endif
