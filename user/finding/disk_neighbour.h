/* SPDX-License-Identifier: BSD-2-Clause */
/* Who else used the block devices of a group. */
#ifndef PKBPF_FINDING_DISK_NEIGHBOUR_H
#define PKBPF_FINDING_DISK_NEIGHBOUR_H

#include "finding/analysis.h"

struct disk_neighbour {
	char name[64];	/* who moved most; "": nobody, or nobody who moved a good part */
	uint64_t bytes; /* of it, on whatever device */
	bool is_there;	/* a good part of what others moved on these devices must have been its */
	/* On devices that the group used; 0: bytes of devices are not known. */
	uint64_t all_bytes, own_bytes;
};

struct disk_neighbour disk_neighbour_of(const struct analysis *analysis,
					const struct activity *activity);

#endif
