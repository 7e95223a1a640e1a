/* SPDX-License-Identifier: BSD-2-Clause */
/* What the disks of the machine did in an interval, whichever process it was for. One owner thread.
 */
#ifndef PKBPF_PROFILE_ACCOUNT_DISK_LIST_H
#define PKBPF_PROFILE_ACCOUNT_DISK_LIST_H

#include <stdint.h>

#include "base/array.h"

#define DISK_NAME_MAX 32
#define DISK_LIST_MAX 256

struct disk {
	char name[DISK_NAME_MAX];
	uint64_t reads, writes; /* requests */
	uint64_t read_bytes, written_bytes;
	uint64_t busy_ns;  /* with one request or more; at most of_ns */
	uint64_t queue_ns; /* of all requests together */
	uint64_t of_ns;	   /* the time that was measured */
};

struct disk_list { /* zero-initialized: empty */
	ARRAY_OF(struct disk) items;
};

/* Adds to the disk of this name. -ENOMEM; -ENOSPC: there are DISK_LIST_MAX others. */
int disk_list_add(struct disk_list *list, const struct disk *disk);
/* In percent. Of a disk that serves many requests at once 100 is not the most it can do. */
double disk_busy_percent(const struct disk *disk);
/* Requests at a time, on average. */
double disk_queue(const struct disk *disk);
/* The disk that was busy longest; NULL: none was measured. */
const struct disk *disk_list_busiest(const struct disk_list *list);

#endif
