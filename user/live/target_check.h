/* SPDX-License-Identifier: BSD-2-Clause */
/* Do the things somebody wants profiled exist: asked before anything is loaded, answered in one
 * sentence. */
#ifndef PKBPF_LIVE_TARGET_CHECK_H
#define PKBPF_LIVE_TARGET_CHECK_H

#include <stdint.h>

#include "base/error.h"

/* -ESRCH: no such process, or one that exited; -EINVAL: a thread that is not a process.
 * *ret_pidfd (the caller closes it) refers to the process whatever becomes of the number; -1 when
 * descriptors have run out. */
int target_check_process(uint32_t pid, int *ret_pidfd, struct error *error);
int target_check_thread(uint32_t tid, struct error *error);
/* *ret_path (the caller frees it): the folder in the cgroup file system. A path that does not exist
 * as it stands is looked for below each mounted cgroup2 root. */
int target_check_cgroup(const char *path, char **ret_path, struct error *error);

#endif
