/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names the cgroups that recorded threads are in, as CGROUP and CONTAINER records: by their folders
 * while they are there, by what the kernel side has read (bpf/resource_cgroup.bpf.h) when they are
 * gone. One owner thread.
 */
#ifndef PKBPF_CAPTURE_KERNEL_CGROUP_NAMER_H
#define PKBPF_CAPTURE_KERNEL_CGROUP_NAMER_H

#include <stdint.h>

#include "event/resource_event.h"

struct cgroup_namer;
struct cgroup_root;

/* Of distinct cgroups that are named; beyond, rows show none. */
#define CGROUP_NAMER_CGROUPS_MAX 65536
/* All names together: people's are 100 to 200 bytes long, but anybody who may make cgroups can make
 * longer ones. */
#define CGROUP_NAMER_BYTES_MAX (16U << 20)

/* Takes the root, also when it fails; NULL: out of memory. */
struct cgroup_namer *cgroup_namer_new(struct cgroup_root *root);
void cgroup_namer_free(struct cgroup_namer *namer);
/* Of a recorded thread. -ENOMEM. */
int cgroup_namer_look(struct cgroup_namer *namer, uint64_t cgroup_id);
/* A CGROUP_NAMES record, copied. -EBADMSG, -ENOMEM. */
int cgroup_namer_take(struct cgroup_namer *namer, const struct pkbpf_event_header *record);
/* Appends the names of cgroups that came since the last call. -ENOMEM. */
int cgroup_namer_names(struct cgroup_namer *namer, struct event_buffer *buffer);
/* How many have none by now, at least: beyond CGROUP_NAMER_CGROUPS_MAX nobody counts. */
uint64_t cgroup_namer_unnamed(const struct cgroup_namer *namer);

#endif
