/* SPDX-License-Identifier: BSD-2-Clause */
/* Single events with their times, as --trace keeps them beside the sums: CPU samples, waits, block
 * requests. At most MOMENT_MAX, and as many accounts of threads as MOMENT_LIVES_MAX. One owner
 * thread. */
#ifndef PKBPF_PROFILE_ACCOUNT_MOMENT_LIST_H
#define PKBPF_PROFILE_ACCOUNT_MOMENT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/profile_kind.h>

#include "base/array.h"

/* 72 MiB. */
#define MOMENT_MAX	 (1U << 20)
#define MOMENT_LIVES_MAX (1U << 16)

struct moment {
	uint64_t begin_ns;  /* CLOCK_MONOTONIC */
	uint64_t length_ns; /* waits: in their state; requests: with the device; samples: 0 */
	uint64_t queue_ns;  /* waits: in the run queue after it; requests: before the device */
	uint64_t ran_ns;    /* waits: CPU time of the thread's account up to their begin */
	enum pkbpf_profile_kind kind;
	uint32_t process; /* incarnation id in the process table */
	uint32_t tid;	  /* 0: unknown */
	uint32_t comm;	  /* profile_string() */
	uint32_t stack;	  /* stack id */
	uint32_t place;	  /* samples: CPU; requests: device, major << 20 | minor */
	uint32_t weight;  /* samples: how many it stands for; requests: bytes */
	uint32_t waker;	  /* waits: tid of the thread that ran when it was woken; 0: none */
	uint32_t owner;	  /* waits: tid of the lock's holder when it began; 0: unknown */
	uint8_t state;	  /* as in rows */
	uint8_t wake;	  /* waits: enum pkbpf_wake */
};

/* The account of a thread, from begin_ns on for length_ns: see struct pkbpf_event_wait. */
static inline bool moment_is_life(const struct moment *moment)
{
	return moment->kind == PKBPF_PROFILE_OFFCPU && !moment->state;
}

struct moment_list {		       /* zero-initialised is empty */
	ARRAY_OF(struct moment) items; /* in the order in which they became known */
};

/* -ENOSPC: it is full; -ENOMEM. */
int moment_list_add(struct moment_list *list, const struct moment *moment);

#endif
