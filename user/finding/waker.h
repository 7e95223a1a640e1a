/* SPDX-License-Identifier: BSD-2-Clause */
/* Who ended the waits of a group, from samples of wake-ups. */
#ifndef PKBPF_FINDING_WAKER_H
#define PKBPF_FINDING_WAKER_H

#include "finding/analysis.h"

#define WAKER_PLACE_SIZE 192

struct wakers {
	uint64_t count, value_ns; /* samples, and ns that they stand for */
	uint64_t own_ns;	  /* of that, by a thread of the group */
	uint64_t nameless_ns;	  /* of those, where no function of the program has a name */
	uint64_t timer_ns;	  /* of all, ended by a timer */
	uint64_t sibling_ns;	  /* by a thread in a function that the waiter is in, too */
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

/* What a sampled wait with a stack was for. Its stack need not be one of the rows'. */
enum wait_class waker_class(const struct analysis *analysis, const struct relation *relation);
/* Has a name and belongs to the program: not to the kernel, the C library or a runtime. */
bool waker_is_of_program(const struct function *function);

#endif
