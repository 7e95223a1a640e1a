/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clients of DRM devices over time: which processes have one open, and what each used since the
 * last look. Descriptors that share a client, and processes that inherited them, count once: for
 * the process that had it first.
 */
#ifndef PKBPF_GPU_DRM_CLIENTS_H
#define PKBPF_GPU_DRM_CLIENTS_H

#include "gpu/gpu_reading.h"

struct drm_clients;

/* root: "" on the machine itself; borrowed. NULL: out of memory. */
struct drm_clients *drm_clients_new(const char *root);
/*
 * Adds devices and uses to the look, busy_permille of a device by the sum of its clients. Processes
 * that have a client are looked at each time, all others as rarely as keeps it below half a percent
 * of a CPU (at least each half minute): a client that is made and ends in between is not seen.
 *
 * Time of a client that was there at the first look counts from then on; of a later one from its
 * begin, but no more than since the processes were last looked through. A counter that goes back is
 * taken to catch up, as its documentation has it, and counts nothing until it does. What a client
 * that has ended used after the last look is not known; it is counted in look->ended. since_ns:
 * that have passed since the last look; 0: it is the first. Clients whose driver counts no time are
 * in look->untimed.
 */
void drm_clients_look(struct drm_clients *clients, uint64_t now_ns, uint64_t since_ns,
		      struct gpu_look *look);
void drm_clients_free(struct drm_clients *clients);

#endif
