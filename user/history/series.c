// SPDX-License-Identifier: BSD-2-Clause
/* Reads windows one after the other and keeps a number of each. */
#include "history/series.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "finding/results.h"
#include "profile/slice/slice.h"

/* A picture has no use for more points. */
#define POINTS_MAX 400
#define GROUPS_MAX 512
/* The sum of names beyond. */
#define OTHERS "(others)"

/* ---- groups ---- */

/* A region that nobody entered has no length, and its program need not be watched. */
static bool have_gaps(struct series_group *group)
{
	group->watched_ns = calloc(POINTS_MAX, sizeof(*group->watched_ns));
	for (size_t i = 0; i < POINTS_MAX; i++)
		group->values[i] = NAN;
	return group->watched_ns;
}

static struct series_group *find_group(struct series *series, const char *name)
{
	struct series_group *group;

	array_foreach(&series->groups, each)
		if (strcmp(each->name, name) == 0)
			return each;
	if (series->groups.count >= GROUPS_MAX - 1 && strcmp(name, OTHERS) != 0)
		return find_group(series, OTHERS);
	group = array_add(&series->groups);
	if (!group)
		return NULL;
	*group = (struct series_group){.values = calloc(POINTS_MAX, sizeof(*group->values))};
	if (!group->values || (!series->question.subject.figure && !have_gaps(group))) {
		free(group->values);
		series->groups.count--;
		return NULL;
	}
	snprintf(group->name, sizeof(group->name), "%s", name);
	return group;
}

static void add_value(struct series *series, const char *name, double value)
{
	struct series_group *group = find_group(series, name);
	size_t point = series->points.count - 1;

	if (!group)
		return;
	if (series->question.subject.figure->is_largest)
		group->values[point] = value > group->values[point] ? value : group->values[point];
	else
		group->values[point] += value;
	group->sum += value;
}

/* Rows that share a name add up; a length is the largest. */
static void add_row(struct series *series, const struct resource_rows *rows,
		    const struct resource_row *row)
{
	const char *name = series->question.by == ROWS_BY_CONTAINER ? row->container : row->name;
	double value;

	if (figure_value(series->question.subject.figure, rows, row, &value) && value != 0)
		add_value(series, name[0] ? name : "(none)", value);
}

/* ---- points ---- */

static void add_line(struct series *series, const struct region_list *list,
		     const struct region_line *line)
{
	size_t number = series->points.count - 1;
	double recorded_ns = series->points.items[number].regions_ns;
	struct region_condition subject = series->question.subject.region;
	struct series_group *group;
	double value;

	memcpy(subject.name, line->name, strnlen(line->name, sizeof(subject.name) - 1) + 1);
	if (region_condition_value(&subject, list, &value) < 0)
		return;
	group = find_group(series, line->name);
	/* No sum of others: lengths of different regions make none. */
	if (!group || strcmp(group->name, OTHERS) == 0)
		return;
	group->values[number] = value;
	group->watched_ns[number] = recorded_ns - (double)line->missed_ns;
	if (group->watched_ns[number] < 0)
		group->watched_ns[number] = 0;
	group->sum += value;
}

static void add_regions(struct series *series, const struct profile *profile)
{
	const char *wanted = series->question.subject.region.name;
	struct region_list list = {0};

	if (region_list_init(&list, profile, REGION_BY_NAME) < 0)
		return;
	for (size_t i = 0; i < list.count; i++)
		if (strcmp(wanted, "*") == 0 || strcmp(wanted, list.lines[i].name) == 0)
			add_line(series, &list, &list.lines[i]);
	region_list_done(&list);
}

static void add_figures(struct series *series, const struct resource_rows *rows)
{
	const struct figure *figure = series->question.subject.figure;
	double value;

	if (figure->scope == FIGURE_OF_RUN && figure_value(figure, rows, NULL, &value))
		add_value(series, "machine", value);
	for (size_t i = 0; i < rows->all_count && figure->scope == FIGURE_OF_ROW; i++)
		add_row(series, rows, &rows->items[i]);
}

static void add_profile(struct series *series, const struct profile *profile)
{
	struct series_point *point = &series->points.items[series->points.count - 1];
	const struct profile_info *info = profile_info_read(profile);
	const struct resource_rows *rows;
	struct results results;

	point->regions_ns = (double)info->regions_ns;
	results_init(&results, profile, series->question.by);
	if (results_rows(&results, &rows) == 0) {
		point->busy_percent = rows->busy_percent;
		point->shed_steps = info->shed_steps;
		memcpy(point->shed, info->shed, sizeof(point->shed));
		if (series->question.subject.figure)
			add_figures(series, rows);
		else
			add_regions(series, profile);
	}
	results_done(&results);
}

static size_t windows_of_point(const struct series *series, const struct store_windows *windows,
			       size_t first)
{
	int64_t step_ns = (int64_t)series->question.step_ns;
	size_t count = 1, rest = windows->list.count - first;

	/* A long interval has more windows than points. */
	if (!step_ns) {
		count = (windows->list.count + POINTS_MAX - 1) / POINTS_MAX;
		return count < rest ? count : rest;
	}
	while (first + count < windows->list.count &&
	       windows->list.items[first + count].begin_unix_ns / step_ns ==
		       windows->list.items[first].begin_unix_ns / step_ns)
		count++;
	return count;
}

static int read_point(struct store *store, struct series *series,
		      const struct store_windows *windows, size_t first, size_t count)
{
	struct store_windows part = {
		.list = {.items = windows->list.items + first, .count = count}};
	struct series_point *point = array_add(&series->points);
	struct profile *profile;
	size_t missing;
	int err;

	if (!point)
		return -ENOMEM;
	*point = (struct series_point){
		.range = {part.list.items[0].begin_unix_ns, part.list.items[count - 1].end_unix_ns},
		.busy_percent = -1,
	};
	array_foreach(&part.list, window)
		point->covered_ns += (double)(window->end_unix_ns - window->begin_unix_ns);
	/* A deleted or damaged window is a gap. */
	err = store_merge(store, &part, &series->question.choice, &profile, &missing);
	if (err < 0)
		return err;
	if (profile)
		add_profile(series, profile);
	profile_free(profile);
	return 0;
}

static int by_sum(const void *left, const void *right)
{
	const struct series_group *a = left, *b = right;

	return a->sum > b->sum ? -1 : a->sum < b->sum;
}

int series_read(struct store *store, const struct series_question *question,
		struct series *ret_series, struct error *error)
{
	size_t most = question->step_ns ? HISTORY_WINDOWS_MAX : POINTS_MAX;
	struct store_windows windows;
	int err;

	*ret_series = (struct series){.question = *question};
	if (question->step_ns &&
	    (uint64_t)(question->range.to_unix_ns - question->range.from_unix_ns) /
			    question->step_ns >=
		    POINTS_MAX - 1)
		return error_set(error, EINVAL, "more than %d points: choose a longer step",
				 POINTS_MAX - 2);
	err = history_windows(store, &question->range, most, &windows, error);
	if (err < 0)
		return err;
	for (size_t at = 0, count;
	     err == 0 && at < windows.list.count && ret_series->points.count < POINTS_MAX;
	     at += count) {
		count = windows_of_point(ret_series, &windows, at);
		err = read_point(store, ret_series, &windows, at, count);
	}
	array_free(&windows.list);
	if (ret_series->groups.count)
		qsort(ret_series->groups.items, ret_series->groups.count,
		      sizeof(*ret_series->groups.items), by_sum);
	if (err < 0)
		return error_set(error, -err, "cannot read the history: %s", strerror(-err));
	return 0;
}

bool figure_adds_up(const struct figure *figure)
{
	return figure->scope == FIGURE_OF_ROW && !figure->is_largest && !figure->is_level &&
	       figure->unit != FIGURE_PERCENT;
}

/* Windows differ in length, and so does the part of them that was watched. */
double series_value(const struct series *series, const struct series_group *group, size_t point)
{
	double ns = group->watched_ns ? group->watched_ns[point]
				      : series->points.items[point].covered_ns;

	if (!series_subject_adds_up(&series->question.subject))
		return group->values[point];
	/* Regions that ended just after the probes of begins were off: of no time there is no rate.
	 */
	if (group->watched_ns && ns <= 0)
		return NAN;
	return ns > 0 ? group->values[point] * NS_PER_SECOND / ns : group->values[point];
}

void series_done(struct series *series)
{
	array_foreach(&series->groups, group) {
		free(group->values);
		free(group->watched_ns);
	}
	array_free(&series->groups);
	array_free(&series->points);
}
