/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's own announcements of what processes do (MMAP2, COMM, FORK, EXIT), one perf ring per
 * CPU, translated into our records.
 */
#ifndef PKBPF_CAPTURE_PERF_SIDEBAND_H
#define PKBPF_CAPTURE_PERF_SIDEBAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "capture/cpu_list.h"
#include "event/encoder.h"

struct perf_sideband;

/* Opens a ring on each CPU of the list; CPUs that went offline meanwhile are left out. epoll_fd
 * gets every ring's descriptor added, with data.u64 = epoll_tag, and is only borrowed. It is
 * readable at once when something happens, or, where `lazy`, when a quarter of the ring is full. */
int perf_sideband_open(const struct cpu_list *cpus, bool lazy, int epoll_fd, uint64_t epoll_tag,
		       struct perf_sideband **ret_sideband, struct error *error);
/* Opens rings on CPUs that came online, closes those of CPUs that left: what these still hold is to
 * be drained before. Returns how many were opened: what happened there before is unknown. */
int perf_sideband_update(struct perf_sideband *sideband, const struct cpu_list *cpus,
			 struct error *error);
/* Whether any ring holds something: looking is much cheaper than draining. */
bool perf_sideband_waits(const struct perf_sideband *sideband);
/* Appends what the rings hold to buffer as records; per CPU in time order. -ENOMEM: the rest stays
 * in the rings. */
int perf_sideband_drain(struct perf_sideband *sideband, struct event_buffer *buffer);
void perf_sideband_close(struct perf_sideband *sideband);

/* Translates one perf record (header included, `size` bytes, with our sample_id trailer) and
 * appends it. Unknown types are passed over. -EBADMSG: shorter than its type says. Public for its
 * tests. */
int perf_sideband_translate(const void *record, size_t size, struct event_buffer *buffer);

#endif
