/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of sites: what happens where a probe is. */
#ifndef PKBPF_SPAN_SITE_BPF_H
#define PKBPF_SPAN_SITE_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include <pkbpf/span.h>

struct span_sites_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_span_site);
};
extern struct span_sites_map span_sites SEC(".maps");

#endif
