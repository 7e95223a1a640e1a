/* SPDX-License-Identifier: BSD-2-Clause */
/* Two intervals of the history as a comparison: each window is a slice, whose scatter says what is
 * noise. One owner thread. */
#ifndef PKBPF_HISTORY_RANGE_DIFF_H
#define PKBPF_HISTORY_RANGE_DIFF_H

#include <stdio.h>

#include "diff/diff_format.h"
#include "history/history_range.h"
#include "history/window_memory.h"

#define RANGE_TITLE_SIZE 64

struct range_diff {
	struct diff_names names; /* empty: those of a window memory */
	struct measurement sides[DIFF_SIDES];
	struct comparison comparison;
	char titles[DIFF_SIDES][RANGE_TITLE_SIZE];
};

/* "hour": the hour before; "yesterday": 24 hours earlier; "lastweek": seven days earlier; "before":
 * as long, just before. -EINVAL with the sentence. */
int range_diff_base(const char *word, const struct history_range *range,
		    struct history_range *ret_base, struct error *error);
/* -ENODATA: one of them is empty; -E2BIG: one has too many windows; -ENOMEM, errors of reading;
 * with the sentence. ret_diff is for range_diff_done() all the same. */
int range_diff_read(struct store *store, const struct history_range ranges[DIFF_SIDES],
		    const struct slice_choice *choice, struct range_diff *ret_diff,
		    struct error *error);
/* The same of intervals that move on, with the kinds and levels of the memory, which lends its
 * names until its next use. */
int range_diff_follow(struct store *store, const struct history_range ranges[DIFF_SIDES],
		      struct window_memory *memory, struct range_diff *ret_diff,
		      struct error *error);
void range_diff_done(struct range_diff *diff);

#endif
