/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of sites: what happens where a probe is. */
#ifndef PKBPF_SPAN_SITE_BPF_H
#define PKBPF_SPAN_SITE_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "span_region.bpf.h"

struct span_sites_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_span_site);
};
extern struct span_sites_map span_sites SEC(".maps");

/* Of a marker: it belongs to the program that was hit, and costs it time, whoever is a target. */
static __always_inline void count_hit(struct pt_regs *ctx)
{
	struct pkbpf_span_site *site;
	__u32 number;

	/* Before 5.15 there are no cookies, and this is no code. */
	if (!span_config.counts_hits)
		return;
	number = (__u32)bpf_get_attach_cookie(ctx);
	site = bpf_map_lookup_elem(&span_sites, &number);
	if (site)
		__sync_fetch_and_add(&site->hits, 1);
}

#endif
