// SPDX-License-Identifier: BSD-2-Clause
/* The default command: profiles now, until the end of the duration, of the targets, or Ctrl-C. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/kernel/capability.h"
#include "capture/kernel/privileges.h"
#include "cli/command_table.h"
#include "cli/conditions.h"
#include "cli/exit_status.h"
#include "cli/option_check.h"
#include "cli/profile_summary.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"
#include "live/invoking_user.h"
#include "live/command_launch.h"
#include "live/live_run.h"
#include "profile/shrink/slice_limit.h"
#include "profile/slice/slice.h"
#include "symbol/source_text.h"

#define DEFAULT_SLICE_NS NS_PER_SECOND

struct profiling {
	const struct cli_options *options;
	struct console *console;
	struct log log;
	struct live_options live; /* those asked for, completed */
	const struct source_ops *sources[PKBPF_PROFILE_KINDS];
	size_t source_count;
	struct invoking_user user;
	sigset_t mask_before;
	struct output_plan *plan;
	struct stop_signals *signals;
	struct live_run *run;
	enum run_end end;
	struct progress progress;
	/* the running interval: its slices merged (or their sums, when no output wants more); NULL:
	 * none yet */
	struct profile *interval;
	struct slice_limit limit; /* of the interval */
	bool interval_is_open;
	int status;    /* the worst of all intervals */
	bool recorded; /* something, in an interval before the last one */
};

static int fail(struct profiling *profiling, const struct error *error, int status)
{
	progress_clear(&(struct progress){.console = profiling->console});
	console_error(profiling->console, "%s", error->text);
	return status;
}

/* What a failure of the capture means to a script. */
static int status_of_capture(int err)
{
	switch (-err) {
	case EPERM:
	case EACCES:
	case ENOTSUP:
		return EXIT_STATUS_NOT_ALLOWED;
	case ESRCH: /* existed when it was checked */
		return EXIT_STATUS_EMPTY;
	default:
		return EXIT_STATUS_FAILED;
	}
}

/* ---- before anything is loaded ---- */

static bool has_source(const struct profiling *profiling, const struct source_ops *source)
{
	for (size_t i = 0; i < profiling->source_count; i++)
		if (profiling->sources[i] == source)
			return true;
	return false;
}

/* Live memory is what the records of allocations leave. */
static void add_alloc(struct profiling *profiling)
{
	const struct source_ops *kinds[] = {source_by_name("alloc"), source_by_name("live")};
	bool wanted = profiling->options->live.sources.alloc.wanted ||
		      has_source(profiling, kinds[0]) || has_source(profiling, kinds[1]);

	for (size_t i = 0; wanted && i < ARRAY_SIZE(kinds); i++)
		if (!has_source(profiling, kinds[i]))
			profiling->sources[profiling->source_count++] = kinds[i];
}

/* Without --events: all kinds but those by request, or the first when all that was asked for is a
 * flame graph: what nobody will see need not be captured, and the file gets exactly the name it was
 * given. */
static void choose_sources(struct profiling *profiling)
{
	const struct cli_options *options = profiling->options;
	bool one_kind =
		output_requests_hold_one_kind(options->outputs.items, options->outputs.count);

	memcpy(profiling->sources, options->sources, sizeof(profiling->sources));
	profiling->source_count = options->source_count;
	/* A flame graph of allocations needs no CPU samples. */
	if (!options->source_count && !(one_kind && options->live.sources.alloc.wanted)) {
		for (size_t i = 0; source_at(i) && (i == 0 || !one_kind); i++)
			if (!source_at(i)->by_request)
				profiling->sources[profiling->source_count++] = source_at(i);
	}
	add_alloc(profiling);
	if (options->live.sources.regions.callers &&
	    !has_source(profiling, source_by_name("calls")))
		profiling->sources[profiling->source_count++] = source_by_name("calls");
	profiling->live.kinds_mask = 0;
	for (size_t i = 0; i < profiling->source_count; i++)
		profiling->live.kinds_mask |= source_kinds(profiling->sources[i]);
}

static bool shows_times(const struct profiling *profiling)
{
	const struct cli_options *options = profiling->options;

	return output_requests_show_times(options->outputs.items, options->outputs.count);
}

static void abandon_outputs(void *context)
{
	output_plan_abandon(context);
}

static int listen_for_stop(struct profiling *profiling, struct error *error)
{
	profiling->signals = stop_signals_new(abandon_outputs, profiling->plan, error);
	if (!profiling->signals)
		return -ENOMEM;
	if (output_plan_is_for_stdout(profiling->plan) &&
	    live_run_set_output(profiling->run, STDOUT_FILENO, error) < 0)
		return -ENOMEM;
	return live_run_set_stop(profiling->run, stop_signals_fd(profiling->signals), error);
}

/* What is cheap and likely to be wrong comes first. Signals wait from before the first temporary
 * file until there is a thread that would remove it; the command is forked before that thread
 * exists. */
static int prepare(struct profiling *profiling)
{
	const struct cli_options *options = profiling->options;
	struct error error;

	if (options_check_events(options, profiling->live.kinds_mask, &error) < 0 ||
	    conditions_check_events(options, profiling->live.kinds_mask, &error) < 0 ||
	    output_plan_new(options->outputs.items, options->outputs.count, profiling->sources,
			    profiling->source_count, &profiling->plan, &error) < 0)
		return fail(profiling, &error, EXIT_STATUS_USAGE);
	if (!capability_get(CAPABILITY_PRIVILEGED)->probe(&error))
		return fail(profiling, &error, EXIT_STATUS_NOT_ALLOWED);
	if (output_plan_cut_format(profiling->plan))
		console_note(profiling->console,
			     "stdout has only %s: %s holds one kind of events; write all to files "
			     "with -o FILE",
			     profiling->sources[0]->name, output_plan_cut_format(profiling->plan));
	if (options->live.sources.gpu_calls.wanted && !output_plan_shows_gpu_calls(profiling->plan))
		console_note(
			profiling->console,
			"no output shows GPU calls, whose probes cost time all the same: add -o "
			"FILE.json, .html, .md or .gpu-calls.csv, or leave out --gpu-calls");
	if ((output_plan_takes_slices(profiling->plan) || shows_times(profiling)) &&
	    !options->live.debuginfod)
		profiling->live.slice_ns =
			options->live.slice_ns ? options->live.slice_ns : DEFAULT_SLICE_NS;
	/* Conditions are on figures of the report. */
	profiling->live.want_resources =
		output_plan_shows_resources(profiling->plan) || options->conditions.count;
	if (invoking_user_find(&profiling->user, &error) < 0 ||
	    live_run_new(&profiling->live, &profiling->run, &error) < 0)
		return fail(profiling, &error, EXIT_STATUS_FAILED);
	output_plan_set_owner(profiling->plan, &profiling->user);
	stop_signals_block(&profiling->mask_before);
	if (output_plan_open(profiling->plan, &error) < 0)
		return fail(profiling, &error, EXIT_STATUS_FAILED);
	if (options->live.targets.command &&
	    live_run_launch(profiling->run, &profiling->mask_before, &error) < 0)
		return fail(profiling, &error, EXIT_STATUS_NOT_STARTED);
	live_run_keep_apart(profiling->run);
	if (privileges_reduce(options->live.debuginfod, &profiling->log, &error) < 0 ||
	    listen_for_stop(profiling, &error) < 0)
		return fail(profiling, &error, EXIT_STATUS_FAILED);
	return EXIT_STATUS_DONE;
}

/* ---- the run ---- */

static uint64_t show_progress(void *context, struct live_run *run, uint64_t now_ns)
{
	struct progress *progress = &((struct profiling *)context)->progress;
	uint64_t counters[PKBPF_COUNTER_COUNT];

	if (progress_is_due(progress, now_ns)) {
		live_run_counters(run, counters);
		progress_show(progress, now_ns, counters);
	}
	return progress->shown ? progress->next_ns : UINT64_MAX;
}

/* last: the slice that ends the run; NULL: an interval of it ends. */
static int write_outputs(struct profiling *profiling, struct results *results,
			 const struct profile *last, struct profile *interval)
{
	const struct cli_options *options = profiling->options;
	struct output_settings settings = cli_options_settings(options);
	struct error error;
	int err, other_err, slice_err = 0;

	err = output_plan_write(profiling->plan, OUTPUT_STACKS, results, &settings,
				&profiling->user, profiling->console);
	if (last) {
		live_run_note_cost(profiling->run);
		if (interval != last)
			slice_copy_cost(interval, last);
		slice_err = output_plan_add_slice(profiling->plan, last, &settings.options,
						  profiling->console);
	}
	other_err = output_plan_write(profiling->plan, OUTPUT_REPORTS, results, &settings,
				      &profiling->user, profiling->console);
	err = err < 0 ? err : other_err < 0 ? other_err : slice_err;
	if (output_plan_keep(profiling->plan, options->keep, &error) < 0) {
		console_error(profiling->console, "%s", error.text);
		return EXIT_STATUS_FAILED;
	}
	return err < 0 ? EXIT_STATUS_FAILED : EXIT_STATUS_DONE;
}

/* Of the run, or of an interval of it. */
static int write_interval(struct profiling *profiling, struct profile *interval,
			  const struct profile *last)
{
	struct results results;
	int status;

	results_init(&results, interval, profiling->options->by);
	results.sources = source_text_new("", profile_processes(interval), true);
	status = write_outputs(profiling, &results, last, interval);
	if (status == EXIT_STATUS_DONE)
		status = conditions_check(profiling->options, &results, profiling->console);
	results_done(&results);
	source_text_free(results.sources);
	return status;
}

static void note_status(struct profiling *profiling, int status)
{
	if (profiling->status == EXIT_STATUS_DONE)
		profiling->status = status;
}

static int open_interval(struct profiling *profiling, const struct profile *slice)
{
	struct error error;

	if (profiling->interval_is_open)
		return EXIT_STATUS_DONE;
	profiling->interval_is_open = true;
	if (output_plan_open_interval(profiling->plan, profile_info_read(slice)->start_unix_ns,
				      &error) < 0)
		return fail(profiling, &error, EXIT_STATUS_FAILED);
	return EXIT_STATUS_DONE;
}

static int out_of_memory(const struct profiling *profiling)
{
	console_error(profiling->console, "cannot merge slices: out of memory");
	return EXIT_STATUS_FAILED;
}

/* Recordings need no slices but the last in memory. Conditions are on figures of all of them. */
static int add_to_interval(struct profiling *profiling, const struct profile *slice)
{
	bool want_whole =
		output_plan_takes_whole(profiling->plan) || profiling->options->conditions.count;
	int err = -ENOMEM;

	if (!profiling->interval)
		profiling->interval = slice_new();
	if (profiling->interval && shows_times(profiling) && slice_keep_times(profiling->interval))
		return out_of_memory(profiling);
	if (profiling->interval)
		err = want_whole ? slice_merge(profiling->interval, slice)
				 : slice_add_sums(profiling->interval, slice);
	if (!err && !(want_whole && slice_limit_memory(&profiling->limit, profiling->interval)))
		return EXIT_STATUS_DONE;
	return out_of_memory(profiling);
}

static void end_interval(struct profiling *profiling, struct profile *interval)
{
	char text[512];

	/* Of one interval of many it is no failure that nothing ran in it. */
	if (!profile_summary_explain_nothing(interval, &profiling->live.targets, profiling->end,
					     text, sizeof(text)))
		profiling->recorded = true;
	note_status(profiling, write_interval(profiling, interval, NULL));
	profile_free(profiling->interval);
	profiling->interval = NULL;
	profiling->limit = (struct slice_limit){0};
	profiling->interval_is_open = false;
}

static bool write_slice(void *context, struct profile *slice, bool ends_interval)
{
	struct profiling *profiling = context;
	struct output_settings settings = cli_options_settings(profiling->options);

	if (ends_interval || !profiling->interval_is_open)
		progress_clear(&profiling->progress);
	note_status(profiling, open_interval(profiling, slice));
	if (output_plan_add_slice(profiling->plan, slice, &settings.options, profiling->console) <
	    0)
		note_status(profiling, EXIT_STATUS_FAILED);
	/* An interval of one slice is that slice. */
	if (!ends_interval || profiling->interval)
		note_status(profiling, add_to_interval(profiling, slice));
	if (ends_interval)
		end_interval(profiling, profiling->interval ? profiling->interval : slice);
	return !output_plan_has_failed(profiling->plan);
}

/* The last slice is added to recordings when it is known what it has cost. */
static int write_last(struct profiling *profiling, struct profile *slice, struct profile *interval)
{
	int status = open_interval(profiling, slice);

	if (status == EXIT_STATUS_DONE)
		status = write_interval(profiling, interval, slice);
	return status;
}

static void init_progress(struct profiling *profiling)
{
	const struct cli_options *options = profiling->options;

	progress_init(&profiling->progress, profiling->console,
		      !options->quiet && !options->no_progress, clock_now_ns(),
		      options->live.duration_ns);
}

static int run_until_end(struct profiling *profiling)
{
	const struct live_observer observer = {show_progress, write_slice, profiling};
	int err;

	init_progress(profiling);
	err = live_run_until_end(profiling->run, &observer, &profiling->end);
	progress_clear(&profiling->progress);
	return err;
}

/* The command learns of a signal that was meant for us alone; the terminal's it has got itself. */
static void pass_signal_on(struct profiling *profiling)
{
	bool is_private;

	if (stop_signals_received(profiling->signals, &is_private) && is_private)
		live_run_signal_command(profiling->run, SIGTERM);
}

static int profile_targets(struct profiling *profiling)
{
	const struct live_targets *targets = &profiling->live.targets;
	char text[512];
	const struct live_observer observer = {NULL, write_slice, profiling};
	struct profile *last, *profile;
	struct error error;
	uint64_t unknown;
	int err, stop_err, status;

	err = run_until_end(profiling);
	pass_signal_on(profiling);
	stop_err = live_run_stop(profiling->run);
	last = live_run_finish(profiling->run, &observer);
	if (profiling->interval)
		note_status(profiling, add_to_interval(profiling, last));
	profile = profiling->interval ? profiling->interval : last;
	status = write_last(profiling, last, profile);
	if (profiling->status != EXIT_STATUS_DONE)
		status = profiling->status;
	err = err < 0 ? err : stop_err;
	if (err < 0) {
		error_set(&error, -err,
			  "recording aborted: %s; the outputs hold the events up to then",
			  strerror(-err));
		return fail(profiling, &error, EXIT_STATUS_FAILED);
	}
	unknown = profile_info_read(profile)->counters[PKBPF_COUNTER_FUNCTIONS_UNKNOWN];
	if (unknown) {
		console_error(profiling->console,
			      "--function: %" PRIu64 " %s no function of any program", unknown,
			      unknown == 1 ? "name means" : "names mean");
		status = status == EXIT_STATUS_DONE ? EXIT_STATUS_FAILED : status;
	}
	if (profile_summary_explain_nothing(profile, targets, profiling->end, text, sizeof(text))) {
		/* A command's own status counts: that it was quick is no failure. */
		if (live_run_has_command(profiling->run) || profiling->recorded)
			console_note(profiling->console, "%s", text);
		else
			console_error(profiling->console, "%s", text);
		return status == EXIT_STATUS_DONE && !profiling->recorded ? EXIT_STATUS_EMPTY
									  : status;
	}
	if (!output_plan_reports_to_stdout(profiling->plan)) {
		profile_summary_write(profile, text, sizeof(text));
		console_note(profiling->console, "%s", text);
	}
	return status;
}

/* After a duration or a stop the command may still run; its status is ours to return. */
static int wait_for_command(struct profiling *profiling)
{
	if (profiling->end == RUN_TIME_IS_UP) {
		if (live_run_command_runs(profiling->run))
			console_note(profiling->console,
				     "the time is up and the outputs are written; %s goes on to "
				     "its end, Ctrl-C ends it",
				     profiling->live.targets.command[0]);
		live_run_wait_for_command(profiling->run);
		pass_signal_on(profiling);
	}
	return live_run_command_status(profiling->run);
}

/* No command has started yet: there is nothing to end. */
static bool is_interrupted(struct profiling *profiling)
{
	bool is_private;

	if (!stop_signals_received(profiling->signals, &is_private))
		return false;
	console_error(profiling->console,
		      "interrupted before the recording began: nothing is recorded");
	return true;
}

static int run(struct profiling *profiling)
{
	struct error error;
	int err, status, command_status;

	init_progress(profiling);
	progress_show_start(&profiling->progress);
	err = live_run_start(profiling->run, &error);
	progress_clear(&profiling->progress);
	if (is_interrupted(profiling))
		return EXIT_STATUS_FAILED;
	if (err < 0)
		return fail(profiling, &error, status_of_capture(err));
	if (live_run_has_command(profiling->run)) {
		err = live_run_release(profiling->run, &error);
		if (err < 0)
			return fail(profiling, &error, command_failure_status(err));
	}
	status = profile_targets(profiling);
	if (!live_run_has_command(profiling->run))
		return status;
	command_status = wait_for_command(profiling);
	if (command_status != 0 || status == EXIT_STATUS_EMPTY)
		return command_status;
	return status;
}

static int profile_run(const struct cli_options *options, struct console *console)
{
	struct profiling profiling = {
		.options = options,
		.console = console,
		.log = console_log(console),
		.live = options->live,
	};
	int status;

	profiling.live.user = &profiling.user;
	profiling.live.log = &profiling.log;
	profiling.live.lines = cli_options_need_lines(options);
	choose_sources(&profiling);
	status = prepare(&profiling);
	if (status == EXIT_STATUS_DONE)
		status = run(&profiling);
	profile_free(profiling.interval);
	live_run_free(profiling.run);
	stop_signals_free(profiling.signals);
	output_plan_free(profiling.plan);
	invoking_user_done(&profiling.user);
	return status;
}

const struct command_row command_profile = {
	.synopsis = "[OPTIONS] [-- COMMAND [ARG...]]",
	.summary = "Profiles live processes, the whole host, or COMMAND",
	.takes_command = true,
	.check = options_check_profile,
	.run = profile_run,
};
