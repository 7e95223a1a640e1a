/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When wakers are sampled: as long as wake-ups are few, always; else for a moment every now and
 * then, since each costs 0.1 us, wanted or not. One owner thread.
 */
#ifndef PKBPF_SOURCE_OFFCPU_OFFCPU_WAKERS_H
#define PKBPF_SOURCE_OFFCPU_OFFCPU_WAKERS_H

#include <stdbool.h>
#include <stdint.h>

struct bpf_link;
struct pkbpf_bpf;

struct offcpu_wakers { /* zero-initialised is off */
	struct pkbpf_bpf *skeleton;
	struct bpf_link *link; /* NULL: not attached */
	uint64_t start_ns, next_stacks_ns;
	bool failed; /* to attach: not tried again */
};

/* Wake-ups that may be seen until now, in all. */
uint64_t offcpu_wakers_allowed(uint64_t passed_ns);
void offcpu_wakers_begin(struct offcpu_wakers *wakers, struct pkbpf_bpf *skeleton,
			 uint64_t start_ns);
/* Every now and then. */
void offcpu_wakers_look(struct offcpu_wakers *wakers, uint64_t now_ns);
void offcpu_wakers_end(struct offcpu_wakers *wakers);

#endif
