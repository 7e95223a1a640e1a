/* SPDX-License-Identifier: BSD-2-Clause */
/* Locks of a profile as they are shown: by waiting time, with the functions that wait for them and
 * their holders by function. */
#ifndef PKBPF_ROWS_LOCK_VIEW_H
#define PKBPF_ROWS_LOCK_VIEW_H

#include "profile/function_table.h"
#include "profile/profile.h"

#define LOCK_NO_FUNCTION UINT32_MAX

/* Waits of one function, or time for which others waited for one holder. */
struct lock_share {
	uint32_t function; /* of the program, on the stack; LOCK_NO_FUNCTION: no stack */
	uint32_t leaf;	   /* function it waits in; LOCK_NO_FUNCTION: the same, or none */
	uint32_t state;	   /* of a holder: see struct lock_part */
	uint32_t pid;	   /* of a holder without a function: with its comm; 0: unknown */
	const char *comm;
	uint64_t ns;
};

struct lock_view {
	const struct lock *lock;
	uint32_t number;	    /* in the list of the profile */
	struct lock_share *sites;   /* most time first */
	struct lock_share *holders; /* likewise */
	size_t site_count, holder_count;
	uint64_t write_ns; /* of a rwlock: waits to write, as far as stacks tell */
	uint64_t held_ns;  /* sum of the holders, nearly that of the waits */
};

struct lock_views {
	struct lock_view *items; /* most waiting time first; without SIGNAL */
	size_t count;
	uint64_t waits, wait_ns; /* of all of them */
	uint64_t signal_waits, signal_ns;
	struct lock_share *shares; /* of all views */
};

/* functions: of the profile. -ENOMEM. */
int lock_views_make(struct lock_views *views, const struct profile *profile,
		    const struct function_table *functions);
void lock_views_done(struct lock_views *views);

#define LOCK_PLACE_TEXT_SIZE 320
/* The two innermost functions of the program in a stack: "transfer > lock_account". Inside of them
 * is the C library, which waits. "": none is known. Not escaped. */
char *lock_place_of_stack(char text[LOCK_PLACE_TEXT_SIZE], const struct function_table *functions,
			  const struct profile *profile, uint32_t stack);

/* One of the kernel's: its holders and the number of waiters are not known. */
bool lock_is_of_kernel(const struct lock *lock);
/* What its holders are: "held by", or of a lock that names no owner "last taken by". */
const char *lock_view_held(const struct lock_view *view);

#define LOCK_NAME_TEXT_SIZE 320
/* "cache_lock (mutex)"; of a lock without a name "mutex in fetch, store". Not escaped. */
char *lock_view_name(char text[LOCK_NAME_TEXT_SIZE], const struct lock_view *view,
		     const struct function_table *functions);
#define LOCK_HOLDER_TEXT_SIZE 320
/* "flush_index (disk wait: fsync)", "worker (on CPU)", "hand-over". Not escaped. */
char *lock_share_holder(char text[LOCK_HOLDER_TEXT_SIZE], const struct lock_share *share,
			const struct function_table *functions);

#endif
