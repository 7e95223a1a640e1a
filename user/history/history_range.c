// SPDX-License-Identifier: BSD-2-Clause
#include "history/history_range.h"

#include <errno.h>
#include <string.h>

static int64_t begin_of(const struct store_windows *windows)
{
	return windows->list.count ? windows->list.items[0].begin_unix_ns : INT64_MAX;
}

/* The finest level with at most `most` windows that reaches back as far as there is history of the
 * range, but for a quarter; where none has so few, the coarsest. */
static int choose_level(const struct store_windows levels[STORE_LEVELS],
			const struct history_range *range, size_t most)
{
	int64_t begin = INT64_MAX;
	int chosen = STORE_SLICE;

	for (int i = STORE_SLICE; i < STORE_LEVELS; i++)
		if (begin_of(&levels[i]) < begin)
			begin = begin_of(&levels[i]);
	if (begin < range->from_unix_ns)
		begin = range->from_unix_ns;
	for (int i = STORE_SLICE; i < STORE_LEVELS; i++) {
		if (!levels[i].list.count ||
		    begin_of(&levels[i]) > begin + (range->to_unix_ns - begin) / 4)
			continue;
		chosen = i;
		if (levels[i].list.count <= most)
			break;
	}
	return chosen;
}

static int too_many(size_t count, struct error *error)
{
	return error_set(error, E2BIG,
			 "the interval has %zu windows, an answer at most %d: choose a shorter one",
			 count, HISTORY_WINDOWS_MAX);
}

int history_windows(struct store *store, const struct history_range *range, size_t most,
		    struct store_windows *ret_windows, struct error *error)
{
	struct store_windows levels[STORE_LEVELS] = {0};
	int chosen, err = 0;

	*ret_windows = (struct store_windows){0};
	for (int i = STORE_SLICE; i < STORE_LEVELS && err == 0; i++)
		err = store_list(store, (enum store_level)i, range->from_unix_ns, range->to_unix_ns,
				 &levels[i]);
	chosen = choose_level(levels, range, most);
	if (err < 0)
		error_set(error, -err, "cannot read the history: %s", strerror(-err));
	else if (levels[chosen].list.count > HISTORY_WINDOWS_MAX)
		err = too_many(levels[chosen].list.count, error);
	for (int i = STORE_SLICE; i < STORE_LEVELS; i++) {
		if (err == 0 && i == chosen)
			*ret_windows = levels[i];
		else
			array_free(&levels[i].list);
	}
	return err;
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
		err = too_many(windows.list.count, error);
		array_free(&windows.list);
		return err;
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
