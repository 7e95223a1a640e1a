/* SPDX-License-Identifier: BSD-2-Clause */
/* An interval of the history, and what was recorded in it. */
#ifndef PKBPF_HISTORY_HISTORY_RANGE_H
#define PKBPF_HISTORY_HISTORY_RANGE_H

#include "base/error.h"
#include "store/store.h"

/* Windows that one answer may read: each is a block to decode. */
#define HISTORY_WINDOWS_MAX 2000

struct history_range {
	int64_t from_unix_ns, to_unix_ns;
};

/* The windows of the finest level that has at most `most` of them there and reaches back far
 * enough. Where no level has so few, there are more, up to HISTORY_WINDOWS_MAX: neighbours are to
 * be merged. The caller frees the list. -E2BIG: there are still more; -ENOMEM; with the sentence.
 */
int history_windows(struct store *store, const struct history_range *range, size_t most,
		    struct store_windows *ret_windows, struct error *error);
/* Merges what was recorded in *range, which becomes the interval that was found: ends of windows.
 * choice NULL: all. The caller frees the profile. -ENODATA: there is nothing; -E2BIG: too many
 * windows; with the sentence; -ENOMEM and those of store_merge(). */
int history_profile(struct store *store, struct history_range *range,
		    const struct slice_choice *choice, struct profile **ret_profile,
		    size_t *ret_missing, struct error *error);

#endif
