// SPDX-License-Identifier: BSD-2-Clause
#include "web/hour_regions.h"

#include "base/escape.h"
#include "rows/human.h"
#include "rows/region_list.h"

#define ROWS_MAX 30

static void write_time(uint64_t ns, FILE *out)
{
	char text[HUMAN_SIZE];

	fprintf(out, "<td class=n>%s", human_time(text, ns));
}

static void write_violations(const struct region_sums *sums, FILE *out)
{
	char some[HUMAN_SIZE], limit[HUMAN_SIZE];

	if (!region_sums_has_limit(sums)) {
		fprintf(out, "<td class=n>-");
		return;
	}
	fprintf(out, "<td class=n>%s over %s", human_count(some, sums->over),
		human_time(limit, sums->limit_ns));
	if (sums->count)
		fprintf(out, " (%.2g %%)", 100.0 * (double)sums->over / (double)sums->count);
}

/* Counts and lengths of a part of the time are no counts of all of it. */
static void write_watched(const struct region_line *line, const struct profile_info *info,
			  FILE *out)
{
	uint64_t all_ns = info->end_ns - info->start_ns;
	uint64_t watched_ns =
		info->regions_ns > line->missed_ns ? info->regions_ns - line->missed_ns : 0;
	char some[HUMAN_SIZE], all[HUMAN_SIZE];

	if (watched_ns >= all_ns)
		fprintf(out, "<td>all the time\n");
	else
		fprintf(out, "<td>%s of %s\n", human_time(some, watched_ns),
			human_time(all, all_ns));
}

static void write_line(const struct region_line *line, const struct profile_info *info, FILE *out)
{
	const struct region_sums *sums = &line->sums;
	char count[HUMAN_SIZE];

	fprintf(out, "<tr><td>");
	escape_markup(out, line->name);
	fprintf(out, "<td class=n>%s", human_count(count, sums->count));
	write_time(sums->count ? sums->total_ns / sums->count : 0, out);
	write_time(line->p50_ns, out);
	write_time(line->p95_ns, out);
	write_time(line->p99_ns, out);
	write_time(sums->max_ns, out);
	write_violations(sums, out);
	write_watched(line, info, out);
}

void hour_regions_write(const struct profile *profile, FILE *out)
{
	const struct profile_info *info = profile_info_read(profile);
	struct region_list list = {0};

	if (!info->regions_ns || region_list_init(&list, profile, REGION_BY_NAME) < 0)
		return;
	fprintf(out, "<h2>Regions</h2>\n");
	if (list.count)
		fprintf(out, "<table><thead><tr><th>region<th>requests<th>average<th>p50<th>p95"
			     "<th>p99<th>longest<th>violations<th>watched</thead><tbody>\n");
	else
		fprintf(out, "<p>No program left any.</p>\n");
	for (size_t i = 0; i < list.count && i < ROWS_MAX; i++)
		write_line(&list.lines[i], info, out);
	if (list.count)
		fprintf(out, "</tbody></table>\n");
	if (list.count > ROWS_MAX)
		fprintf(out, "<p>%zu more regions, with less time, are not shown.</p>\n",
			list.count - ROWS_MAX);
	region_list_done(&list);
}
