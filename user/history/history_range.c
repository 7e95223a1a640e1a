// SPDX-License-Identifier: BSD-2-Clause
#include "history/history_range.h"

#include <errno.h>
#include <string.h>

/* Is it fine enough, and is its beginning not missing? */
static bool suits(const struct store_windows *windows, const struct history_range *range,
		  size_t most)
{
	return windows->list.count && windows->list.count <= most &&
	       windows->list.items[0].begin_unix_ns - range->from_unix_ns <
		       (range->to_unix_ns - range->from_unix_ns) / 4;
}

/* Where nothing reaches back, the finest that is not too much. */
static bool is_better(const struct store_windows *windows, const struct store_windows *best,
		      size_t most)
{
	if (!windows->list.count)
		return false;
	return !best->list.count || (best->list.count > most && windows->list.count <= most);
}

int history_windows(struct store *store, const struct history_range *range, size_t most,
		    struct store_windows *ret_windows)
{
	struct store_windows best = {0}, windows;
	bool found = false;

	for (int level = STORE_SLICE; level < STORE_LEVELS && !found; level++) {
		int err = store_list(store, (enum store_level)level, range->from_unix_ns,
				     range->to_unix_ns, &windows);

		if (err < 0) {
			array_free(&best.list);
			return err;
		}
		found = suits(&windows, range, most);
		if (found || is_better(&windows, &best, most)) {
			array_free(&best.list);
			best = windows;
		} else {
			array_free(&windows.list);
		}
	}
	if (best.list.count > most)
		best.list.count = most;
	*ret_windows = best;
	return 0;
}

int history_profile(struct store *store, struct history_range *range,
		    const struct slice_choice *choice, struct profile **ret_profile,
		    size_t *ret_missing, struct error *error)
{
	struct store_windows windows;
	int err = store_cover(store, range->from_unix_ns, range->to_unix_ns, &windows);

	*ret_profile = NULL;
	*ret_missing = 0;
	if (err < 0)
		return error_set(error, -err, "cannot read the history: %s", strerror(-err));
	if (windows.list.count > HISTORY_WINDOWS_MAX) {
		array_free(&windows.list);
		return error_set(error, E2BIG, "%d windows at most: choose a shorter interval",
				 HISTORY_WINDOWS_MAX);
	}
	if (windows.list.count) {
		range->from_unix_ns = windows.list.items[0].begin_unix_ns;
		range->to_unix_ns = windows.list.items[windows.list.count - 1].end_unix_ns;
	}
	err = store_merge(store, &windows, choice, ret_profile, ret_missing);
	array_free(&windows.list);
	if (err < 0)
		return error_set(error, -err, "cannot read the history: %s", strerror(-err));
	if (!*ret_profile)
		return error_set(error, ENODATA, "there is no history of this interval");
	return 0;
}
