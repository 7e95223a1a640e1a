/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of all HotSpot JVMs, with an unwind rule for each address.
 *
 * Code heaps are looked at each HOTSPOT_TRACKER_LOOK_NS. New code gets its rows within a budget: at
 * first HOTSPOT_TRACKER_FIRST_NS of CPU time for a process, then 2 % of a CPU for all; rows that a
 * stack needs are made at once, for up to 10 % of a CPU. Until then addresses are pending; those of
 * freed code that is used again have the rows of the former code until the next publication.
 *
 * Bounds: HOTSPOT_TRACKER_PROCESSES JVMs; of each HOTSPOT_TRACKER_MOST_ROWS rows, and those of
 * hotspot_process.h. x86-64 only. One owner thread.
 */
#ifndef PKBPF_UNWIND_HOTSPOT_HOTSPOT_TRACKER_H
#define PKBPF_UNWIND_HOTSPOT_HOTSPOT_TRACKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "hotspot/hotspot_image.h"
#include "hotspot/hotspot_process.h"
#include "pkbpf/unwind.h"
#include "unwind/hotspot/hotspot_rows.h"
#include "unwind/table/unwind_table.h"

#define HOTSPOT_TRACKER_PROCESSES 64
#define HOTSPOT_TRACKER_MOST_ROWS (1U << 20)
#define HOTSPOT_TRACKER_LOOK_NS	  100000000ULL
#define HOTSPOT_TRACKER_FIRST_NS  200000000ULL

struct hotspot_tracker;

/* log: borrowed, may be NULL. NULL: out of memory. */
struct hotspot_tracker *hotspot_tracker_new(const struct log *log);
void hotspot_tracker_free(struct hotspot_tracker *tracker);

/* A process has loaded this file, named path, at a load bias. born_ns: of its image, to tell
 * processes with the same number apart. */
void hotspot_tracker_follow(struct hotspot_tracker *tracker, uint32_t pid, uint64_t born_ns,
			    const struct hotspot_image *image, uint64_t bias, const char *path);
void hotspot_tracker_forget(struct hotspot_tracker *tracker, uint32_t pid);
/* Numbers of the processes. Returns how many there are. */
size_t hotspot_tracker_pids(const struct hotspot_tracker *tracker,
			    uint32_t pids[HOTSPOT_TRACKER_PROCESSES]);
/* Looks at the processes that are due, and makes rows. To be called often. */
void hotspot_tracker_poll(struct hotspot_tracker *tracker, uint64_t now_ns);

enum hotspot_tracker_rule {
	HOTSPOT_TRACKER_FOREIGN, /* no code of a JVM that is known */
	HOTSPOT_TRACKER_PENDING, /* not listed, or not yet */
	HOTSPOT_TRACKER_KNOWN,	 /* *ret_rule is set */
};
/* The rule for an address. Looks at the process for it unless it did a moment ago. */
enum hotspot_tracker_rule hotspot_tracker_find_rule(struct hotspot_tracker *tracker, uint32_t pid,
						    uint64_t address,
						    struct pkbpf_unwind_rule *ret_rule);
/* How long to wait before a rule that is pending is looked for again. */
uint64_t hotspot_tracker_wait_ns(const struct hotspot_tracker *tracker, uint32_t pid,
				 uint64_t now_ns);
/* Whether rules of the process have changed at or after a moment. */
bool hotspot_tracker_changed_since(const struct hotspot_tracker *tracker, uint32_t pid,
				   uint64_t time_ns);
/* Whether an anonymous mapping has Java code, or may have: the process is a JVM whose heaps are not
 * known yet. No frame pointer is guessed there. */
bool hotspot_tracker_covers(const struct hotspot_tracker *tracker, uint32_t pid, uint64_t start,
			    uint64_t end);

/* false: no JVM, or one of an unknown version. */
bool hotspot_tracker_knows(const struct hotspot_tracker *tracker, uint32_t pid);
/* Differs for each JVM that was followed, also under one pid; 0: none. */
uint64_t hotspot_tracker_serial(const struct hotspot_tracker *tracker, uint32_t pid);

/* Code heaps of a process, for publication. */
size_t hotspot_tracker_heap_count(const struct hotspot_tracker *tracker, uint32_t pid);
struct hotspot_heap_range hotspot_tracker_heap(const struct hotspot_tracker *tracker, uint32_t pid,
					       size_t index);
/* Counts changes of the rules of a process, from 1; 0: it is not known. */
uint64_t hotspot_tracker_generation(const struct hotspot_tracker *tracker, uint32_t pid);
/* The table of a heap, with all of its rows. -ENOENT: unknown heap; -ENOMEM. *ret_rules is borrowed
 * until the next call. */
int hotspot_tracker_table(struct hotspot_tracker *tracker, uint32_t pid, size_t heap,
			  struct unwind_table **ret_table,
			  const struct pkbpf_unwind_rule **ret_rules, uint32_t *ret_rule_count);

#endif
