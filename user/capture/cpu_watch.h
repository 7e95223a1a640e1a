/* SPDX-License-Identifier: BSD-2-Clause */
/* Follows CPU hotplug. Events opened on a CPU die when it goes offline and do not revive when it
 * returns. A new arrival number in the list says that they must be opened again, even when the
 * CPU was away between two polls. */
#ifndef PKBPF_CAPTURE_CPU_WATCH_H
#define PKBPF_CAPTURE_CPU_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "capture/cpu_list.h"

struct cpu_watch;

/* Reads the list. -ENOMEM, or the error of reading /sys. */
int cpu_watch_new(struct cpu_watch **ret_watch);
/* Readable when there is something to poll. -1: no uevents on this machine; the list is read
 * once a second, and a CPU that leaves and returns in between goes unnoticed. */
int cpu_watch_fd(const struct cpu_watch *watch);
/* Updates the list when the descriptor was readable (`announced`), and once a second. Returns
 * true when the list has changed. */
bool cpu_watch_poll(struct cpu_watch *watch, bool announced, uint64_t now_ns);
const struct cpu_list *cpu_watch_list(const struct cpu_watch *watch);
void cpu_watch_free(struct cpu_watch *watch);

/* CPUs that came online since the last poll, one item for each uevent. */
struct cpu_arrivals {
	ARRAY_OF(uint32_t) numbers;
	bool any; /* some uevent arrived */
	bool all; /* uevents were lost: any CPU may have come online */
};

/* Numbers the arrivals of a list just read: CPUs that stayed online keep theirs, others get the
 * next of *last. The kernel lists a CPU before it sends the uevent, so the first uevent of one
 * that was found in the list reports nothing new. Returns true when the lists differ. Public for
 * its tests. */
bool cpu_watch_number(const struct cpu_list *known, struct cpu_list *fresh,
		      const struct cpu_arrivals *arrivals, uint32_t *last);
/* Parses a uevent; true when it reports a CPU coming online. Public for its tests. */
bool cpu_watch_parse(const char *message, size_t size, uint32_t *ret_number);

#endif
