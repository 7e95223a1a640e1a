/* SPDX-License-Identifier: BSD-2-Clause */
/* Which windows the history has, and which time it lacks. */
#ifndef PKBPF_HISTORY_WINDOW_LIST_H
#define PKBPF_HISTORY_WINDOW_LIST_H

#include <stdio.h>

#include "history/history_range.h"

struct history_gap {
	struct history_range range;
	bool is_clock; /* nothing is missing: the wall clock was set forward */
};

struct history_gaps {
	ARRAY_OF(struct history_gap) list;
};

/* Between windows of one level that lie in order of time. The caller frees the list. -ENOMEM. */
int history_gaps_find(const struct store_windows *windows, struct history_gaps *ret_gaps);
/* Windows of a level and their gaps as JSON. -ENOMEM. */
int window_list_write_json(struct store *store, enum store_level level,
			   const struct history_range *range, FILE *out);
/* A table of levels: how many windows, since when, how large, and their gaps. -ENOMEM. */
int window_list_write_text(struct store *store, const struct history_range *range, FILE *out);

#endif
