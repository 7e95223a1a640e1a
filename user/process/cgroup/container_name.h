/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the user's name of a container in the files of its runtime; no daemon is contacted.
 * These files are internal to the runtimes and may change: an unknown format gives no name,
 * never a failure. */
#ifndef PKBPF_PROCESS_CGROUP_CONTAINER_NAME_H
#define PKBPF_PROCESS_CGROUP_CONTAINER_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "process/cgroup/cgroup_name.h"

/* Larger files are not read. */
#define CONTAINER_FILE_MAX_BYTES (1U << 20)
/* Maximum number of entries read in a directory of pods or containers. */
#define CONTAINER_FOLDER_MAX 65536

/* "web-1" (Docker, podman), "namespace/pod/container" (Kubernetes). root: a directory in place of
 * "/"; "": "/", and in a container the root directory of pid 1, which is the host's in its
 * namespace of pids (needs CAP_SYS_PTRACE). False: no name known, or the container has only its id.
 */
bool container_name_find(const char *root, const struct cgroup_name *cgroup, char *ret_name,
			 size_t size);

#endif
