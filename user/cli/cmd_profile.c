// SPDX-License-Identifier: BSD-2-Clause
/* The default command: profiles now, until the end of the duration, of the targets, or Ctrl-C. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/unused.h"
#include "capture/kernel/capability.h"
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

/* Without --events: all kinds there are, or the first when all that was asked for is a flame graph:
 * what nobody will see need not be captured, and the file gets exactly the name it was given. */
static void choose_sources(struct profiling *profiling)
{
	const struct cli_options *options = profiling->options;
	bool one_kind =
		output_requests_hold_one_kind(options->outputs.items, options->outputs.count);

	memcpy(profiling->sources, options->sources, sizeof(profiling->sources));
	profiling->source_count = options->source_count;
	if (!options->source_count) {
		for (size_t i = 0; source_at(i) && (i == 0 || !one_kind); i++)
			profiling->sources[profiling->source_count++] = source_at(i);
	}
	profiling->live.kinds_mask = 0;
	for (size_t i = 0; i < profiling->source_count; i++)
		profiling->live.kinds_mask |= 1U << profiling->sources[i]->kind;
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
	/* Conditions are on figures of the report. */
	profiling->live.want_resources =
		output_plan_shows_resources(profiling->plan) || options->conditions.count;
	if (invoking_user_find(&profiling->user, &error) < 0 ||
	    live_run_new(&profiling->live, &profiling->run, &error) < 0)
		return fail(profiling, &error, EXIT_STATUS_FAILED);
	stop_signals_block(&profiling->mask_before);
	if (output_plan_open(profiling->plan, &error) < 0)
		return fail(profiling, &error, EXIT_STATUS_FAILED);
	if (options->live.targets.command &&
	    live_run_launch(profiling->run, &profiling->mask_before, &error) < 0)
		return fail(profiling, &error, EXIT_STATUS_NOT_STARTED);
	if (listen_for_stop(profiling, &error) < 0)
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

static int write_outputs(struct profiling *profiling, struct results *results, bool is_last)
{
	const struct cli_options *options = profiling->options;
	struct output_settings settings = cli_options_settings(options);
	struct error error;
	int err, other_err;

	err = output_plan_write(profiling->plan, OUTPUT_STACKS, results, &settings,
				&profiling->user, profiling->console);
	if (is_last)
		live_run_note_cost(profiling->run);
	other_err = output_plan_write(profiling->plan, OUTPUT_REPORTS, results, &settings,
				      &profiling->user, profiling->console);
	err = err < 0 ? err : other_err;
	if (output_plan_keep(profiling->plan, options->keep, &error) < 0) {
		console_error(profiling->console, "%s", error.text);
		return EXIT_STATUS_FAILED;
	}
	return err < 0 ? EXIT_STATUS_FAILED : EXIT_STATUS_DONE;
}

/* Of the run, or of an interval of it. */
static int write_profile(struct profiling *profiling, const struct profile *profile, bool is_last)
{
	struct results results;
	struct error error;
	int status;

	if (output_plan_open_interval(profiling->plan, profile_info_read(profile)->start_unix_ns,
				      &error) < 0)
		return fail(profiling, &error, EXIT_STATUS_FAILED);
	results_init(&results, profile, profiling->options->by);
	status = write_outputs(profiling, &results, is_last);
	if (status == EXIT_STATUS_DONE)
		status = conditions_check(profiling->options, &results, profiling->console);
	results_done(&results);
	return status;
}

static void write_slice(void *context, _unused_ struct live_run *run, struct profile *slice)
{
	struct profiling *profiling = context;
	char text[512];
	int status;

	progress_clear(&profiling->progress);
	/* Of one interval of many it is no failure that nothing ran in it. */
	if (!profile_summary_explain_nothing(slice, &profiling->live.targets, profiling->end, text,
					     sizeof(text)))
		profiling->recorded = true;
	status = write_profile(profiling, slice, false);
	if (profiling->status == EXIT_STATUS_DONE)
		profiling->status = status;
}

static int run_until_end(struct profiling *profiling)
{
	const struct cli_options *options = profiling->options;
	const struct live_observer observer = {show_progress, write_slice, profiling};
	int err;

	progress_init(&profiling->progress, profiling->console,
		      !options->quiet && !options->no_progress, clock_now_ns(),
		      options->live.duration_ns);
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
	const struct profile *profile;
	struct error error;
	int err, stop_err, status;

	err = run_until_end(profiling);
	pass_signal_on(profiling);
	stop_err = live_run_stop(profiling->run);
	profile = live_run_finish(profiling->run, &observer);
	status = write_profile(profiling, profile, true);
	if (profiling->status != EXIT_STATUS_DONE)
		status = profiling->status;
	err = err < 0 ? err : stop_err;
	if (err < 0) {
		error_set(&error, -err,
			  "recording aborted: %s; the outputs hold the events up to then",
			  strerror(-err));
		return fail(profiling, &error, EXIT_STATUS_FAILED);
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
			console_note(profiling->console, "waiting for %s to exit",
				     profiling->live.targets.command[0]);
		live_run_wait_for_command(profiling->run);
		pass_signal_on(profiling);
	}
	return live_run_command_status(profiling->run);
}

static int run(struct profiling *profiling)
{
	struct error error;
	int err, status, command_status;

	err = live_run_start(profiling->run, &error);
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
	choose_sources(&profiling);
	status = prepare(&profiling);
	if (status == EXIT_STATUS_DONE)
		status = run(&profiling);
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
