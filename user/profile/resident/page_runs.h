/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranges of addresses, in ascending order and disjoint. One owner thread. */
#ifndef PKBPF_PROFILE_RESIDENT_PAGE_RUNS_H
#define PKBPF_PROFILE_RESIDENT_PAGE_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

struct page_run {
	uint64_t start, end;
};

struct page_runs { /* zero-initialized: empty */
	ARRAY_OF(struct page_run) items;
};

void page_runs_done(struct page_runs *runs);
/* Behind all others; what overlaps with them is left out. -ENOMEM. */
int page_runs_add(struct page_runs *runs, uint64_t start, uint64_t end);
bool page_runs_have(const struct page_runs *runs, uint64_t address);
/* Takes a range out. -ENOMEM. */
int page_runs_cut(struct page_runs *runs, uint64_t start, uint64_t end);
/* Takes a range out and puts what it had to another place, in place of what was there. -ENOMEM. */
int page_runs_move(struct page_runs *runs, uint64_t from, uint64_t length, uint64_t to);

#endif
