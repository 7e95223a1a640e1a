/* SPDX-License-Identifier: BSD-2-Clause */
/* Locks that threads waited for, and parts of these waits: by holder and its place, and by the
 * stack that waited. Waits beyond LOCKS_MAX locks count as those of other locks of their process.
 * One owner thread. */
#ifndef PKBPF_PROFILE_ACCOUNT_LOCK_LIST_H
#define PKBPF_PROFILE_ACCOUNT_LOCK_LIST_H

#include <stddef.h>
#include <stdint.h>

#include <pkbpf/lock.h>
#include <pkbpf/offcpu.h>

#include "base/array.h"
#include "base/hash_map.h"

#define LOCKS_MAX      8192
#define LOCK_PARTS_MAX 65536
#define LOCK_NO_STACK  UINT32_MAX

struct lock {
	uint64_t address; /* 0: of SIGNAL and OTHERS */
	uint32_t pid;	  /* of the process that waited */
	uint32_t class;	  /* enum pkbpf_lock_class */
	char comm[PKBPF_COMM_SIZE + 1];
	char name[PKBPF_LOCK_NAME_SIZE]; /* of the symbol or mapping, not escaped; "": unknown */
	uint32_t max_waiters;		 /* at once */
	uint64_t waits, wait_ns;	 /* run queue included */
	uint64_t queue_ns;		 /* of wait_ns, in the run queue after the wake-up */
	uint64_t max_ns;
	uint32_t buckets[PKBPF_LOCK_BUCKETS]; /* of the waits, see pkbpf_histogram_index() */
};

struct lock_part {
	uint32_t lock;	/* index */
	uint32_t kind;	/* enum pkbpf_lock_part_kind */
	uint32_t state; /* of a holder: enum pkbpf_wait_state, or PKBPF_LOCK_HAND_OVER, _UNKNOWN */
	uint32_t pid, tid; /* of the holder; 0: not known, or none */
	uint32_t stack;	   /* of the profile; LOCK_NO_STACK: none */
	char comm[PKBPF_COMM_SIZE + 1];
	uint64_t count, ns;
};

struct lock_list { /* zero-initialized: empty */
	ARRAY_OF(struct lock) locks;
	ARRAY_OF(struct lock_part) parts;
	struct hash_map lock_numbers, part_numbers; /* hash of the key -> index */
};

/* Adds to the lock with this address, process and kind of class, and returns its index. A name, a
 * comm and a class replace unknown ones. -ENOMEM. */
int64_t lock_list_add(struct lock_list *list, const struct lock *lock);
/* The lock with its address, pid and class, which is made if there is none. -ENOMEM. */
int64_t lock_list_get(struct lock_list *list, uint32_t pid, uint64_t address, uint32_t class);
/* Adds to the part with its key; -ENOSPC: there is no room; -ENOMEM. */
int lock_list_add_part(struct lock_list *list, const struct lock_part *part);
/* A wait so long that this many of 1000 are no longer, within 1/8; 0: no waits. */
uint64_t lock_percentile_ns(const struct lock *lock, uint32_t permille);
/* "mutex", "rwlock"; a class of a later version is "lock". */
const char *lock_class_name(uint32_t class);

#endif
