/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's records of process events (MMAP2, COMM, FORK, EXIT), from one perf ring per CPU,
 * translated into pkbpf records. */
#ifndef PKBPF_CAPTURE_PERF_SIDEBAND_H
#define PKBPF_CAPTURE_PERF_SIDEBAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "capture/cpu_list.h"
#include "event/encoder.h"

struct perf_sideband;

/* Opens a ring on each CPU of the list, except CPUs that went offline meanwhile. Adds the ring
 * descriptors to epoll_fd (borrowed) with data.u64 = epoll_tag. A ring is readable at once when
 * it has a record; with `lazy`, when a quarter of it is full. */
int perf_sideband_open(const struct cpu_list *cpus, bool lazy, int epoll_fd, uint64_t epoll_tag,
		       struct perf_sideband **ret_sideband, struct error *error);
/* Opens rings on CPUs that came online and closes those of CPUs that left; drain the latter
 * first. ret_opened: number of rings opened; earlier events on those CPUs are unknown. Returns the
 * error of the first CPU that cannot be watched; the others are. */
int perf_sideband_update(struct perf_sideband *sideband, const struct cpu_list *cpus,
			 size_t *ret_opened, struct error *error);
/* True when some ring has records. Much cheaper than draining. */
bool perf_sideband_waits(const struct perf_sideband *sideband);
/* Appends all records of the rings to buffer, in time order per CPU. -ENOMEM: the rest stays in
 * the rings. */
int perf_sideband_drain(struct perf_sideband *sideband, struct event_buffer *buffer);
void perf_sideband_close(struct perf_sideband *sideband);

/* Translates one perf record (`size` bytes with header and sample_id trailer) and appends it.
 * Skips unknown types. -EBADMSG: shorter than its type requires. Public for its tests. */
int perf_sideband_translate(const void *record, size_t size, struct event_buffer *buffer);

#endif
