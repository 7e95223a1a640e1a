/* SPDX-License-Identifier: BSD-2-Clause */
/* Who ended the waits of a group, from samples of wake-ups. */
#ifndef PKBPF_FINDING_WAKER_H
#define PKBPF_FINDING_WAKER_H

#include "finding/analysis.h"

#define WAKER_PLACE_SIZE 192

struct wakers {
	uint64_t count, value_ns; /* samples, and ns that they stand for */
	uint64_t timer_ns;	  /* of that, ended by a timer */
	uint64_t sibling_ns;	  /* by a thread that has a function below main with the waiter */
	/* Who ended most: */
	uint32_t pid;
	char comm[PKBPF_COMM_SIZE + 1];
	char place[WAKER_PLACE_SIZE]; /* "release_pool > notify"; "" not known */
	uint32_t function;	      /* of rows->functions, the innermost of the place */
	uint64_t most_ns;
};

#define WAKER_NO_FUNCTION UINT32_MAX

/* Of waits of these classes (1 << enum wait_class). */
struct wakers wakers_of(const struct analysis *analysis, const struct activity *activity,
			uint64_t classes);

#endif
