// SPDX-License-Identifier: BSD-2-Clause
/* A figure over time, by group; and the metrics. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/escape.h"
#include "finding/results.h"
#include "rows/figure_table.h"
#include "web/web_private.h"

/* A picture has no use for more points, and each is a window to be read. */
#define POINTS_MAX 400
#define GROUPS_MAX 512
#define TOP	   8

struct group {
	char name[ROW_CONTAINER_SIZE];
	double sum;
	double *values; /* one for each window; NAN: none */
};

struct series {
	const struct figure *figure;
	enum rows_by by;
	struct store_windows windows;
	ARRAY_OF(struct group) groups;
	double *machine; /* busy percent of each window; < 0 unknown */
};

static struct group *find_group(struct series *series, const char *name)
{
	struct group *group;

	array_foreach(&series->groups, each)
		if (strcmp(each->name, name) == 0)
			return each;
	if (series->groups.count == GROUPS_MAX)
		return NULL;
	group = array_add(&series->groups);
	if (!group)
		return NULL;
	group->values = calloc(series->windows.list.count, sizeof(*group->values));
	if (!group->values) {
		series->groups.count--;
		return NULL;
	}
	snprintf(group->name, sizeof(group->name), "%s", name);
	return group;
}

/* Rows that share a name add up; a length is the largest. */
static void add_row(struct series *series, const struct resource_rows *rows,
		    const struct resource_row *row, size_t window)
{
	const char *name = series->by == ROWS_BY_CONTAINER ? row->container : row->name;
	struct group *group;
	double value;

	if (!figure_value(series->figure, rows, row, &value) || value == 0)
		return;
	group = find_group(series, name[0] ? name : "(none)");
	if (!group)
		return;
	if (series->figure->is_largest)
		group->values[window] =
			value > group->values[window] ? value : group->values[window];
	else
		group->values[window] += value;
	group->sum += value;
}

static void add_window(struct series *series, const struct profile *profile, size_t window)
{
	const struct resource_rows *rows;
	struct results results;

	results_init(&results, profile, series->by);
	if (results_rows(&results, &rows) == 0) {
		series->machine[window] = rows->busy_percent;
		for (size_t i = 0; i < rows->all_count; i++)
			add_row(series, rows, &rows->items[i], window);
	}
	results_done(&results);
}

/* What adds up is told per second: windows differ in length. */
static double per_second(const struct series *series, const struct store_window *window,
			 double value)
{
	double seconds = (double)(window->end_unix_ns - window->begin_unix_ns) / 1e9;
	bool adds_up = !series->figure->is_largest && series->figure->unit != FIGURE_PERCENT &&
		       strcmp(series->figure->group, "threads") != 0 &&
		       strncmp(series->figure->name, "rss", 3) != 0;

	return adds_up && seconds > 0 ? value / seconds : value;
}

static int by_sum(const void *left, const void *right)
{
	const struct group *a = left, *b = right;

	return a->sum > b->sum ? -1 : a->sum < b->sum;
}

static void write_series(const struct series *series, size_t top, FILE *out)
{
	fprintf(out, "{\"figure\":\"%s.%s\",\"windows\":[", series->figure->group,
		series->figure->name);
	for (size_t i = 0; i < series->windows.list.count; i++)
		fprintf(out, "%s[%.3f,%.3f]", i ? "," : "",
			(double)series->windows.list.items[i].begin_unix_ns / 1e9,
			(double)series->windows.list.items[i].end_unix_ns / 1e9);
	fprintf(out, "],\"machine_busy_percent\":[");
	for (size_t i = 0; i < series->windows.list.count; i++)
		fprintf(out, series->machine[i] < 0 ? "%snull" : "%s%.3f", i ? "," : "",
			series->machine[i]);
	fprintf(out, "],\"series\":[");
	for (size_t i = 0; i < series->groups.count && i < top; i++) {
		const struct group *group = &series->groups.items[i];

		fprintf(out, "%s{\"name\":", i ? "," : "");
		escape_json(out, group->name);
		fprintf(out, ",\"values\":[");
		for (size_t j = 0; j < series->windows.list.count; j++)
			fprintf(out, "%s%.6g", j ? "," : "",
				per_second(series, &series->windows.list.items[j],
					   group->values[j]));
		fprintf(out, "]}");
	}
	fprintf(out, "]}\n");
}

/* The finest level whose windows are few enough. */
static int choose_windows(struct web *web, int64_t from, int64_t to, struct store_windows *windows)
{
	int err = 0;

	for (int level = STORE_SLICE; level < STORE_LEVELS; level++) {
		err = store_list(web->store, (enum store_level)level, from, to, windows);
		if (err < 0 ||
		    (windows->list.count && windows->list.count <= POINTS_MAX &&
		     windows->list.items[0].begin_unix_ns - from < (to - from) / 4) ||
		    level == STORE_HOUR)
			break;
		array_free(&windows->list);
	}
	if (err == 0 && !windows->list.count)
		err = store_list(web->store, STORE_SLICE, from, to, windows);
	return err;
}

static int read_windows(struct web *web, struct series *series)
{
	size_t count = series->windows.list.count;

	series->machine = calloc(count + 1, sizeof(*series->machine));
	if (!series->machine)
		return -ENOMEM;
	for (size_t i = 0; i < count && i < POINTS_MAX; i++) {
		struct profile *profile;
		/* A deleted or damaged window is a gap. */
		int err = store_read(web->store, &series->windows.list.items[i], NULL, &profile);

		series->machine[i] = -1;
		if (err == -ENOMEM)
			return err;
		if (err < 0)
			continue;
		add_window(series, profile, i);
		profile_free(profile);
	}
	if (count > POINTS_MAX)
		series->windows.list.count = POINTS_MAX;
	return 0;
}

static void series_done(struct series *series)
{
	array_foreach(&series->groups, group)
		free(group->values);
	array_free(&series->groups);
	array_free(&series->windows.list);
	free(series->machine);
}

static int read_series(struct web *web, const struct web_query *query, struct series *series)
{
	int64_t from, to;
	int err;

	web_interval(query, &from, &to);
	web_begin_work(web);
	err = choose_windows(web, from, to, &series->windows);
	err = err < 0 ? err : read_windows(web, series);
	web_end_work(web);
	if (series->groups.count)
		qsort(series->groups.items, series->groups.count, sizeof(*series->groups.items),
		      by_sum);
	return err;
}

int web_answer_series(struct web *web, const struct web_query *query, struct web_answer *answer)
{
	struct series series = {.by = query->by == ROWS_BY_CONTAINER ? ROWS_BY_CONTAINER
								     : ROWS_BY_COMM};
	FILE *out;
	int err;

	series.figure = figure_find(query->figure[0] ? query->figure : "cpu.share");
	if (!series.figure || series.figure->scope != FIGURE_OF_ROW)
		return web_say(answer, 400,
			       "unknown figure: one of a row, as in pkbpf(1) FIGURES\n");
	err = read_series(web, query, &series);
	out = err == 0 ? open_memstream(&answer->body, &answer->size) : NULL;
	if (out) {
		write_series(&series, query->top ? query->top : TOP, out);
		err = fclose(out) == EOF ? -ENOMEM : 0;
	} else if (err == 0) {
		err = -ENOMEM;
	}
	answer->status = 200;
	answer->type = "application/json";
	series_done(&series);
	return err;
}

int web_answer_metrics(struct web *web, const struct web_query *query, struct web_answer *answer)
{
	struct store_state state;
	FILE *out = open_memstream(&answer->body, &answer->size);

	(void)query;
	if (!out)
		return -ENOMEM;
	store_get_state(web->store, &state);
	pthread_mutex_lock(&web->lock);
	metrics_write(&web->metrics, &state, out);
	pthread_mutex_unlock(&web->lock);
	answer->status = 200;
	answer->type = "text/plain; version=0.0.4; charset=utf-8";
	return fclose(out) == EOF ? -ENOMEM : 0;
}
