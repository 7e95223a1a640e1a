// SPDX-License-Identifier: BSD-2-Clause
/* A figure over time; two intervals compared; and the metrics. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "history/range_diff.h"
#include "history/series.h"
#include "profile/kind_table.h"
#include "web/web_private.h"

#define TOP  8
#define HOUR 3600000000000LL

/* ---- series ---- */

static int write_series(const struct series *series, const struct web_query *query,
			struct web_answer *answer)
{
	size_t top = query->top ? query->top : TOP;
	bool csv = strcmp(query->format, "csv") == 0;
	FILE *out = open_memstream(&answer->body, &answer->size);

	if (!out)
		return -ENOMEM;
	if (csv)
		series_write_csv(series, top, out);
	else
		series_write_json(series, top, out);
	answer->status = 200;
	answer->type = csv ? "text/csv; charset=utf-8" : "application/json";
	return fclose(out) == EOF ? -ENOMEM : 0;
}

int web_answer_series(struct web *web, const struct web_query *query, struct web_answer *answer)
{
	struct series_question question = {
		.by = query->by == ROWS_BY_CONTAINER ? ROWS_BY_CONTAINER : ROWS_BY_COMM,
		.step_ns = query->step_ns,
		.choice = web_choice(query),
	};
	struct series series;
	struct error error;
	int err;

	if (query->by == ROWS_BY_THREAD || query->by == ROWS_BY_NAME)
		return web_say(answer, 400,
			       "by=%s is not possible with series: use comm, container or "
			       "region\n",
			       rows_grouping_name(query->by));
	if (series_subject_parse(query->figure[0] ? query->figure : "cpu.share", &question.subject,
				 &error) < 0)
		return web_say(answer, 400, "%s\n", error.text);
	if (query->has_by && !question.subject.figure != (query->by == ROWS_BY_REGION))
		return web_say(answer, 400,
			       "figures of regions, as region[*].p99, and by=region belong "
			       "together\n");
	if (query->format[0] && strcmp(query->format, "csv") != 0 &&
	    strcmp(query->format, "json") != 0)
		return web_say(answer, 400, "unknown format: json or csv\n");
	err = web_interval(query, WEB_FIVE_MINUTES, &question.range, &error);
	if (err < 0)
		return web_say_error(answer, err, &error);
	web_begin_work(web);
	err = series_read(web->store, &question, &series, &error);
	web_end_work(web);
	err = err < 0 ? web_say_error(answer, err, &error) : write_series(&series, query, answer);
	series_done(&series);
	return err;
}

/* ---- diff ---- */

static const struct {
	const char *format, *type;
	enum web_policy policy;
} diff_types[] = {
	{"html", "text/html; charset=utf-8", WEB_POLICY_REPORT},
	{"svg", "image/svg+xml", WEB_POLICY_REPORT},
	{"json", "application/json", WEB_POLICY_DATA},
	{"folded", "text/plain; charset=utf-8", WEB_POLICY_DATA},
	{"text", "text/plain; charset=utf-8", WEB_POLICY_DATA},
	{"markdown", "text/plain; charset=utf-8", WEB_POLICY_DATA},
};

static int write_diff(const struct range_diff *diff, const struct web_query *query,
		      const struct diff_format_ops *format, struct web_answer *answer)
{
	uint32_t kinds = diff->comparison.kinds_mask;
	struct diff_document document = {
		.comparison = &diff->comparison,
		.titles = {diff->titles[DIFF_BASE], diff->titles[DIFF_NEW]},
		.kind = query->has_kind ? query->kind : (uint32_t)__builtin_ctz(kinds),
	};
	FILE *out;
	int err;

	if (!(kinds & 1U << document.kind))
		return web_say(answer, 409, "this kind of event was not recorded on both sides\n");
	out = open_memstream(&answer->body, &answer->size);
	if (!out)
		return -ENOMEM;
	err = format->write(&document, out);
	if (fclose(out) == EOF && err == 0)
		err = -ENOMEM;
	answer->status = 200;
	for (size_t i = 0; i < ARRAY_SIZE(diff_types); i++) {
		if (strcmp(diff_types[i].format, format->file.name) != 0)
			continue;
		answer->type = diff_types[i].type;
		answer->policy = diff_types[i].policy;
	}
	return err;
}

static int find_ranges(const struct web_query *query, struct history_range ranges[DIFF_SIDES],
		       struct error *error)
{
	struct history_range *new = &ranges[DIFF_NEW], *base = &ranges[DIFF_BASE];
	bool has_from = query->base_from_unix_ns != WEB_NO_TIME;
	bool has_to = query->base_to_unix_ns != WEB_NO_TIME;

	if (web_interval(query, WEB_FIVE_MINUTES, new, error) < 0)
		return -EINVAL;
	*base = (struct history_range){query->base_from_unix_ns, query->base_to_unix_ns};
	if (has_from != has_to)
		return error_set(error, EINVAL, "base_from and base_to belong together");
	if (!has_from)
		return range_diff_base(query->base[0] ? query->base : "before", new, base, error);
	if (query->base[0])
		return error_set(error, EINVAL, "base and base_from exclude each other");
	return base->from_unix_ns < base->to_unix_ns
		       ? 0
		       : error_set(error, EINVAL, "base_from is not before base_to");
}

int web_answer_diff(struct web *web, const struct web_query *query, struct web_answer *answer)
{
	const struct diff_format_ops *format =
		diff_format_by_name(query->format[0] ? query->format : "json");
	struct history_range ranges[DIFF_SIDES];
	struct slice_choice choice = web_choice(query);
	struct range_diff diff;
	struct error error;
	int err;

	if (!format || format->needs_conditions)
		return web_say(answer, 400,
			       "unknown format: json, html, svg, folded, text or markdown\n");
	if (find_ranges(query, ranges, &error) < 0)
		return web_say(answer, 400, "%s\n", error.text);
	web_begin_work(web);
	err = range_diff_read(web->store, ranges, &choice, &diff, &error);
	err = err < 0 ? web_say_error(answer, err, &error)
		      : write_diff(&diff, query, format, answer);
	range_diff_done(&diff);
	web_end_work(web);
	return err;
}

/* ---- alerts ---- */

int web_answer_alerts(struct web *web, const struct web_query *query, struct web_answer *answer)
{
	FILE *out = open_memstream(&answer->body, &answer->size);

	(void)query;
	if (!out)
		return -ENOMEM;
	if (web->options.alerts)
		alerts_write_json(web->options.alerts, out);
	else
		fprintf(out, "{\"rules\":[]}\n");
	answer->status = 200;
	answer->type = "application/json";
	return fclose(out) == EOF ? -ENOMEM : 0;
}

/* ---- objectives ---- */

int web_answer_objectives(struct web *web, const struct web_query *query, struct web_answer *answer)
{
	struct history_range range;
	struct error error;
	FILE *out;
	/* Five minutes say little of a promise. */
	int err = web_interval(query, HOUR, &range, &error);

	if (err < 0)
		return web_say_error(answer, err, &error);
	out = open_memstream(&answer->body, &answer->size);
	if (!out)
		return -ENOMEM;
	web_begin_work(web);
	if (web->options.write_objectives)
		err = web->options.write_objectives(web->options.objectives, &range, out, &error);
	else
		fprintf(out, "{\"objectives\":[]}\n");
	web_end_work(web);
	answer->status = 200;
	answer->type = "application/json";
	if (fclose(out) == EOF)
		return -ENOMEM;
	if (err == 0)
		return 0;
	/* Its last owner frees what an answer holds, and this may stay the answer. */
	free(answer->body);
	answer->body = NULL;
	return web_say_error(answer, err, &error);
}

/* ---- metrics ---- */

void web_write_metrics(struct web *web, bool with_begins, FILE *out)
{
	struct store_state state;

	store_get_state(web->store, &state);
	pthread_mutex_lock(&web->lock);
	metrics_write(&web->metrics, &state, with_begins, out);
	pthread_mutex_unlock(&web->lock);
	if (web->options.alerts)
		alerts_write_metrics(web->options.alerts, out);
	if (web->options.more_metrics)
		web->options.more_metrics(web->options.context, out);
}

int web_answer_metrics(struct web *web, const struct web_query *query, struct web_answer *answer)
{
	FILE *out = open_memstream(&answer->body, &answer->size);

	(void)query;
	if (!out)
		return -ENOMEM;
	web_write_metrics(web, false, out);
	answer->status = 200;
	answer->type = "text/plain; version=0.0.4; charset=utf-8";
	return fclose(out) == EOF ? -ENOMEM : 0;
}
