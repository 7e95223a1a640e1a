/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What people call a container, from the files its runtime keeps; no daemon is asked. Those files
 * are the runtimes' own business and may change: whatever is not found or not understood gives no
 * name, never a failure.
 */
#ifndef PKBPF_PROCESS_CGROUP_CONTAINER_NAME_H
#define PKBPF_PROCESS_CGROUP_CONTAINER_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "process/cgroup/cgroup_name.h"

/* Larger files are not read. */
#define CONTAINER_FILE_MAX_BYTES (1U << 20)
/* Entries looked at in a folder of pods or containers. */
#define CONTAINER_FOLDER_MAX 65536

/*
 * "web-1" (Docker, podman), "namespace/pod/container" (Kubernetes). root: "" or a folder that
 * stands for "/". False: no name is known, or the container has none but its id.
 */
bool container_name_find(const char *root, const struct cgroup_name *cgroup, char *ret_name,
			 size_t size);

#endif
