/* SPDX-License-Identifier: BSD-2-Clause */
/* Publishes the code of HotSpot JVMs: each code heap is a file with a table that changes. */
#ifndef PKBPF_UNWIND_TABLE_LOADER_HOTSPOT_H
#define PKBPF_UNWIND_TABLE_LOADER_HOTSPOT_H

#include "unwind/table/loader_private.h"

struct loader_hotspot;

/* NULL: out of memory. */
struct loader_hotspot *loader_hotspot_new(struct unwind_loader *loader);
void loader_hotspot_free(struct loader_hotspot *hotspot);
struct hotspot_tracker *loader_hotspot_tracker(struct loader_hotspot *hotspot);
/* The mappings of a process are about to be published: whether it is a JVM may have changed. */
void loader_hotspot_follow(struct loader_hotspot *hotspot, const struct tracked_process *process);
/* Adapts the description of a mapping without a file. */
void loader_hotspot_describe(struct loader_hotspot *hotspot, uint32_t pid,
			     struct pkbpf_unwind_mapping *mapping);
/* Looks for changes, and publishes tables. changed: mappings of the process are to be published
 * again. To be called often. */
void loader_hotspot_poll(struct loader_hotspot *hotspot, uint64_t now_ns,
			 void (*changed)(void *context, uint32_t pid));

#endif
