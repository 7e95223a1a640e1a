/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds descendants of the target processes. */
#ifndef PKBPF_CAPTURE_SESSION_TARGET_TREE_H
#define PKBPF_CAPTURE_SESSION_TARGET_TREE_H

#include <stddef.h>
#include <stdint.h>

#include <pkbpf/config.h>

#include "base/parse_value.h"

/* Appends the living descendants of the listed processes according to `follow`: all, or those
 * that run the same program file as their parent (also a worker's worker). Reads procfs once;
 * processes started meanwhile must be caught by other means. proc_path: "/proc" or a test
 * directory. -ENOMEM, or the error of reading procfs. */
int target_tree_expand(const char *proc_path, enum pkbpf_follow follow, struct u32_list *list);

#endif
