// SPDX-License-Identifier: BSD-2-Clause
/* Objectives as JSON, text and a table of a page. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "alert/objective.h"
#include "alert/term_value.h"
#include "base/escape.h"
#include "rows/human.h"

static const char *const level_lengths[STORE_LEVELS] = {"slice", "1m", "10m", "1h"};

static void write_regions_json(const struct objective_result *result, FILE *out)
{
	fprintf(out,
		",\"regions\":%" PRIu64 ",\"violations\":%" PRIu64 ",\"not_counted\":%" PRIu64
		",\"recorded_seconds\":%.3f,\"watched_seconds\":%.3f",
		result->regions, result->violations, result->uncounted,
		(double)result->regions_ns / 1e9, (double)result->watched_ns / 1e9);
}

void objectives_write_json(const struct objective_result *results, size_t count, FILE *out)
{
	fprintf(out, "[");
	for (size_t i = 0; i < count; i++) {
		const struct objective_result *result = &results[i];
		const struct objective *objective = result->objective;

		fprintf(out, "%s{\"name\":", i ? "," : "");
		escape_json(out, objective->name);
		fprintf(out, ",\"when\":");
		escape_json(out, objective->when);
		fprintf(out,
			",\"over\":\"%s\",\"target_percent\":%g,\"kept\":%zu,\"missed\":%zu,"
			"\"unknown\":%zu",
			level_lengths[objective->level], objective->target, result->kept,
			result->missed, result->unknown);
		if (objective_share(result) >= 0)
			fprintf(out, ",\"kept_percent\":%.4f,\"met\":%s,\"worst\":%.6g",
				objective_share(result),
				objective_is_met(result) ? "true" : "false", result->worst);
		if (objective->term.subject == ALERT_OF_REGION)
			write_regions_json(result, out);
		fprintf(out, ",\"misses\":[");
		array_foreach(&result->misses, miss)
			fprintf(out, "%s{\"from\":%.3f,\"to\":%.3f,\"value\":%.6g}",
				miss == result->misses.items ? "" : ",",
				(double)miss->range.from_unix_ns / 1e9,
				(double)miss->range.to_unix_ns / 1e9, miss->value);
		fprintf(out, "]}");
	}
	fprintf(out, "]");
}

static void describe(const struct objective_result *result, char share[32], char worst[HUMAN_SIZE])
{
	snprintf(share, 32, "-");
	snprintf(worst, HUMAN_SIZE, "-");
	if (objective_share(result) < 0)
		return;
	snprintf(share, 32, "%.2f %%", objective_share(result));
	condition_format(worst, term_unit(&result->objective->term), result->worst);
}

/* "3 of 48,211", "-" of what are no regions, or was not counted. */
static void describe_violations(const struct objective_result *result, char text[64])
{
	char some[HUMAN_SIZE], all[HUMAN_SIZE];
	uint64_t counted = result->regions - result->uncounted;

	snprintf(text, 64, "-");
	if (counted)
		snprintf(text, 64, "%s of %s%s", human_count(some, result->violations),
			 human_count(all, counted), result->uncounted ? "+" : "");
}

/* "" or how much was looked at: a share of it is no share of all. */
static const char *describe_watched(const struct objective_result *result, char text[64])
{
	char some[HUMAN_SIZE], all[HUMAN_SIZE];

	text[0] = '\0';
	if (result->watched_ns < result->regions_ns)
		snprintf(text, 64, " (watched %s of %s)", human_time(some, result->watched_ns),
			 human_time(all, result->regions_ns));
	return text;
}

static const char *verdict(const struct objective_result *result)
{
	if (objective_share(result) < 0)
		return "unknown";
	return objective_is_met(result) ? "met" : "missed";
}

void objectives_write_text(const struct objective_result *results, size_t count, FILE *out)
{
	fprintf(out, "%-24s %-8s %9s %9s %7s %7s %7s %10s %18s  %s\n", "OBJECTIVE", "", "KEPT",
		"TARGET", "WINDOWS", "MISSED", "UNKNOWN", "WORST", "VIOLATIONS", "WHEN");
	for (size_t i = 0; i < count; i++) {
		const struct objective_result *result = &results[i];
		char share[32], worst[HUMAN_SIZE], name[ALERT_NAME_SIZE], when[256];
		char violations[64], watched[64];

		describe(result, share, worst);
		describe_violations(result, violations);
		fprintf(out, "%-24s %-8s %9s %7g %% %7zu %7zu %7zu %10s %18s  %s over %s%s\n",
			escape_terminal(name, sizeof(name), result->objective->name),
			verdict(result), share, result->objective->target,
			result->kept + result->missed, result->missed, result->unknown, worst,
			violations, escape_terminal(when, sizeof(when), result->objective->when),
			level_lengths[result->objective->level], describe_watched(result, watched));
	}
}

void objectives_write_html(const struct objective_result *results, size_t count, FILE *out)
{
	fprintf(out, "<table><thead><tr><th>objective<th><th>kept<th>target<th>windows<th>missed"
		     "<th>unknown<th>worst<th>violations<th>when</thead><tbody>\n");
	for (size_t i = 0; i < count; i++) {
		const struct objective_result *result = &results[i];
		char share[32], worst[HUMAN_SIZE], violations[64], watched[64];

		describe(result, share, worst);
		describe_violations(result, violations);
		fprintf(out, "<tr class=\"%s\"><td>", verdict(result));
		escape_markup(out, result->objective->name);
		fprintf(out, "<td>%s<td>%s<td>%g %%<td>%zu<td>%zu<td>%zu<td>%s<td>%s<td>",
			verdict(result), share, result->objective->target,
			result->kept + result->missed, result->missed, result->unknown, worst,
			violations);
		escape_markup(out, result->objective->when);
		fprintf(out, " over %s%s\n", level_lengths[result->objective->level],
			describe_watched(result, watched));
	}
	fprintf(out, "</tbody></table>\n");
}
