/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Threads of the targets that have begun to exit and are not freed yet. */
#ifndef PKBPF_RESOURCE_BPF_H
#define PKBPF_RESOURCE_BPF_H

#include "shared.bpf.h"

#include <pkbpf/resource.h>

/* Zombies stay in the map until their parent reaps them. Threads without room are counted. */
#define RESOURCE_EXITING_MAX 16384

struct resource_exiting_map { /* tid -> numbers at the start of the exit */
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RESOURCE_EXITING_MAX);
	__type(key, __u32);
	__type(value, struct pkbpf_event_resource);
};
extern struct resource_exiting_map resource_exiting_threads SEC(".maps");

#endif
