/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds descendants of the target processes. */
#ifndef PKBPF_CAPTURE_SESSION_TARGET_TREE_H
#define PKBPF_CAPTURE_SESSION_TARGET_TREE_H

#include <stddef.h>
#include <stdint.h>

#include <pkbpf/config.h>

#include "base/parse_value.h"

/*
 * Appends to list every living descendant of the processes already in it that `follow` asks for:
 * all of them, or those that run the same program file as their parent (a worker's worker
 * included). Reads procfs once; whoever is started meanwhile must be caught by other means.
 * proc_path:
 * "/proc" or a test folder. -ENOMEM, or why procfs cannot be read.
 */
int target_tree_expand(const char *proc_path, enum pkbpf_follow follow, struct u32_list *list);

#endif
