/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is left out to stay within --max-overhead. */
#ifndef PKBPF_SHED_BPF_H
#define PKBPF_SHED_BPF_H

#include "shared.bpf.h"

extern struct pkbpf_shed_control shed_control;

/* Is this event one of those that are left out? */
static __always_inline bool shed_by(__u32 mask)
{
	return mask && bpf_get_prandom_u32() & mask;
}

#endif
