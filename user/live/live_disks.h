/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the kernel's counters of disks at both ends of each interval of a capture. */
#ifndef PKBPF_LIVE_LIVE_DISKS_H
#define PKBPF_LIVE_LIVE_DISKS_H

#include "machine/disk_stats.h"
#include "profile/account/disk_list.h"

struct live_disks {
	const char *root; /* below it /proc and /sys are; NULL: not looked at */
	uint64_t begin_ns;
	size_t count;
	struct disk_reading begin[DISKS_MAX];
};

/* root is borrowed: "" on the machine itself. */
void live_disks_begin(struct live_disks *disks, const char *root, uint64_t now_ns);
/* The interval that ends now, for the caller to free; the next one begins. What memory is missing
 * for is left out. */
struct disk_list live_disks_cut(struct live_disks *disks, uint64_t now_ns);

#endif
