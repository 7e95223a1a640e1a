// SPDX-License-Identifier: BSD-2-Clause
/* Objectives as JSON, text and a table of a page. */
#include <string.h>
#include <time.h>

#include "alert/objective.h"
#include "alert/term_value.h"
#include "base/escape.h"

static const char *const level_lengths[STORE_LEVELS] = {"slice", "1m", "10m", "1h"};

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

static const char *verdict(const struct objective_result *result)
{
	if (objective_share(result) < 0)
		return "unknown";
	return objective_is_met(result) ? "met" : "missed";
}

void objectives_write_text(const struct objective_result *results, size_t count, FILE *out)
{
	fprintf(out, "%-24s %-8s %9s %9s %7s %7s %7s %10s  %s\n", "OBJECTIVE", "", "KEPT", "TARGET",
		"WINDOWS", "MISSED", "UNKNOWN", "WORST", "WHEN");
	for (size_t i = 0; i < count; i++) {
		const struct objective_result *result = &results[i];
		char share[32], worst[HUMAN_SIZE], name[ALERT_NAME_SIZE], when[256];

		describe(result, share, worst);
		fprintf(out, "%-24s %-8s %9s %7g %% %7zu %7zu %7zu %10s  %s over %s\n",
			escape_terminal(name, sizeof(name), result->objective->name),
			verdict(result), share, result->objective->target,
			result->kept + result->missed, result->missed, result->unknown, worst,
			escape_terminal(when, sizeof(when), result->objective->when),
			level_lengths[result->objective->level]);
	}
}

void objectives_write_html(const struct objective_result *results, size_t count, FILE *out)
{
	fprintf(out, "<table><thead><tr><th>objective<th><th>kept<th>target<th>windows<th>missed"
		     "<th>unknown<th>worst<th>when</thead><tbody>\n");
	for (size_t i = 0; i < count; i++) {
		const struct objective_result *result = &results[i];
		char share[32], worst[HUMAN_SIZE];

		describe(result, share, worst);
		fprintf(out, "<tr class=\"%s\"><td>", verdict(result));
		escape_markup(out, result->objective->name);
		fprintf(out, "<td>%s<td>%s<td>%g %%<td>%zu<td>%zu<td>%zu<td>%s<td>",
			verdict(result), share, result->objective->target,
			result->kept + result->missed, result->missed, result->unknown, worst);
		escape_markup(out, result->objective->when);
		fprintf(out, " over %s\n", level_lengths[result->objective->level]);
	}
	fprintf(out, "</tbody></table>\n");
}
