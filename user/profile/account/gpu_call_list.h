/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of GPU libraries in an interval: sums of all of them, those of stacks that were read, and
 * those that failed. One owner thread. */
#ifndef PKBPF_PROFILE_ACCOUNT_GPU_CALL_LIST_H
#define PKBPF_PROFILE_ACCOUNT_GPU_CALL_LIST_H

#include <stdint.h>

#include <pkbpf/gpu_call.h>

#include "base/array.h"
#include "base/hash_map.h"

#define GPU_CALL_ROWS_MAX 65536
#define GPU_CALL_NO_STACK UINT32_MAX

struct gpu_call {
	uint32_t process; /* incarnation id */
	uint32_t group;	  /* enum pkbpf_gpu_group */
	uint32_t what;	  /* enum pkbpf_gpu_what */
	/* profile_string(): of the function, without the suffix of its variant; of the kernel,
	 * as it was registered: "": not known */
	uint32_t function, name;
	uint32_t kernel; /* stack whose only frame is the kernel's host function; or none */
	uint32_t stack;	 /* STACK; or none */
	uint32_t comm;	 /* profile_string() */
	/* Of a copy: enum pkbpf_gpu_way; of an error: its code; of a launch: the handle of a kernel
	 * without a name; PKBPF_GPU_OTHERS: of calls that found no room */
	uint64_t detail;
	uint64_t count;
	uint64_t unmeasured; /* of count: without time */
	uint64_t ns, max_ns;
	uint64_t bytes;
	uint64_t blocks; /* that launches started */
	uint64_t freed, freed_bytes;
	uint64_t samples; /* STACK, STREAM: stacks that were read; others stand for the rest */
	uint64_t stream;  /* STREAM: a handle, or enumerated in pkbpf/gpu_call.h */
	/* Kernels of these launches that a library in the program has reported, and their time on
	 * the device. */
	uint64_t runs, run_ns, run_max_ns;
};

struct gpu_call_list { /* zero-initialized: empty */
	ARRAY_OF(struct gpu_call) items;
	struct hash_map numbers; /* hash of the key -> index */
};

/* Adds to the row with its key. -ENOMEM; -ENOSPC: there is no room. */
int gpu_call_list_add(struct gpu_call_list *list, const struct gpu_call *call);

#endif
