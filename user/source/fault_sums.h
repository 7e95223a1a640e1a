/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What has been sent of each process's page faults. BPF programs add to a process's numbers at any
 * moment, so an entry is never taken out of its map while somebody may add: what was added since is
 * the difference to what was sent. One thread.
 */
#ifndef PKBPF_SOURCE_FAULT_SUMS_H
#define PKBPF_SOURCE_FAULT_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include <pkbpf/faults.h>

#include "base/array.h"
#include "base/hash_map.h"

struct fault_sum {
	uint32_t pid;
	struct pkbpf_fault_process process;
	struct pkbpf_fault_announced announced;
};

struct fault_sums { /* zero-initialised is empty */
	ARRAY_OF(struct fault_sum) items;
	struct hash_map by_pid; /* -> index */
};

/* Changes numbers of a process, as they are in the maps, to what was added since the last call.
 * `announced` waits for the exact numbers that it is part of. Returns 1, 0 (nothing was added) or
 * -ENOMEM (numbers unchanged). */
int fault_sums_take(struct fault_sums *sums, uint32_t pid, struct pkbpf_fault_process *process,
		    struct pkbpf_fault_announced *announced);
/* The entries of an ended process are gone from the maps. */
void fault_sums_forget(struct fault_sums *sums, uint32_t pid);
void fault_sums_done(struct fault_sums *sums);

#endif
