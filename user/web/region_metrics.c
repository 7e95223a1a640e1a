// SPDX-License-Identifier: BSD-2-Clause
/* Adds figures of regions up, and writes them. */
#include "web/region_metrics.h"

#include <string.h>

#include "base/clock.h"
#include "web/metric_text.h"

/* More names than that become one: a scrape stays small whatever programs mark. */
#define NAMES_MAX 20
/* A region that has not been left in so many slices is gone, and its series end. */
#define REGION_SLICES 360

enum { COUNT, WALL, VIOLATIONS, WATCHED };

static const struct {
	const char *name, *help;
} sums[REGION_METRICS_SUMS] = {
	[COUNT] = {"pkbpf_regions_total", "regions left"},
	[WALL] = {"pkbpf_region_seconds_total", "wall time of regions"},
	[VIOLATIONS] = {"pkbpf_region_violations_total",
			"regions that took longer than their limit, counted one by one"},
	[WATCHED] = {"pkbpf_region_watched_seconds_total",
		     "time for which the program had probes, in slices with the region"},
};

static const struct {
	const char *name, *help;
} lengths[REGION_METRICS_LENGTHS] = {
	{"pkbpf_region_p50_seconds", "median of the wall time in the last slice"},
	{"pkbpf_region_p95_seconds", "95th percentile of the wall time in the last slice"},
	{"pkbpf_region_p99_seconds", "99th percentile of the wall time in the last slice"},
	{"pkbpf_region_max_seconds", "longest region of the last slice"},
};

static double seconds(uint64_t ns)
{
	return (double)ns / NS_PER_SECOND;
}

/* As for groups: one that has gone makes room. */
static struct region_metric *longest_gone(struct region_metrics *metrics)
{
	struct region_metric *oldest = NULL;

	for (size_t i = 1; i < metrics->regions.count; i++) {
		struct region_metric *metric = &metrics->regions.items[i];

		if (metric->seen + 1 < metrics->slices && (!oldest || metric->seen < oldest->seen))
			oldest = metric;
	}
	return oldest;
}

static struct region_metric *begin(const struct region_metrics *metrics,
				   struct region_metric *metric, const char *name)
{
	if (!metric)
		return NULL;
	*metric = (struct region_metric){.begin_unix_ns = metrics->slice_unix_ns};
	snprintf(metric->name, sizeof(metric->name), "%s", name);
	return metric;
}

static struct region_metric *metric_of(struct region_metrics *metrics, const char *name)
{
	struct region_metric *gone;

	if (!metrics->regions.count && !begin(metrics, array_add(&metrics->regions), "other"))
		return NULL;
	if (strcmp(name, "other") == 0)
		return metrics->regions.items;
	for (size_t i = 1; i < metrics->regions.count; i++)
		if (strcmp(metrics->regions.items[i].name, name) == 0)
			return &metrics->regions.items[i];
	if (metrics->regions.count <= NAMES_MAX)
		return begin(metrics, array_add(&metrics->regions), name);
	gone = longest_gone(metrics);
	return gone ? begin(metrics, gone, name) : metrics->regions.items;
}

static void add_line(struct region_metrics *metrics, const struct region_line *line,
		     uint64_t recorded_ns)
{
	const double of_slice[REGION_METRICS_LENGTHS] = {
		seconds(line->p50_ns), seconds(line->p95_ns), seconds(line->p99_ns),
		seconds(line->sums.max_ns)};
	struct region_metric *metric = metric_of(metrics, line->name);

	if (!metric)
		return;
	metric->sums[COUNT] += (double)line->sums.count;
	metric->sums[WALL] += seconds(line->sums.total_ns);
	metric->sums[VIOLATIONS] += (double)line->sums.over;
	if (recorded_ns > line->missed_ns)
		metric->sums[WATCHED] += seconds(recorded_ns - line->missed_ns);
	metric->has_limit |= region_sums_has_limit(&line->sums);
	memcpy(metric->lengths, of_slice, sizeof(of_slice));
	metric->seen = metrics->slices;
}

static void forget(struct region_metrics *metrics)
{
	size_t kept = 1;

	for (size_t i = 1; i < metrics->regions.count; i++)
		if (metrics->slices - metrics->regions.items[i].seen < REGION_SLICES)
			metrics->regions.items[kept++] = metrics->regions.items[i];
	if (metrics->regions.count)
		metrics->regions.count = kept;
}

void region_metrics_add(struct region_metrics *metrics, const struct profile *slice)
{
	const struct profile_info *info = profile_info_read(slice);
	struct region_list list = {0};

	metrics->slices++;
	metrics->slice_unix_ns = info->start_unix_ns;
	if (region_list_init(&list, slice, REGION_BY_NAME))
		return;
	for (size_t i = 0; i < list.count; i++)
		add_line(metrics, &list.lines[i], info->regions_ns);
	region_list_done(&list);
	forget(metrics);
}

static void write_value(const struct region_metric *metric, const char *name, double value,
			FILE *out)
{
	fprintf(out, "%s{region=\"", name);
	metric_text_label(out, metric->name);
	fprintf(out, "\"} %.17g\n", value);
}

/* "other" is there when there is something else, and of no name for which it was watched. */
static bool has_sum(const struct region_metrics *metrics, const struct region_metric *metric,
		    size_t sum)
{
	bool is_other = metric == metrics->regions.items;

	if (is_other && (sum == WATCHED || metric->sums[COUNT] <= 0))
		return false;
	return sum != VIOLATIONS || metric->has_limit;
}

static void write_sum(const struct region_metrics *metrics, size_t sum, bool with_begins, FILE *out)
{
	bool begun = false;

	array_foreach(&metrics->regions, metric) {
		if (!has_sum(metrics, metric, sum))
			continue;
		if (!begun)
			metric_text_head(out, sums[sum].name, "counter", sums[sum].help);
		begun = true;
		if (with_begins)
			metric_text_begin(out, metric->begin_unix_ns);
		write_value(metric, sums[sum].name, metric->sums[sum], out);
	}
}

void region_metrics_write(const struct region_metrics *metrics, bool with_begins, FILE *out)
{
	if (!metrics->regions.count)
		return;
	for (size_t i = 0; i < REGION_METRICS_SUMS; i++)
		write_sum(metrics, i, with_begins, out);
	for (size_t i = 0; i < REGION_METRICS_LENGTHS; i++) {
		metric_text_head(out, lengths[i].name, "gauge", lengths[i].help);
		/* Lengths of different regions make none together. */
		for (size_t j = 1; j < metrics->regions.count; j++)
			if (metrics->regions.items[j].seen == metrics->slices)
				write_value(&metrics->regions.items[j], lengths[i].name,
					    metrics->regions.items[j].lengths[i], out);
	}
}

void region_metrics_done(struct region_metrics *metrics)
{
	array_free(&metrics->regions);
}
