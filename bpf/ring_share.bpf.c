// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Shares of the ring of samples. */
#include "ring_share.bpf.h"

/* An eighth of a second. */
#define WINDOW_SHIFT 27
/* All tasks are in it where cgroups are not used, or only those of version 1. */
#define ROOT_CGROUP 1

static __always_inline __u64 share_owner(void)
{
	__u64 cgroup_id = bpf_get_current_cgroup_id();

	return cgroup_id > ROOT_CGROUP ? cgroup_id : ~(bpf_get_current_pid_tgid() >> 32);
}

/* A global function, so that the verifier follows it once for all callers. */
__attribute__((noinline)) int ring_share_admits(__u32 size)
{
	/* Half of the ring. */
	__u64 half = config.ring_wakeup_bytes, window = bpf_ktime_get_ns() >> WINDOW_SHIFT;
	__u64 waiting = bpf_ringbuf_query(&sample_ring, BPF_RB_AVAIL_DATA), owner = share_owner();
	struct ring_share fresh = {window, 0}, *share = bpf_map_lookup_elem(&ring_shares, &owner);

	if (!share) {
		bpf_map_update_elem(&ring_shares, &owner, &fresh, BPF_ANY);
		share = bpf_map_lookup_elem(&ring_shares, &owner);
	}
	if (waiting + size > half + half / 4 * 3)
		return 0;
	if (!share)
		return 1;
	/* CPUs that do this at the same time make it less exact. */
	if (share->window != window) {
		share->window = window;
		share->bytes = 0;
	}
	share->bytes += size;
	return waiting < half / 2 || share->bytes <= half / 4;
}
