/* SPDX-License-Identifier: BSD-2-Clause */
/* Target processes that have ended: the kernel's list of targets has them no longer. */
#ifndef PKBPF_SOURCE_REGIONS_PAST_TARGETS_H
#define PKBPF_SOURCE_REGIONS_PAST_TARGETS_H

#include <stdbool.h>
#include <stdint.h>

#include <pkbpf/config.h>

#include "base/parse_value.h"

struct process_table;

/* Adds to `targets`, which holds the pids of targets in any order, those of their descendants
 * that have ended at since_ns or later, as far as `follow` makes them targets. Sorts the list.
 * -ENOMEM: the list has some of them. */
int past_targets_add(struct process_table *processes, enum pkbpf_follow follow, uint64_t since_ns,
		     struct u32_list *targets);
/* `targets` as past_targets_add() has left it. */
bool past_targets_has(const struct u32_list *targets, uint32_t pid);

#endif
