// SPDX-License-Identifier: BSD-2-Clause
/* What is at each path: an exact table, with no file system behind it. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/timed_wait.h"
#include "embedded/history.css.h"
#include "embedded/history.html.h"
#include "embedded/history.js.h"
#include "embedded/history_lanes.js.h"
#include "embedded/history_live.js.h"
#include "export/format.h"
#include "finding/results.h"
#include "history/window_list.h"
#include "web/web_private.h"

/* Beside what was asked for: the slice that runs at its end, and its way to us. */
#define WAIT_NS (15 * NS_PER_SECOND)

/* ---- parts of answers ---- */

int web_say(struct web_answer *answer, unsigned int status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	answer->status = status;
	answer->type = "text/plain; charset=utf-8";
	if (vasprintf(&answer->body, format, arguments) < 0)
		answer->body = NULL;
	va_end(arguments);
	if (!answer->body)
		return -ENOMEM;
	answer->size = strlen(answer->body);
	return 0;
}

int web_say_error(struct web_answer *answer, int err, const struct error *error)
{
	unsigned int status;

	switch (err) {
	case -ENODATA:
		status = 404;
		break;
	case -E2BIG:
		status = 413;
		break;
	case -EINVAL:
		status = 400;
		break;
	default:
		return err;
	}
	return web_say(answer, status, "%s\n", error->text);
}

struct slice_choice web_choice(const struct web_query *query)
{
	return (struct slice_choice){
		.pids = &query->pid,
		.pid_count = query->pid != 0,
		.comm = query->comm[0] ? query->comm : NULL,
		.container = query->container[0] ? query->container : NULL,
	};
}

int web_interval(const struct web_query *query, int64_t usual_ns, struct history_range *ret_range,
		 struct error *error)
{
	int64_t to = query->to_unix_ns != WEB_NO_TIME ? query->to_unix_ns : query->now_unix_ns;
	int64_t from = query->from_unix_ns != WEB_NO_TIME ? query->from_unix_ns : to - usual_ns;

	*ret_range = (struct history_range){from, to};
	return from < to ? 0 : error_set(error, EINVAL, "from is not before to");
}

static int say_text(struct web_answer *answer, const char *type, enum web_policy policy,
		    const char *text, size_t size)
{
	answer->status = 200;
	answer->type = type;
	answer->policy = policy;
	answer->body = malloc(size ? size : 1);
	if (!answer->body)
		return -ENOMEM;
	memcpy(answer->body, text, size);
	answer->size = size;
	return 0;
}

/* ---- health ---- */

static int answer_healthz(struct web *web, const struct web_query *query, struct web_answer *answer)
{
	(void)web;
	(void)query;
	return web_say(answer, 200, "alive\n");
}

static int answer_readyz(struct web *web, const struct web_query *query, struct web_answer *answer)
{
	struct store_state state;
	int64_t last, late_ns = (int64_t)(3 * web->options.slice_ns + WAIT_NS);

	store_get_state(web->store, &state);
	pthread_mutex_lock(&web->lock);
	last = web->last_end_unix_ns;
	pthread_mutex_unlock(&web->lock);
	if (!last)
		return web_say(answer, 503, "no slice yet\n");
	if (query->now_unix_ns - last > late_ns)
		return web_say(answer, 503, "the last slice ended %" PRId64 " s ago\n",
			       (query->now_unix_ns - last) / (int64_t)NS_PER_SECOND);
	if (state.failing)
		return web_say(answer, 503, "the store cannot be written: %s\n",
			       strerror(state.failing));
	return web_say(answer, 200, "ready\n");
}

/* ---- profiles ---- */

/* Waits until the store has all up to this time; false: it does not come. */
static bool wait_for(struct web *web, int64_t until_unix_ns)
{
	int64_t ahead_ns = until_unix_ns - (int64_t)clock_read_ns(CLOCK_REALTIME);
	uint64_t limit_ns = clock_now_ns() + web->options.slice_ns + WAIT_NS;
	bool there;

	if (ahead_ns > 0)
		limit_ns += (uint64_t)ahead_ns;
	pthread_mutex_lock(&web->lock);
	while (!web->stops && web->last_end_unix_ns < until_unix_ns &&
	       timed_wait(&web->news, &web->lock, limit_ns))
		;
	there = web->last_end_unix_ns >= until_unix_ns;
	pthread_mutex_unlock(&web->lock);
	return there;
}

/* 0 with *ret_profile NULL: a sentence is the answer. */
static int find_profile(struct web *web, const struct web_query *query,
			const struct history_range *asked, struct web_answer *answer,
			struct profile **ret_profile)
{
	struct slice_choice choice = web_choice(query);
	struct history_range range = *asked;
	struct error error;
	size_t missing;
	int err = history_profile(web->store, &range, &choice, ret_profile, &missing, &error);

	if (err < 0)
		return web_say_error(answer, err, &error);
	answer->is_partial = missing > 0;
	answer->from_unix_ns = range.from_unix_ns;
	answer->to_unix_ns = range.to_unix_ns;
	return 0;
}

/* Time of no process, such as that of interrupts, is in every interval. */
static bool has_process(const struct profile *profile)
{
	const struct resource_rows *rows;
	struct results results;
	bool has = false;

	results_init(&results, profile, ROWS_BY_PROCESS);
	if (results_rows(&results, &rows) == 0)
		for (size_t i = 0; i < rows->all_count && !has; i++)
			has = !rows->items[i].no_process;
	results_done(&results);
	return has;
}

/* 0 with *ret_said: a sentence is the answer. */
static int check_profile(const struct web_query *query, const struct format_ops *format,
			 const struct profile *profile, struct web_answer *answer, bool *ret_said)
{
	*ret_said = true;
	if (format->one_kind && !(profile_info_read(profile)->kinds_mask & 1U << query->kind))
		return web_say(answer, 409, "this kind of event was not recorded\n");
	if (query->pid && !has_process(profile))
		return web_say(answer, 404, "no process %u in this interval\n", query->pid);
	*ret_said = false;
	return 0;
}

static const struct {
	const char *format, *type, *suffix;
	enum web_policy policy;
} types[] = {
	{"html", "text/html; charset=utf-8", "", WEB_POLICY_REPORT},
	{"svg", "image/svg+xml", "", WEB_POLICY_REPORT},
	{"json", "application/json", "", WEB_POLICY_DATA},
	{"csv", "text/csv; charset=utf-8", ".csv", WEB_POLICY_DATA},
	{"pprof", "application/octet-stream", ".pb.gz", WEB_POLICY_DATA},
	{"speedscope", "application/json", ".speedscope.json", WEB_POLICY_DATA},
	{"recording", "application/octet-stream", ".pkbpf", WEB_POLICY_DATA},
	{"folded", "text/plain; charset=utf-8", "", WEB_POLICY_DATA},
	{"text", "text/plain; charset=utf-8", "", WEB_POLICY_DATA},
	{"page-data", "text/plain; charset=utf-8", "", WEB_POLICY_DATA},
};

static int write_format(const struct web_query *query, const struct format_ops *format,
			const struct profile *profile, struct web_answer *answer)
{
	struct format_options options = {
		.kind = query->kind, .top = query->top ? query->top : 10, .full = true};
	struct results results;
	FILE *out = open_memstream(&answer->body, &answer->size);
	int err;

	if (!out)
		return -ENOMEM;
	results_init(&results, profile, query->by);
	err = format->write(&results, &options, out);
	results_done(&results);
	if (fclose(out) == EOF && err == 0)
		err = -ENOMEM;
	answer->status = 200;
	answer->type = "application/octet-stream";
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (strcmp(types[i].format, format->file.name) != 0)
			continue;
		answer->type = types[i].type;
		answer->policy = types[i].policy;
		if (types[i].suffix[0])
			snprintf(answer->file_name, sizeof(answer->file_name), "pkbpf%s",
				 types[i].suffix);
	}
	return err;
}

int web_write_profile(struct web *web, const struct web_query *query,
		      const struct format_ops *format, const struct history_range *range,
		      struct web_answer *answer)
{
	struct profile *profile;
	bool said;
	int err;

	if (query->by == ROWS_BY_REGION)
		return web_say(answer, 400,
			       "by=region is for figures of regions, at /api/v1/series: a history "
			       "has no samples by region\n");
	web_begin_work(web);
	err = find_profile(web, query, range, answer, &profile);
	if (err == 0 && profile) {
		err = check_profile(query, format, profile, answer, &said);
		if (err == 0 && !said)
			err = write_format(query, format, profile, answer);
	}
	profile_free(profile);
	web_end_work(web);
	return err;
}

static int answer_format(struct web *web, const struct web_query *query, const char *name,
			 const struct history_range *range, struct web_answer *answer)
{
	const struct format_ops *format = format_by_name(name);

	if (!format)
		return web_say(answer, 400, "unknown format; those of pkbpf --format\n");
	return web_write_profile(web, query, format, range, answer);
}

static int answer_interval(struct web *web, const struct web_query *query, const char *name,
			   struct web_answer *answer)
{
	struct history_range range;
	struct error error;
	int err = web_interval(query, WEB_FIVE_MINUTES, &range, &error);

	return err < 0 ? web_say_error(answer, err, &error)
		       : answer_format(web, query, name, &range, answer);
}

static int answer_profile(struct web *web, const struct web_query *query, struct web_answer *answer)
{
	return answer_interval(web, query, query->format[0] ? query->format : "pprof", answer);
}

static int answer_report(struct web *web, const struct web_query *query, struct web_answer *answer)
{
	return answer_interval(web, query, "json", answer);
}

/* As Go's server does it: from now on, or with past=1 up to now. */
static int answer_pprof_of(struct web *web, const struct web_query *query,
			   enum pkbpf_profile_kind kind, struct web_answer *answer)
{
	struct web_query of_kind = *query;
	int64_t seconds = query->seconds ? query->seconds : 30;
	int64_t now = query->now_unix_ns, length_ns = seconds * (int64_t)NS_PER_SECOND;
	struct history_range range = {now, now + length_ns};

	answer->for_pprof = true;
	of_kind.kind = kind;
	if (query->past)
		range = (struct history_range){now - length_ns, now};
	else if (!wait_for(web, range.to_unix_ns))
		return web_say(answer, 503, "no slice came in time\n");
	return answer_format(web, &of_kind, "pprof", &range, answer);
}

static int answer_pprof_cpu(struct web *web, const struct web_query *query,
			    struct web_answer *answer)
{
	return answer_pprof_of(web, query, PKBPF_PROFILE_CPU, answer);
}

static int answer_pprof_offcpu(struct web *web, const struct web_query *query,
			       struct web_answer *answer)
{
	return answer_pprof_of(web, query, PKBPF_PROFILE_OFFCPU, answer);
}

static int answer_pprof_blockio(struct web *web, const struct web_query *query,
				struct web_answer *answer)
{
	return answer_pprof_of(web, query, PKBPF_PROFILE_BLOCKIO, answer);
}

static int answer_pprof_faults(struct web *web, const struct web_query *query,
			       struct web_answer *answer)
{
	return answer_pprof_of(web, query, PKBPF_PROFILE_FAULTS, answer);
}

static int answer_pprof_index(struct web *web, const struct web_query *query,
			      struct web_answer *answer)
{
	(void)web;
	(void)query;
	return web_say(answer, 200,
		       "profile  CPU samples\noffcpu   waits\nblockio  block I/O\nfaults   page "
		       "faults\n\n?seconds=N from now on, past=1 the last N seconds; pid, comm, "
		       "container\n");
}

static int answer_pprof_unknown(struct web *web, const struct web_query *query,
				struct web_answer *answer)
{
	(void)web;
	(void)query;
	answer->for_pprof = true;
	return web_say(
		answer, 404,
		"pkbpf has no such profile: profile, offcpu, blockio and faults are there\n");
}

/* ---- windows ---- */

static int answer_windows(struct web *web, const struct web_query *query, struct web_answer *answer)
{
	enum store_level level = STORE_SLICE;
	struct history_range range;
	struct error error;
	FILE *out;
	int err = web_interval(query, WEB_FIVE_MINUTES, &range, &error);

	if (err < 0)
		return web_say_error(answer, err, &error);
	for (int i = 0; i < STORE_LEVELS; i++)
		if (strcmp(query->level, store_level_name((enum store_level)i)) == 0)
			level = (enum store_level)i;
	if (query->level[0] && strcmp(query->level, store_level_name(level)) != 0)
		return web_say(answer, 400, "unknown level: slice, minute, ten or hour\n");
	out = open_memstream(&answer->body, &answer->size);
	if (!out)
		return -ENOMEM;
	err = window_list_write_json(web->store, level, &range, out);
	if (fclose(out) == EOF && err == 0)
		err = -ENOMEM;
	answer->status = 200;
	answer->type = "application/json";
	return err;
}

/* ---- the page ---- */

static int answer_page(struct web *web, const struct web_query *query, struct web_answer *answer)
{
	(void)web;
	(void)query;
	return say_text(answer, "text/html; charset=utf-8", WEB_POLICY_PAGE, history_html,
			sizeof(history_html) - 1);
}

static int answer_script(struct web *web, const struct web_query *query, struct web_answer *answer)
{
	(void)web;
	(void)query;
	return say_text(answer, "text/javascript; charset=utf-8", WEB_POLICY_PAGE, history_js,
			sizeof(history_js) - 1);
}

static int answer_lanes_script(struct web *web, const struct web_query *query,
			       struct web_answer *answer)
{
	(void)web;
	(void)query;
	return say_text(answer, "text/javascript; charset=utf-8", WEB_POLICY_PAGE, history_lanes_js,
			sizeof(history_lanes_js) - 1);
}

static int answer_live_script(struct web *web, const struct web_query *query,
			      struct web_answer *answer)
{
	(void)web;
	(void)query;
	return say_text(answer, "text/javascript; charset=utf-8", WEB_POLICY_PAGE, history_live_js,
			sizeof(history_live_js) - 1);
}

static int answer_style(struct web *web, const struct web_query *query, struct web_answer *answer)
{
	(void)web;
	(void)query;
	return say_text(answer, "text/css; charset=utf-8", WEB_POLICY_PAGE, history_css,
			sizeof(history_css) - 1);
}

/* ---- the table ---- */

static const struct web_path paths[] = {
	{"/", false, answer_page},
	{"/history.js", false, answer_script},
	{"/history.css", false, answer_style},
	{"/history_lanes.js", false, answer_lanes_script},
	{"/history_live.js", false, answer_live_script},
	{"/healthz", true, answer_healthz},
	{"/readyz", true, answer_readyz},
	{"/metrics", false, web_answer_metrics},
	{"/debug/pprof/", false, answer_pprof_index},
	{"/debug/pprof/profile", false, answer_pprof_cpu},
	{"/debug/pprof/offcpu", false, answer_pprof_offcpu},
	{"/debug/pprof/blockio", false, answer_pprof_blockio},
	{"/debug/pprof/faults", false, answer_pprof_faults},
	{"/debug/pprof/heap", false, answer_pprof_unknown},
	{"/debug/pprof/allocs", false, answer_pprof_unknown},
	{"/debug/pprof/goroutine", false, answer_pprof_unknown},
	{"/debug/pprof/block", false, answer_pprof_unknown},
	{"/debug/pprof/mutex", false, answer_pprof_unknown},
	{"/debug/pprof/threadcreate", false, answer_pprof_unknown},
	{"/api/v1/windows", false, answer_windows},
	{"/api/v1/series", false, web_answer_series},
	{"/api/v1/lanes", false, web_answer_lanes},
	{"/api/v1/alerts", false, web_answer_alerts},
	{"/api/v1/objectives", false, web_answer_objectives},
	{"/api/v1/diff", false, web_answer_diff},
	{"/api/v1/report", false, answer_report},
	{"/api/v1/profile", false, answer_profile},
	{"/api/v1/page", false, web_answer_page_data},
};

const struct web_path *web_path_find(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (strcmp(paths[i].path, path) == 0)
			return &paths[i];
	return NULL;
}
