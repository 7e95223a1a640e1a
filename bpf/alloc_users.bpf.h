/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The scratch memory of allocations: programs of uprobes may be preempted, by a thread that hits a
 * probe as well. */
#ifndef PKBPF_ALLOC_USERS_BPF_H
#define PKBPF_ALLOC_USERS_BPF_H

#include "scratch_user.bpf.h"
#include "shared.bpf.h"

struct alloc_users {
	__u32 first;  /* of SCRATCH_ALLOC */
	__u32 nested; /* of SCRATCH_ALLOC_NESTED */
};

struct alloc_users_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct alloc_users);
};
extern struct alloc_users_map alloc_users SEC(".maps");

#endif
