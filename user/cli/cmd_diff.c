// SPDX-License-Identifier: BSD-2-Clause
/* `pkbpf diff BASE NEW`: what changed between two profiles, and what of it is more than noise. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command_table.h"
#include "cli/exit_status.h"
#include "cli/whole_outputs.h"
#include "base/near_match.h"
#include "diff/baseline.h"
#include "diff/diff_format.h"
#include "diff/measure_file.h"
#include "live/invoking_user.h"
#include "profile/kind_table.h"
#include "source/source.h"

#define DIFF_FILES_MAX	    64
#define DIFF_CONDITIONS_MAX 64

struct diff_files {
	const char *items[DIFF_FILES_MAX];
	size_t count;
};

/* Arrays of fixed size: who frees the options knows nothing of them. */
struct diff_options {
	struct whole_outputs outputs;
	const char *conditions[DIFF_CONDITIONS_MAX];
	size_t condition_count;
	struct diff_files more[DIFF_SIDES]; /* further runs */
	struct diff_work work;
	bool has_work;
	const char *container;
	const char *baseline, *save_baseline;
};

struct differing {
	const struct cli_options *options;
	const struct diff_options *own;
	struct console *console;
	struct diff_names names;
	struct measurement sides[DIFF_SIDES];
	struct comparison comparison;
	struct diff_condition_result conditions[DIFF_CONDITIONS_MAX];
};

static int fail(const struct differing *diff, const struct error *error, int status)
{
	console_error(diff->console, "%s", error->text);
	return status;
}

/* ---- reading ---- */

static int read_file(struct differing *diff, enum diff_side side, const char *path)
{
	const struct cli_options *options = diff->options;
	struct slice_choice choice = {
		.pids = options->live.targets.pids.items,
		.pid_count = options->live.targets.pids.count,
		.comm = options->live.targets.comm,
		.container = diff->own->container,
	};
	size_t damaged = 0;
	struct error error;

	for (size_t i = 0; i < options->source_count; i++)
		choice.kinds_mask |= 1U << options->sources[i]->kind;
	if (measure_file(&diff->sides[side], path, &choice, &damaged, &error) < 0)
		return fail(diff, &error, EXIT_STATUS_FAILED);
	if (damaged)
		console_error(diff->console, "%s: %zu damaged slice%s left out", path, damaged,
			      damaged == 1 ? "" : "s");
	return EXIT_STATUS_DONE;
}

/* The file that a side begins with. */
static const char *title_of(const struct differing *diff, int side)
{
	const struct cli_options *options = diff->options;

	if (!diff->own->baseline)
		return options->files.items[side];
	return side == DIFF_BASE ? diff->own->baseline : options->files.items[0];
}

static int read_side(struct differing *diff, enum diff_side side)
{
	const struct diff_files *more = &diff->own->more[side];
	const char *path = title_of(diff, side);
	int status = read_file(diff, side, path);

	for (size_t i = 0; i < more->count && status == EXIT_STATUS_DONE; i++)
		status = read_file(diff, side, more->items[i]);
	if (status != EXIT_STATUS_DONE)
		return status;
	if (!diff->sides[side].slices.count) {
		console_error(diff->console, "nothing to compare: no whole slice in %s", path);
		return EXIT_STATUS_FAILED;
	}
	measurement_finish(&diff->sides[side]);
	return EXIT_STATUS_DONE;
}

/* Of a command as much as it took; of what goes on, by time. */
static struct diff_work work_of(const struct differing *diff)
{
	struct diff_work work = diff->own->work;

	if (!diff->own->has_work)
		work.per = diff->sides[DIFF_BASE].is_command && diff->sides[DIFF_NEW].is_command
				   ? DIFF_PER_RUN
				   : DIFF_PER_SECOND;
	return work;
}

static int compare(struct differing *diff)
{
	struct diff_work work = work_of(diff);
	struct error error;

	if (comparison_init(&diff->comparison, &diff->sides[DIFF_BASE], &diff->sides[DIFF_NEW],
			    &work, &error) < 0)
		return fail(diff, &error, EXIT_STATUS_FAILED);
	return EXIT_STATUS_DONE;
}

/* ---- conditions ---- */

static void tell_absent(const struct differing *diff, const struct diff_condition *condition,
			const struct diff_condition_result *result)
{
	struct near_match near = {0};

	array_foreach(&diff->comparison.rows, row) {
		if (row->key.kind == condition->kind && row->key.level == condition->level)
			near_match_offer(&near, condition->name,
					 diff_row_name(&diff->comparison, row));
	}
	console_error(diff->console, "--fail-if %s%s%s%s", result->sentence,
		      near.word ? "; did you mean " : "", near.word ? near.word : "",
		      near.word ? "?" : "");
}

static int check_condition(struct differing *diff, size_t index)
{
	struct diff_condition_result *result = &diff->conditions[index];
	const char *text = diff->own->conditions[index];
	struct diff_condition condition;

	if (diff_condition_parse(text, &condition, NULL) < 0)
		return EXIT_STATUS_USAGE; /* was checked when it was read */
	diff_condition_check(&condition, text, &diff->comparison, result);
	switch (result->outcome) {
	case DIFF_CONDITION_PASSED:
		return EXIT_STATUS_DONE;
	case DIFF_CONDITION_HELD:
		console_error(diff->console, "--fail-if %s", result->sentence);
		return EXIT_STATUS_CONDITION;
	case DIFF_CONDITION_ABSENT:
		tell_absent(diff, &condition, result);
		break;
	case DIFF_CONDITION_NO_KIND:
	case DIFF_CONDITION_UNJUDGED:
		console_error(diff->console, "--fail-if %s", result->sentence);
		break;
	}
	return EXIT_STATUS_FAILED;
}

/* A condition that holds comes before one that cannot be checked. */
static int check_conditions(struct differing *diff)
{
	int status = EXIT_STATUS_DONE;

	for (size_t i = 0; i < diff->own->condition_count; i++) {
		int one = check_condition(diff, i);

		if (one == EXIT_STATUS_CONDITION || status == EXIT_STATUS_DONE)
			status = one;
	}
	return status;
}

/* ---- writing ---- */

struct writing {
	struct diff_document document;
	const struct diff_format_ops *format;
};

static int write_document(const void *context, FILE *out)
{
	const struct writing *writing = context;

	return writing->format->write(&writing->document, out);
}

static int write_file(const struct differing *diff, const struct diff_format_ops *format,
		      const char *path, uint32_t kind, const struct invoking_user *user)
{
	const struct cli_options *options = diff->options;
	bool to_stdout = strcmp(path, "-") == 0;
	const struct writing writing = {
		.format = format,
		.document =
			{
				.comparison = &diff->comparison,
				.titles = {title_of(diff, DIFF_BASE), title_of(diff, DIFF_NEW)},
				.conditions = diff->conditions,
				.condition_count = diff->own->condition_count,
				.width = options->width || !to_stdout
						 ? options->width
						 : console_width(STDOUT_FILENO),
				.full = options->full,
				.icicle = options->icicle,
				.kind = kind,
				.color = to_stdout ? console_wants_color(options->color,
									 STDOUT_FILENO)
						   : options->color == COLOR_ALWAYS,
			},
	};
	struct error error;

	if (whole_output_write(path, user, write_document, &writing, &error) < 0)
		return fail(diff, &error, EXIT_STATUS_FAILED);
	return EXIT_STATUS_DONE;
}

/* "app.svg" of several kinds becomes "app.cpu.svg", as those of a profile. */
static char *path_of_kind(const struct whole_output *output, uint32_t kind)
{
	const char *path = output->path, *suffix = output->format->suffix;
	size_t length = strlen(path), end = strlen(suffix);
	size_t stem =
		length > end && strcmp(path + length - end, suffix) == 0 ? length - end : length;
	char *of_kind;

	if (asprintf(&of_kind, "%.*s.%s%s", (int)stem, path,
		     kind_ops_of((enum pkbpf_profile_kind)kind)->name, path + stem) < 0)
		return NULL;
	return of_kind;
}

/* A format of one kind gets a file for each; stdout the first. */
static int write_output(const struct differing *diff, const struct whole_output *output,
			const struct invoking_user *user)
{
	const struct diff_format_ops *format = diff_format_of(output->format);
	uint32_t kinds = diff->comparison.kinds_mask;
	uint32_t first = (uint32_t)__builtin_ctz(kinds);
	int status = EXIT_STATUS_DONE;

	if (!format->one_kind || !(kinds & (kinds - 1)) || strcmp(output->path, "-") == 0)
		return write_file(diff, format, output->path, first, user);
	for (uint32_t kind = 0; kind < PKBPF_PROFILE_KINDS && status == EXIT_STATUS_DONE; kind++) {
		char *path;

		if (!(kinds & 1U << kind))
			continue;
		path = path_of_kind(output, kind);
		if (path)
			status = write_file(diff, format, path, kind, user);
		else
			status = EXIT_STATUS_FAILED;
		free(path);
	}
	return status;
}

static int write_outputs(const struct differing *diff)
{
	struct invoking_user user = {0};
	struct error error;
	int status = EXIT_STATUS_DONE;

	if (invoking_user_find(&user, &error) < 0)
		return fail(diff, &error, EXIT_STATUS_FAILED);
	for (size_t i = 0; i < diff->own->outputs.count; i++)
		if (write_output(diff, &diff->own->outputs.items[i], &user) != EXIT_STATUS_DONE)
			status = EXIT_STATUS_FAILED;
	invoking_user_done(&user);
	return status;
}

/* ---- baselines ---- */

static int write_measurement(const void *context, FILE *out)
{
	return baseline_write(context, out);
}

static int write_baseline(const struct differing *diff, const char *path)
{
	struct invoking_user user = {0};
	struct error error;
	int err = invoking_user_find(&user, &error);

	if (err == 0)
		err = whole_output_write(path, &user, write_measurement, &diff->sides[DIFF_BASE],
					 &error);
	invoking_user_done(&user);
	return err < 0 ? fail(diff, &error, EXIT_STATUS_FAILED) : EXIT_STATUS_DONE;
}

/* Adds runs to those that the file has. */
static int save_baseline(struct differing *diff)
{
	const struct measurement *side = &diff->sides[DIFF_BASE];
	const char *path = diff->own->save_baseline;
	int status = EXIT_STATUS_DONE;

	measurement_init(&diff->sides[DIFF_BASE], &diff->names);
	if (access(path, F_OK) == 0)
		status = read_file(diff, DIFF_BASE, path);
	array_foreach(&diff->options->files, file)
		if (status == EXIT_STATUS_DONE)
			status = read_file(diff, DIFF_BASE, *file);
	if (status != EXIT_STATUS_DONE)
		return status;
	if (side->run_count > BASELINE_RUNS_MAX) {
		console_error(diff->console, "cannot add to %s: it would have more than %d runs",
			      path, BASELINE_RUNS_MAX);
		return EXIT_STATUS_FAILED;
	}
	status = write_baseline(diff, path);
	if (status == EXIT_STATUS_DONE)
		console_note(diff->console, "%s holds %u run%s", path, side->run_count,
			     side->run_count == 1 ? "" : "s");
	return status;
}

static int run(struct differing *diff)
{
	int status = EXIT_STATUS_DONE, written;

	if (!diff_names_init(&diff->names)) {
		console_error(diff->console, "cannot compare: out of memory");
		return EXIT_STATUS_FAILED;
	}
	if (diff->own->save_baseline)
		return save_baseline(diff);
	for (int side = 0; side < DIFF_SIDES && status == EXIT_STATUS_DONE; side++) {
		measurement_init(&diff->sides[side], &diff->names);
		status = read_side(diff, (enum diff_side)side);
	}
	if (status == EXIT_STATUS_DONE)
		status = compare(diff);
	if (status != EXIT_STATUS_DONE)
		return status;
	status = check_conditions(diff);
	written = write_outputs(diff);
	return written == EXIT_STATUS_DONE ? status : written;
}

static int diff_run(const struct cli_options *options, struct console *console)
{
	struct differing *diff = calloc(1, sizeof(*diff));
	int status;

	if (!diff) {
		console_error(console, "cannot compare: out of memory");
		return EXIT_STATUS_FAILED;
	}
	diff->options = options;
	diff->own = options->own;
	diff->console = console;
	status = run(diff);
	comparison_done(&diff->comparison);
	for (int side = 0; side < DIFF_SIDES; side++)
		measurement_done(&diff->sides[side]);
	diff_names_done(&diff->names);
	free(diff);
	return status;
}

/* ---- options ---- */

static int check_outputs(struct diff_options *own, struct error *error)
{
	int err = whole_outputs_finish(&own->outputs, diff_format_at, error);

	for (size_t i = 0; i < own->outputs.count && err == 0; i++)
		if (diff_format_of(own->outputs.items[i].format)->needs_conditions &&
		    !own->condition_count)
			err = error_set(error, EINVAL,
					"%s requires --fail-if: it has a test case for each",
					own->outputs.items[i].format->name);
	return err;
}

static int diff_check(struct cli_options *options, struct error *error)
{
	const struct diff_options *own = options->own;

	if (own->save_baseline && (own->baseline || own->outputs.count || own->condition_count ||
				   own->more[DIFF_BASE].count || own->more[DIFF_NEW].count))
		return error_set(error, EINVAL,
				 "--save-baseline takes recordings alone, and compares nothing");
	if (own->save_baseline && !options->files.count)
		return error_set(error, EINVAL,
				 "--save-baseline requires a recording: pkbpf diff --save-baseline "
				 "FILE RUN.pkbpf");
	if (own->save_baseline)
		return 0;
	if (own->baseline && options->files.count != 1)
		return error_set(error, EINVAL,
				 "--baseline requires one profile to compare with it: pkbpf diff "
				 "--baseline FILE NEW.pkbpf");
	if (!own->baseline && options->files.count != DIFF_SIDES)
		return error_set(error, EINVAL,
				 "diff requires two profiles: pkbpf diff BASE.pkbpf NEW.pkbpf; "
				 "further runs of a side are added by --base FILE and --new FILE");
	return check_outputs(options->own, error);
}

static int parse_format(void *context, const char *value, struct error *error)
{
	return whole_outputs_set_format(&((struct diff_options *)context)->outputs, diff_format_at,
					value, error);
}

static int parse_output(void *context, const char *value, struct error *error)
{
	return whole_outputs_add(&((struct diff_options *)context)->outputs, diff_format_at, value,
				 error);
}

static int parse_fail_if(void *context, const char *value, struct error *error)
{
	struct diff_options *own = context;
	struct diff_condition condition;
	int err = diff_condition_parse(value, &condition, error);

	if (err < 0)
		return err;
	if (own->condition_count == DIFF_CONDITIONS_MAX)
		return error_set(error, EINVAL, "more than %d times --fail-if",
				 DIFF_CONDITIONS_MAX);
	own->conditions[own->condition_count++] = value;
	return 0;
}

static int add_file(struct diff_files *files, const char *value, struct error *error)
{
	if (files->count == DIFF_FILES_MAX)
		return error_set(error, EINVAL, "more than %d files on a side", DIFF_FILES_MAX);
	files->items[files->count++] = value;
	return 0;
}

static int parse_base(void *context, const char *value, struct error *error)
{
	return add_file(&((struct diff_options *)context)->more[DIFF_BASE], value, error);
}

static int parse_new(void *context, const char *value, struct error *error)
{
	return add_file(&((struct diff_options *)context)->more[DIFF_NEW], value, error);
}

/* "second", "run" or "requests=12000:14000" */
static int parse_per(void *context, const char *value, struct error *error)
{
	struct diff_options *own = context;
	struct diff_work work = {0};
	char extra;

	own->has_work = true;
	if (strcmp(value, "second") == 0 || strcmp(value, "run") == 0) {
		own->work.per = value[0] == 's' ? DIFF_PER_SECOND : DIFF_PER_RUN;
		return 0;
	}
	work.per = DIFF_PER_WORK;
	if (sscanf(value, "%63[^=:]=%lf:%lf%c", work.name, &work.base, &work.new, &extra) != 3 ||
	    !(work.base > 0 && work.base < 1e18) || !(work.new > 0 && work.new < 1e18))
		return error_set(error, EINVAL,
				 "invalid value '%s' for --per: expected second, run, or the work "
				 "of both sides, such as 'requests=12000:14000'",
				 value);
	own->work = work;
	return 0;
}

#define OUTPUT_GROUP .group = OPTION_GROUP_OUTPUT
#define DIFF(member) OPTION_AT(struct diff_options, member)

static const struct option_row own_options[] = {
	{0, "container", "NAME|ID", "processes of this container, by name or beginning of its id",
	 .group = OPTION_GROUP_TARGETS, .form = OPTION_TEXT, DIFF(container)},
	{0, "base", "FILE", "a further run of the base side; repeatable",
	 .group = OPTION_GROUP_TARGETS, .repeatable = true, .completes = OPTION_COMPLETES_FILE,
	 .form = OPTION_PARSED, .parse = parse_base,
	 .text = "With several runs on a side, the scatter between runs counts, too. Files that "
		 "follow each other without a gap, as those of --every, are one run."},
	{0, "new", "FILE", "a further run of the new side; repeatable",
	 .group = OPTION_GROUP_TARGETS, .repeatable = true, .completes = OPTION_COMPLETES_FILE,
	 .form = OPTION_PARSED, .parse = parse_new},
	{0, "baseline", "FILE", "base side: the runs of a file that --save-baseline wrote",
	 .group = OPTION_GROUP_TARGETS, .completes = OPTION_COMPLETES_FILE, .form = OPTION_TEXT,
	 DIFF(baseline)},
	{0, "save-baseline", "FILE",
	 "add recordings as runs to a baseline, made if there is none; nothing is compared",
	 .group = OPTION_GROUP_TARGETS, .completes = OPTION_COMPLETES_FILE, .form = OPTION_TEXT,
	 DIFF(save_baseline), .text = "A baseline holds at most 64 runs."},
	{0, "per", "second|run|NAME=BASE:NEW",
	 "unit of work that values are per; default: a run of recorded commands, else a second",
	 OUTPUT_GROUP, .form = OPTION_PARSED, .parse = parse_per,
	 .text = "'requests=12000:14000' divides the base side by 12,000 and the new side by "
		 "14,000 requests."},
	{'o', "output", "FILE",
	 "output file, - for stdout; the suffix selects the format; repeatable", OUTPUT_GROUP,
	 .repeatable = true, .completes = OPTION_COMPLETES_FILE, .form = OPTION_PARSED,
	 .parse = parse_output},
	{'f', "format", "NAME",
	 "format of the next --output, or of the one before it at the end; of stdout without any",
	 OUTPUT_GROUP, .repeatable = true, .form = OPTION_PARSED, .parse = parse_format},
	{0, "fail-if", "EXPR",
	 "exit with status 3 if a significant change goes beyond it: "
	 "'cpu.function[parse].self>+10%', 'offcpu.process[nginx]>+20%', "
	 "'region[step].p99>+10%', 'cpu.total<-5%'; repeatable",
	 OUTPUT_GROUP, .repeatable = true, .form = OPTION_PARSED, .parse = parse_fail_if,
	 .text = "A name that matches nothing is an error, unless a ? precedes the expression. "
		 "The name * is any. Figures of regions and counted functions: total (wall time), "
		 "count, mean, p50 and p99. Waits for locks: 'locks.lock[cache_lock]>+10%'. Of GPU "
		 "calls: gpu.kernel[NAME].launches, .blocks and .time (on the device), "
		 "gpu.copied[DIRECTION], gpu.allocated[PLACE], gpu.kept[PLACE] (not freed) and "
		 "gpu.wait[FUNCTION]."},
	{0},
};

const struct command_row command_diff = {
	.name = "diff",
	.synopsis = "diff BASE NEW [OPTIONS]",
	.summary = "Compares two recordings or pprof files: what grew or shrank by more than noise",
	.options = (const char *const[]){"pid", "comm", "events", "full", "width", "icicle",
					 "quiet", "verbose", "color", NULL},
	.words =
		(const struct command_words[]){
			{"events", "kinds of events, separated by commas: cpu, offcpu, blockio, "
				   "faults, network, memory, alloc; default: all of both sides"},
			{NULL, NULL},
		},
	.own_options = own_options,
	.own_size = sizeof(struct diff_options),
	.takes_files = true,
	.check = diff_check,
	.run = diff_run,
};
