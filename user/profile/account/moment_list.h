/* SPDX-License-Identifier: BSD-2-Clause */
/* Single events with their times, as --trace keeps them beside the sums: CPU samples, waits, block
 * requests. At most MOMENT_MAX. One owner thread. */
#ifndef PKBPF_PROFILE_ACCOUNT_MOMENT_LIST_H
#define PKBPF_PROFILE_ACCOUNT_MOMENT_LIST_H

#include <stddef.h>
#include <stdint.h>

#include <pkbpf/profile_kind.h>

#include "base/array.h"

/* 64 MiB. */
#define MOMENT_MAX (1U << 20)

struct moment {
	uint64_t begin_ns;  /* CLOCK_MONOTONIC */
	uint64_t length_ns; /* waits: in their state; requests: with the device; samples: 0 */
	uint64_t queue_ns;  /* waits: in the run queue after it; requests: before the device */
	enum pkbpf_profile_kind kind;
	uint32_t process; /* incarnation id in the process table */
	uint32_t tid;	  /* 0: unknown */
	uint32_t comm;	  /* profile_string() */
	uint32_t stack;	  /* stack id */
	uint32_t place;	  /* samples: CPU; requests: device, major << 20 | minor */
	uint32_t weight;  /* samples: how many it stands for; requests: bytes */
	uint8_t state;	  /* as in rows */
};

struct moment_list {		       /* zero-initialised is empty */
	ARRAY_OF(struct moment) items; /* in the order in which they became known */
};

/* -ENOSPC: it is full; -ENOMEM. */
int moment_list_add(struct moment_list *list, const struct moment *moment);

#endif
