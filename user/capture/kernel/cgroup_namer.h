/* SPDX-License-Identifier: BSD-2-Clause */
/* Names the cgroups of recorded threads, as CGROUP and CONTAINER records. Names come from cgroup
 * directories while these exist, and from the kernel side (bpf/resource_cgroup.bpf.h) after
 * their removal. One owner thread. */
#ifndef PKBPF_CAPTURE_KERNEL_CGROUP_NAMER_H
#define PKBPF_CAPTURE_KERNEL_CGROUP_NAMER_H

#include <stdint.h>

#include "event/resource_event.h"

struct cgroup_namer;
struct cgroup_root;

/* Maximum of distinct cgroups with a name; rows of further ones show none. */
#define CGROUP_NAMER_CGROUPS_MAX 65536
/* Maximum bytes of all names. Usual names have 100 to 200 bytes, but any user who may create
 * cgroups can choose longer ones. */
#define CGROUP_NAMER_BYTES_MAX (16U << 20)

/* Takes ownership of the root, also on failure; NULL: out of memory. */
struct cgroup_namer *cgroup_namer_new(struct cgroup_root *root);
void cgroup_namer_free(struct cgroup_namer *namer);
/* Looks up the cgroup of a recorded thread. -ENOMEM. */
int cgroup_namer_look(struct cgroup_namer *namer, uint64_t cgroup_id);
/* Takes a CGROUP_NAMES record; copies it. -EBADMSG, -ENOMEM. */
int cgroup_namer_take(struct cgroup_namer *namer, const struct pkbpf_event_header *record);
/* Appends the names of cgroups added since the last call. -ENOMEM. */
int cgroup_namer_names(struct cgroup_namer *namer, struct event_buffer *buffer);
/* Number of cgroups without a name so far, at least: cgroups beyond CGROUP_NAMER_CGROUPS_MAX are
 * not counted. */
uint64_t cgroup_namer_unnamed(const struct cgroup_namer *namer);

#endif
