/* SPDX-License-Identifier: BSD-2-Clause */
/* Decides when wakers are sampled: always while wake-ups are rare, otherwise in short bursts.
 * Each wake-up costs 0.1 us, even one that is not sampled. One owner thread. */
#ifndef PKBPF_SOURCE_OFFCPU_OFFCPU_WAKERS_H
#define PKBPF_SOURCE_OFFCPU_OFFCPU_WAKERS_H

#include <stdbool.h>
#include <stdint.h>

struct bpf_link;
struct pkbpf_bpf;

struct offcpu_wakers { /* zero-initialized: off */
	struct pkbpf_bpf *skeleton;
	struct bpf_link *link; /* NULL: not attached */
	uint64_t start_ns, next_stacks_ns;
	uint64_t attach_took_ns, next_attach_ns;
	bool failed; /* attaching failed; not retried */
};

void offcpu_wakers_begin(struct offcpu_wakers *wakers, struct pkbpf_bpf *skeleton,
			 uint64_t start_ns);
/* Call periodically. */
void offcpu_wakers_look(struct offcpu_wakers *wakers, uint64_t now_ns);
void offcpu_wakers_end(struct offcpu_wakers *wakers);

#endif
