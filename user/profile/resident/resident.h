/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose the resident pages of processes are: the stack that wrote last to a page that was not
 * there. What is there is read now and then (a look). A page without a writer of its own came
 * together with others of its region of 2 MiB: it belongs to the writer of the page before it, or
 * else of the one after it. One owner thread.
 */
#ifndef PKBPF_PROFILE_RESIDENT_RESIDENT_H
#define PKBPF_PROFILE_RESIDENT_RESIDENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/memory.h>

#include "base/array.h"

/* Pages with a writer of all processes together; 24 bytes each. Further ones are refused. */
#define RESIDENT_MAX_PAGES (1U << 22)
/* Stacks of one process; further ones are one without a stack. */
#define RESIDENT_MAX_SITES (1U << 14)
#define RESIDENT_NONE	   UINT32_MAX

/* Sites of each process that are no stacks. */
enum resident_place {
	RESIDENT_UNKNOWN,   /* no writer is known in its region */
	RESIDENT_BEFORE,    /* there when the interval began */
	RESIDENT_INHERITED, /* from a parent whose writers are not known */
	RESIDENT_PLACES,    /* first number of those that are stacks */
};

struct resident_site {
	uint64_t stack_id;		      /* 0: none */
	uint64_t bytes, swapped;	      /* at the last look */
	uint64_t bytes_at_peak, swapped_then; /* at the look that found most */
};

struct resident;

struct resident *resident_new(void); /* NULL: out of memory */
void resident_free(struct resident *resident);

/* All take ids of the process table. Functions that return int: 0 or -ENOMEM, also at a bound. */
int resident_write(struct resident *resident, uint32_t process,
		   const struct pkbpf_event_page *page);
int resident_map(struct resident *resident, uint32_t process,
		 const struct pkbpf_event_mapped *mapped);
/* anonymous: bytes by the kernel's count, the scale of what is seen of them; 0: not known. */
int resident_look(struct resident *resident, uint32_t process, uint64_t anonymous,
		  const struct pkbpf_event_present *present, size_t runs);
/* The child has the pages of its parent. */
void resident_fork(struct resident *resident, uint32_t parent, uint32_t child);
void resident_remove(struct resident *resident, uint32_t process);

/* The next process id from *cursor (at first 0) on; RESIDENT_NONE: no more. */
uint32_t resident_next_process(const struct resident *resident, size_t *cursor);
/* True when its pages were looked at once. */
bool resident_was_seen(const struct resident *resident, uint32_t process);
/* The first RESIDENT_PLACES are no stacks. NULL: none. */
const struct resident_site *resident_sites(const struct resident *resident, uint32_t process,
					   size_t *ret_count);
/* One in how many regions is chosen. */
uint32_t resident_regions(const struct resident *resident, uint32_t process);

#endif
