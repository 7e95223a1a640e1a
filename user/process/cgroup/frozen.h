/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is paused by the freezer of cgroups, version 1 or 2. What cannot be read is not paused. */
#ifndef PKBPF_PROCESS_CGROUP_FROZEN_H
#define PKBPF_PROCESS_CGROUP_FROZEN_H

#include <stdbool.h>
#include <stdint.h>

/* path: of a directory, or below the root of the v2 hierarchy. */
bool frozen_cgroup(const char *path);
bool frozen_process(uint32_t pid);
/* Whether one of the containers is that are meant: see container_match(). */
bool frozen_container(const char *text);

#endif
