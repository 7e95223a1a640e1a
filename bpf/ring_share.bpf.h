/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shares of the ring of samples: who sends new stacks without end, as a program with ever other
 * stacks does, must not cost its neighbours their samples. A cgroup, or a process where all are in
 * one cgroup, may send an eighth of the ring in an eighth of a second as soon as a quarter of the
 * ring is full. CPU samples need no share: their number is limited by their frequency, and the last
 * eighth of the ring is theirs.
 */
#ifndef PKBPF_RING_SHARE_BPF_H
#define PKBPF_RING_SHARE_BPF_H

#include "shared.bpf.h"

struct ring_share {
	__u64 window; /* in which the bytes were sent */
	__u64 bytes;
};

struct ring_shares_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct ring_share);
};
extern struct ring_shares_map ring_shares SEC(".maps");

/* May the current task send so many bytes that are no CPU sample? They are counted as sent. */
int ring_share_admits(__u32 size);

#endif
