// SPDX-License-Identifier: BSD-2-Clause
/* `pkbpf query`: questions to the history that `pkbpf serve` keeps, also while it runs, and to a
 * copy of it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_io.h"
#include "base/near_match.h"
#include "cli/command_table.h"
#include "cli/exit_status.h"
#include "cli/whole_outputs.h"
#include "cli/option_check.h"
#include "cli/report_profile.h"
#include "cli/serve_config.h"
#include "cli/serve_defaults.h"
#include "history/capacity.h"
#include "history/history_time.h"
#include "history/range_diff.h"
#include "history/series.h"
#include "history/window_list.h"

#define FIVE_MINUTES ((int64_t)(300 * NS_PER_SECOND))
#define HOUR	     ((int64_t)(3600 * NS_PER_SECOND))
#define TOP	     8

enum query_what {
	QUERY_REPORT,
	QUERY_PROFILE,
	QUERY_SERIES,
	QUERY_DIFF,
	QUERY_WINDOWS,
	QUERY_CAPACITY,
	QUERY_OBJECTIVES
};

static const char *const what_names[] = {"report",  "profile",	"series",     "diff",
					 "windows", "capacity", "objectives", NULL};

struct query_options {
	const char *store, *from, *to, *base, *base_from, *base_to, *figure, *output, *format,
		*config, *when;
	uint64_t step_ns;
	bool capacity;
	/* checked */
	enum query_what what;
	struct series_subject subject;
	struct history_range range, base_range;
};

struct querying {
	const struct cli_options *options;
	const struct query_options *own;
	struct console *console;
	struct store *store;
	struct slice_choice choice;
};

static int fail(const struct querying *query, const struct error *error, int err)
{
	console_error(query->console, "%s", error->text);
	if (err == -EINVAL)
		return EXIT_STATUS_USAGE;
	return err == -ENODATA ? EXIT_STATUS_EMPTY : EXIT_STATUS_FAILED;
}

/* ---- what is not a report ---- */

typedef int (*write_answer)(const void *answer, const struct querying *query, FILE *out);

struct writing {
	write_answer write;
	const void *answer;
	const struct querying *query;
};

static int write_one(const void *context, FILE *out)
{
	const struct writing *writing = context;

	return writing->write(writing->answer, writing->query, out);
}

static int write_to_output(const struct querying *query, write_answer write, const void *answer)
{
	const struct writing writing = {write, answer, query};
	struct invoking_user user = {0};
	struct error error;
	int err = invoking_user_find(&user, &error);

	if (err == 0)
		err = whole_output_write(query->own->output ? query->own->output : "-", &user,
					 write_one, &writing, &error);
	invoking_user_done(&user);
	return err < 0 ? fail(query, &error, -EIO) : EXIT_STATUS_DONE;
}

static bool format_is(const struct querying *query, const char *name)
{
	const char *format = query->own->format, *path = query->own->output;
	const char *dot = path && !format ? strrchr(path, '.') : NULL;

	return strcmp(format ? format : dot ? dot + 1 : "", name) == 0;
}

static int write_series(const void *answer, const struct querying *query, FILE *out)
{
	const struct series *series = answer;
	size_t top = option_name_is_given("top", query->options) ? query->options->top : TOP;

	if (format_is(query, "json"))
		series_write_json(series, top, out);
	else if (format_is(query, "csv"))
		series_write_csv(series, top, out);
	else
		series_write_text(series, top, out);
	return 0;
}

static int answer_series(struct querying *query)
{
	struct series_question question = {
		.subject = query->own->subject,
		.by = query->options->by == ROWS_BY_CONTAINER ? ROWS_BY_CONTAINER : ROWS_BY_COMM,
		.step_ns = query->own->step_ns,
		.range = query->own->range,
		.choice = query->choice,
	};
	struct series series;
	struct error error;
	int err = series_read(query->store, &question, &series, &error), status;

	if (err == 0 && !series.points.count)
		err = error_set(&error, ENODATA, "there is no history of this interval");
	status = err < 0 ? fail(query, &error, err) : write_to_output(query, write_series, &series);
	series_done(&series);
	return status;
}

static const struct diff_format_ops *diff_format(const struct query_options *own)
{
	if (own->format)
		return diff_format_by_name(own->format);
	return diff_format_of(own->output && strcmp(own->output, "-") != 0
				      ? file_format_by_suffix(diff_format_at, own->output)
				      : diff_format_at(0));
}

static int write_diff(const void *answer, const struct querying *query, FILE *out)
{
	const struct range_diff *diff = answer;
	const struct cli_options *options = query->options;
	bool to_stdout = !query->own->output || strcmp(query->own->output, "-") == 0;
	struct diff_document document = {
		.comparison = &diff->comparison,
		.titles = {diff->titles[DIFF_BASE], diff->titles[DIFF_NEW]},
		.width = options->width || !to_stdout ? options->width
						      : console_width(STDOUT_FILENO),
		.full = options->full,
		.icicle = options->icicle,
		.kind = (uint32_t)__builtin_ctz(diff->comparison.kinds_mask),
		.color = to_stdout ? console_wants_color(options->color, STDOUT_FILENO)
				   : options->color == COLOR_ALWAYS,
	};

	return diff_format(query->own)->write(&document, out);
}

static int answer_diff(struct querying *query)
{
	const struct history_range ranges[DIFF_SIDES] = {
		[DIFF_BASE] = query->own->base_range, [DIFF_NEW] = query->own->range};
	struct range_diff diff;
	struct error error;
	int err = range_diff_read(query->store, ranges, &query->choice, &diff, &error);
	int status = err < 0 ? fail(query, &error, err) : write_to_output(query, write_diff, &diff);

	range_diff_done(&diff);
	return status;
}

static int write_windows(const void *answer, const struct querying *query, FILE *out)
{
	const struct history_range *range = answer;

	return format_is(query, "json")
		       ? window_list_write_json(query->store, STORE_SLICE, range, out)
		       : window_list_write_text(query->store, range, out);
}

static int answer_windows(struct querying *query)
{
	struct history_range all = {0, INT64_MAX};

	return write_to_output(query, write_windows, query->own->from ? &query->own->range : &all);
}

static int write_capacity(const void *answer, const struct querying *query, FILE *out)
{
	if (format_is(query, "json"))
		capacity_write_json(answer, out);
	else
		capacity_write_text(answer, out);
	return 0;
}

static int answer_capacity(struct querying *query)
{
	struct capacity capacity;
	struct error error;
	int err = capacity_read(query->store, query->own->range.to_unix_ns, &capacity, &error);

	return err < 0 ? fail(query, &error, err)
		       : write_to_output(query, write_capacity, &capacity);
}

/* ---- objectives ---- */

struct objectives_answer {
	const struct objective_result *results;
	size_t count;
};

static int write_objectives(const void *context, const struct querying *query, FILE *out)
{
	const struct objectives_answer *answer = context;

	if (!format_is(query, "json")) {
		objectives_write_text(answer->results, answer->count, out);
		return 0;
	}
	fprintf(out, "{\"objectives\":");
	objectives_write_json(answer->results, answer->count, out);
	fprintf(out, "}\n");
	return 0;
}

static int read_objectives(const struct query_options *own, struct objectives *objectives,
			   struct error *error)
{
	struct serve_config config = {0};
	struct error inner;
	char *text = NULL;
	size_t size;
	int err;

	if (own->when)
		return objectives_add(objectives, "--when", own->when, error);
	err = file_read_all(AT_FDCWD, own->config, SERVE_CONFIG_MAX_BYTES, &text, &size);
	if (err < 0)
		return error_set(error, -err, "cannot read --config %s: %s", own->config,
				 strerror(-err));
	err = serve_config_read(text, &config, &inner);
	if (err < 0)
		error_set(error, EINVAL, "%s: %s", own->config, inner.text);
	else if (!config.objectives.list.count)
		err = error_set(error, EINVAL, "%s has no [objective NAME]", own->config);
	*objectives = config.objectives;
	config.objectives = (struct objectives){0};
	serve_config_done(&config);
	free(text);
	return err;
}

static int answer_objectives(struct querying *query)
{
	struct objectives objectives = {0};
	struct objective_result *results = NULL;
	struct error error;
	int err = read_objectives(query->own, &objectives, &error), status;

	if (err == 0) {
		err = objectives_measure(&objectives, query->store, &query->own->range, &results,
					 &error);
	}
	status = err < 0 ? fail(query, &error, err)
			 : write_to_output(
				   query, write_objectives,
				   &(struct objectives_answer){results, objectives.list.count});
	objective_results_free(results, objectives.list.count);
	objectives_done(&objectives);
	return status;
}

/* ---- reports ---- */

static int each_slice(void *context, recording_take take, void *take_context, struct error *error)
{
	const struct querying *query = context;
	const struct history_range *range = &query->own->range;
	struct store_windows windows;
	int err = store_cover(query->store, range->from_unix_ns, range->to_unix_ns, &windows);

	for (size_t i = 0; i < windows.list.count && err == 0; i++) {
		struct profile *profile;

		/* Missing ones were told. */
		if (store_read(query->store, &windows.list.items[i], &query->choice, &profile) < 0)
			continue;
		err = take(take_context, profile, error);
		profile_free(profile);
	}
	array_free(&windows.list);
	return err;
}

static int answer_report(struct querying *query)
{
	const struct report_slices slices = {each_slice, query};
	struct history_range range = query->own->range;
	struct profile *profile;
	struct error error;
	size_t missing;
	int status, err = history_profile(query->store, &range, &query->choice, &profile, &missing,
					  &error);

	if (err < 0)
		return fail(query, &error, err);
	if (missing)
		console_error(query->console, "%zu window%s missing: deleted meanwhile, or damaged",
			      missing, missing == 1 ? " is" : "s are");
	status = report_profile(query->options, profile, &slices, query->console);
	profile_free(profile);
	return status;
}

static int query_run(const struct cli_options *options, struct console *console)
{
	static int (*const answers[])(struct querying * query) = {
		[QUERY_REPORT] = answer_report,		[QUERY_PROFILE] = answer_report,
		[QUERY_SERIES] = answer_series,		[QUERY_DIFF] = answer_diff,
		[QUERY_WINDOWS] = answer_windows,	[QUERY_CAPACITY] = answer_capacity,
		[QUERY_OBJECTIVES] = answer_objectives,
	};
	struct querying query = {
		.options = options,
		.own = options->own,
		.console = console,
		.choice = {.pids = options->live.targets.pids.items,
			   .pid_count = options->live.targets.pids.count,
			   .comm = options->live.targets.comm,
			   .container = options->live.targets.container},
	};
	struct store_options store = {.path = serve_store(query.own->store), .read_only = true};
	struct error error;
	int status;

	for (size_t i = 0; i < options->source_count; i++)
		query.choice.kinds_mask |= 1U << options->sources[i]->kind;
	if (store_open(&store, &query.store, &error) < 0)
		return fail(&query, &error, -EIO);
	status = answers[query.own->what](&query);
	store_close(query.store);
	return status;
}

/* ---- options ---- */

static int check_what(struct query_options *own, const struct cli_options *options,
		      struct error *error)
{
	struct near_match near = {0};
	const char *word = options->files.count ? options->files.items[0] : NULL;

	own->what = own->capacity ? QUERY_CAPACITY : QUERY_REPORT;
	if (options->files.count > 1 || (word && own->capacity))
		return error_set(error, EINVAL, "unexpected argument '%s'",
				 options->files.items[options->files.count - 1]);
	if (!word)
		return 0;
	for (size_t i = 0; what_names[i]; i++) {
		near_match_offer(&near, word, what_names[i]);
		if (strcmp(word, what_names[i]) != 0)
			continue;
		own->what = (enum query_what)i;
		return 0;
	}
	return error_set(error, EINVAL,
			 "unknown question '%s'%s%s%s: expected report, profile, series, diff, "
			 "windows, capacity or objectives",
			 word, near.word ? "; did you mean " : "", near.word ? near.word : "",
			 near.word ? "?" : "");
}

static int check_time(const char *text, int64_t now, int64_t *unix_ns, struct error *error)
{
	return text ? history_time_parse(text, now, unix_ns, error) : 0;
}

static int check_base(struct query_options *own, int64_t now, struct error *error)
{
	if (!own->base_from != !own->base_to)
		return error_set(error, EINVAL, "--base-from and --base-to belong together");
	if (own->base && own->base_from)
		return error_set(error, EINVAL, "--base and --base-from are mutually exclusive");
	if (!own->base_from)
		return range_diff_base(own->base ? own->base : "before", &own->range,
				       &own->base_range, error);
	if (check_time(own->base_from, now, &own->base_range.from_unix_ns, error) < 0 ||
	    check_time(own->base_to, now, &own->base_range.to_unix_ns, error) < 0)
		return -EINVAL;
	return own->base_range.from_unix_ns < own->base_range.to_unix_ns
		       ? 0
		       : error_set(error, EINVAL, "--base-from must be less than --base-to");
}

static int check_range(struct query_options *own, struct error *error)
{
	int64_t now = history_time_now();

	own->range.to_unix_ns = now;
	if (check_time(own->to, now, &own->range.to_unix_ns, error) < 0)
		return -EINVAL;
	own->range.from_unix_ns =
		own->range.to_unix_ns -
		(own->what == QUERY_SERIES || own->what == QUERY_OBJECTIVES ? HOUR : FIVE_MINUTES);
	if (check_time(own->from, now, &own->range.from_unix_ns, error) < 0)
		return -EINVAL;
	if (own->range.from_unix_ns >= own->range.to_unix_ns)
		return error_set(error, EINVAL, "--from must be less than --to");
	return check_base(own, now, error);
}

static bool is_format(const struct query_options *own)
{
	static const char *const formats[] = {"text", "json", "csv"};
	size_t count = own->what == QUERY_SERIES ? 3 : 2;

	for (size_t i = 0; own->format && i < count; i++)
		if (strcmp(own->format, formats[i]) == 0)
			return true;
	return !own->format;
}

static int check_report_output(struct cli_options *options, struct error *error)
{
	const struct query_options *own = options->own;
	struct output_request *request;

	if (own->format && output_format_check(own->format, error) < 0)
		return -EINVAL;
	request = array_add(&options->outputs);
	if (!request)
		return error_set(error, ENOMEM, "cannot plan the outputs: out of memory");
	request->path = own->output ? own->output : "-";
	request->format = own->format;
	if (!request->format && own->what == QUERY_PROFILE && strcmp(request->path, "-") == 0)
		request->format = "folded";
	return options_check_outputs(options, error);
}

static int check_output(struct cli_options *options, struct error *error)
{
	const struct query_options *own = options->own;

	if (own->what == QUERY_REPORT || own->what == QUERY_PROFILE)
		return check_report_output(options, error);
	if (own->what == QUERY_DIFF) {
		const struct diff_format_ops *format = diff_format(own);

		if (options->reverse || options->modules)
			return error_set(error, EINVAL,
					 "--reverse and --modules are for a report or a profile: a "
					 "diff has flame graphs from the root only");
		if (format && !format->needs_conditions)
			return 0;
		return error_set(error, EINVAL,
				 "unknown format of a diff: expected text, json, markdown, folded, "
				 "svg or html");
	}
	if (is_format(own))
		return 0;
	return error_set(error, EINVAL, "invalid value '%s' for --format: expected text or json%s",
			 own->format, own->what == QUERY_SERIES ? " or csv" : "");
}

static int check_series(struct cli_options *options, struct error *error)
{
	struct query_options *own = options->own;
	const char *figure = own->figure ? own->figure : "cpu.share";
	bool by_region = options->by == ROWS_BY_REGION;

	if (options->by == ROWS_BY_LABEL)
		return error_set(error, EINVAL,
				 "--by label is not possible with query: a history has no samples "
				 "by label");
	if (own->what == QUERY_SERIES &&
	    (options->by == ROWS_BY_THREAD || options->by == ROWS_BY_NAME))
		return error_set(error, EINVAL,
				 "--by %s is not possible with series: use comm, container or "
				 "region",
				 rows_grouping_name(options->by));
	if (series_subject_parse(figure, &own->subject, error) < 0)
		return -EINVAL;
	if (!own->subject.figure && !by_region && option_name_is_given("by", options))
		return error_set(error, EINVAL,
				 "figures of regions are by region; omit --by, or use "
				 "--figure 'region[*].%s' for each",
				 own->subject.region.figure->name);
	if (own->subject.figure && by_region)
		return error_set(error, EINVAL,
				 "--by region requires a figure of regions, as --figure "
				 "'region[*].p99': a history has no samples by region");
	return 0;
}

static int query_check(struct cli_options *options, struct error *error)
{
	struct query_options *own = options->own;

	if (check_what(own, options, error) < 0 || check_series(options, error) < 0 ||
	    check_range(own, error) < 0)
		return -EINVAL;
	if (own->what == QUERY_OBJECTIVES && !own->config == !own->when)
		return error_set(error, EINVAL, "query objectives requires --config or --when");
	if (options->conditions.count && own->what != QUERY_REPORT && own->what != QUERY_PROFILE)
		return error_set(error, EINVAL, "--fail-if requires query report");
	return check_output(options, error);
}

#define QUERY(member)		OPTION_AT(struct query_options, member)
#define TEXT_OF(group_, member) .group = OPTION_GROUP_##group_, .form = OPTION_TEXT, QUERY(member)

static const struct option_row own_options[] = {
	{0, "store", "DIR", "folder of the history; default " SERVE_STORE, TEXT_OF(TARGETS, store),
	 .completes = OPTION_COMPLETES_FILE,
	 .text = "It may be one that pkbpf serve writes to, or a copy."},
	{0, "from", "TIME",
	 "begin: -90m, 2026-11-27T13:45:00, with Z in UTC; default -5m, "
	 "of series and objectives -1h",
	 TEXT_OF(EVENTS, from)},
	{0, "to", "TIME", "end; default now", TEXT_OF(EVENTS, to)},
	{0, "base", "before|hour|yesterday|lastweek",
	 "diff: base side: as long before, an hour before, a day, a week; default before",
	 TEXT_OF(EVENTS, base)},
	{0, "base-from", "TIME", "diff: begin of the base side", TEXT_OF(EVENTS, base_from)},
	{0, "base-to", "TIME", "diff: end of the base side", TEXT_OF(EVENTS, base_to)},
	{0, "figure", "NAME",
	 "series: one of FIGURES, such as blockio.p99, or one of a region, as region[predict].p99, "
	 "region[*].p99 for each; default cpu.share. Counts, bytes and times that add up are per "
	 "second",
	 TEXT_OF(OUTPUT, figure)},
	{0, "step", "TIME", "series: length of a point; default that of the windows there are",
	 .group = OPTION_GROUP_OUTPUT, .form = OPTION_DURATION, QUERY(step_ns),
	 .text = "Percentiles of a point are those of all its waits or requests."},
	{0, "config", "FILE", "objectives: the configuration of pkbpf serve that has them",
	 TEXT_OF(OUTPUT, config), .completes = OPTION_COMPLETES_FILE},
	{0, "when", "EXPR", "objectives: one that is to hold in each minute, as blockio.p99<20ms",
	 TEXT_OF(OUTPUT, when)},
	{0, "capacity", NULL, "what grows, and when it meets its limit",
	 .group = OPTION_GROUP_OUTPUT, .form = OPTION_FLAG, QUERY(capacity)},
	{'o', "output", "FILE", "output file, - for stdout; the suffix selects the format",
	 TEXT_OF(OUTPUT, output), .completes = OPTION_COMPLETES_FILE},
	{'f', "format", "NAME", "format of the output", TEXT_OF(OUTPUT, format),
	 .completes = OPTION_COMPLETES_FORMAT},
	{0},
};

const struct command_row command_query = {
	.name = "query",
	.synopsis = "query [report|profile|series|diff|windows|capacity|objectives] [OPTIONS]",
	.summary = "Asks the history that pkbpf serve keeps",
	.options =
		(const char *const[]){"pid",	 "container", "comm",	   "events",	  "top",
				      "by",	 "fail-if",   "pid-frame", "wait-states", "icicle",
				      "reverse", "modules",   "lines",	   "full",	  "sort",
				      "width",	 "tree",      "by-line",   "quiet",	  "verbose",
				      "color",	 NULL},
	.words =
		(const struct command_words[]){
			{"events", "kinds of events, separated by commas: cpu, offcpu, blockio, "
				   "faults, network, memory, alloc; default: all recorded ones"},
			{"container",
			 "processes of containers, pods or units of this name, or with an id that "
			 "begins so"},
			{NULL, NULL},
		},
	.own_options = own_options,
	.own_size = sizeof(struct query_options),
	.takes_files = true,
	.check = query_check,
	.run = query_run,
};
