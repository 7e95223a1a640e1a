/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For how long a region had no probes, since they cost too much: by its name, as probes come and go
 * with a file, for all of its processes at once. Gaps of a slice do not overlap, nor do slices, so
 * times are added. At most REGION_GAPS_MAX. One owner thread.
 */
#ifndef PKBPF_PROFILE_ACCOUNT_REGION_GAPS_H
#define PKBPF_PROFILE_ACCOUNT_REGION_GAPS_H

#include <stdint.h>

#include "base/array.h"
#include "base/hash_map.h"

/* More are not kept: -ENOSPC. */
#define REGION_GAPS_MAX 65536

struct region_gap {
	uint64_t missed_ns;
	uint32_t name; /* string of the profile */
};

struct region_gaps { /* zero-initialized: empty */
	ARRAY_OF(struct region_gap) items;
	struct hash_map places; /* name -> index */
};

/* -ENOMEM; -ENOSPC. */
int region_gaps_add(struct region_gaps *gaps, const struct region_gap *gap);
/* 0: probes were there all the time. */
uint64_t region_gaps_of(const struct region_gaps *gaps, uint32_t name);

#endif
