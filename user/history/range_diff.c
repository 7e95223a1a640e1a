// SPDX-License-Identifier: BSD-2-Clause
#include "history/range_diff.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "diff/measure_profile.h"

#define HOUR ((int64_t)(3600 * NS_PER_SECOND))
#define DAY  (24 * HOUR)
/* Of a side, before a coarser level serves; a measurement merges neighbours. */
#define WINDOWS_MAX 400

int range_diff_base(const char *word, const struct history_range *range,
		    struct history_range *ret_base, struct error *error)
{
	int64_t back;

	if (strcmp(word, "hour") == 0)
		back = HOUR;
	else if (strcmp(word, "yesterday") == 0)
		back = DAY;
	else if (strcmp(word, "lastweek") == 0)
		back = 7 * DAY;
	else if (strcmp(word, "before") == 0)
		back = range->to_unix_ns - range->from_unix_ns;
	else
		return error_set(error, EINVAL,
				 "base '%.64s' is unknown: expected before, hour, yesterday or "
				 "lastweek",
				 word);
	*ret_base = (struct history_range){range->from_unix_ns - back, range->to_unix_ns - back};
	return 0;
}

static void write_title(const struct history_range *range, char *text, size_t size)
{
	time_t from = (time_t)(range->from_unix_ns / (int64_t)NS_PER_SECOND);
	time_t to = (time_t)(range->to_unix_ns / (int64_t)NS_PER_SECOND);
	struct tm calendar;
	size_t used = 0;

	if (gmtime_r(&from, &calendar))
		used = strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &calendar);
	if (gmtime_r(&to, &calendar))
		strftime(text + used, size - used, " to %Y-%m-%dT%H:%M:%SZ", &calendar);
}

/* An edge belongs to one side. */
static bool is_inside(const struct store_window *window, const struct history_range *range)
{
	int64_t middle = window->begin_unix_ns / 2 + window->end_unix_ns / 2;

	return middle >= range->from_unix_ns && middle < range->to_unix_ns;
}

struct reading {
	struct store *store;
	const struct slice_choice *choice;
	struct window_memory *memory; /* NULL: none; else choice is its own */
};

/* A restart in between makes no other run of it: what the machine does goes on. */
static int read_window(const struct reading *reading, const struct store_window *window,
		       struct measurement *side)
{
	struct profile *profile;
	int err;

	if (reading->memory)
		return window_memory_add(reading->memory, reading->store, window, side);
	err = store_read(reading->store, window, reading->choice, &profile);
	if (err < 0)
		return err;
	err = measure_profile(side, profile, 0);
	profile_free(profile);
	return err;
}

static int read_side(const struct reading *reading, const struct history_range *range,
		     struct measurement *side, char title[RANGE_TITLE_SIZE], struct error *error)
{
	struct history_range found = *range;
	struct store_windows windows;
	int err = history_windows(reading->store, range, WINDOWS_MAX, &windows, error);

	if (err < 0)
		return err;
	for (size_t i = 0; err == 0 && i < windows.list.count; i++) {
		const struct store_window *window = &windows.list.items[i];
		size_t before = side->slices.count;

		if (windows.list.count > 1 && !is_inside(window, range))
			continue;
		/* A damaged or deleted window is left out. */
		if (read_window(reading, window, side) == -ENOMEM)
			err = -ENOMEM;
		if (side->slices.count == before)
			continue;
		if (!before)
			found.from_unix_ns = window->begin_unix_ns;
		found.to_unix_ns = window->end_unix_ns;
	}
	array_free(&windows.list);
	write_title(&found, title, RANGE_TITLE_SIZE);
	measurement_finish(side);
	return err < 0 ? error_set(error, -err, "cannot compare: %s", strerror(-err)) : 0;
}

static int compare(const struct reading *reading, const struct history_range ranges[DIFF_SIDES],
		   struct diff_names *names, struct range_diff *ret_diff, struct error *error)
{
	static const struct diff_work per_second = {.per = DIFF_PER_SECOND};

	for (int i = 0; i < DIFF_SIDES; i++)
		measurement_init(&ret_diff->sides[i], names);
	for (int i = 0; i < DIFF_SIDES; i++) {
		int err;

		if (reading->memory)
			window_memory_begin_side(reading->memory, &ret_diff->sides[i]);
		err = read_side(reading, &ranges[i], &ret_diff->sides[i], ret_diff->titles[i],
				error);

		if (err < 0)
			return err;
		if (!ret_diff->sides[i].slices.count)
			return error_set(error, ENODATA, "there is no history of %s",
					 ret_diff->titles[i]);
	}
	return comparison_init(&ret_diff->comparison, &ret_diff->sides[DIFF_BASE],
			       &ret_diff->sides[DIFF_NEW], &per_second, error);
}

int range_diff_read(struct store *store, const struct history_range ranges[DIFF_SIDES],
		    const struct slice_choice *choice, struct range_diff *ret_diff,
		    struct error *error)
{
	const struct reading reading = {store, choice, NULL};

	*ret_diff = (struct range_diff){0};
	if (!diff_names_init(&ret_diff->names))
		return error_set(error, ENOMEM, "cannot compare: out of memory");
	return compare(&reading, ranges, &ret_diff->names, ret_diff, error);
}

int range_diff_follow(struct store *store, const struct history_range ranges[DIFF_SIDES],
		      struct window_memory *memory, struct range_diff *ret_diff,
		      struct error *error)
{
	const struct reading reading = {store, NULL, memory};

	*ret_diff = (struct range_diff){0};
	if (window_memory_forget(memory) < 0)
		return error_set(error, ENOMEM, "cannot compare: out of memory");
	return compare(&reading, ranges, window_memory_names(memory), ret_diff, error);
}

void range_diff_done(struct range_diff *diff)
{
	comparison_done(&diff->comparison);
	for (int i = 0; i < DIFF_SIDES; i++)
		measurement_done(&diff->sides[i]);
	diff_names_done(&diff->names);
}
