// SPDX-License-Identifier: BSD-2-Clause
/* The default command: profiles now, until the end of the duration, of the targets, or Ctrl-C. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "capture/kernel/capability.h"
#include "cli/command_launch.h"
#include "cli/command_table.h"
#include "cli/exit_status.h"
#include "cli/invoking_user.h"
#include "cli/conditions.h"
#include "cli/live_profile.h"
#include "cli/option_check.h"
#include "cli/progress.h"
#include "cli/record_summary.h"
#include "cli/run_watch.h"
#include "cli/stop_signals.h"
#include "cli/target_check.h"

/* How often the rings are looked at when nothing calls for it earlier, as one that is half full
 * does. Waking costs more than the few CPU samples that lie there (see
 * capture/session/drain_pace.h), and processes are heard of soon enough; other sources poll maps
 * that must not fill up. */
#define CPU_LOOK_INTERVAL_MS 1000
#define LOOK_INTERVAL_MS     100

struct record {
	const struct cli_options *options;
	struct console *console;
	struct log log;
	const struct source_ops *sources[PKBPF_PROFILE_KINDS];
	size_t source_count;
	struct invoking_user user;
	sigset_t mask_before;
	struct output_plan *plan;
	struct stop_signals *signals;
	struct command *command;
	struct run_watch *watch;
	char *cgroup_path;
	uint32_t command_pid;
	struct live_profile *live;
	enum run_end end;
};

static int fail(struct record *record, const struct error *error, int status)
{
	progress_clear(&(struct progress){.console = record->console});
	console_error(record->console, "%s", error->text);
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
static void choose_sources(struct record *record)
{
	const struct cli_options *options = record->options;
	bool one_kind =
		output_requests_hold_one_kind(options->outputs.items, options->outputs.count);

	memcpy(record->sources, options->sources, sizeof(record->sources));
	record->source_count = options->source_count;
	if (options->source_count)
		return;
	for (size_t i = 0; source_at(i) && (i == 0 || !one_kind); i++)
		record->sources[record->source_count++] = source_at(i);
}

static uint32_t kinds_mask(const struct record *record)
{
	uint32_t mask = 0;

	for (size_t i = 0; i < record->source_count; i++)
		mask |= 1U << record->sources[i]->kind;
	return mask;
}

static int watch_process(struct record *record, uint32_t pid, struct error *error)
{
	int pidfd;
	int err = target_check_process(pid, &pidfd, error);

	return err < 0 ? err : run_watch_add_process(record->watch, pid, pidfd, error);
}

static int watch_targets(struct record *record, struct error *error)
{
	const struct cli_options *options = record->options;
	int err = 0;

	record->watch = run_watch_new(error);
	if (!record->watch)
		return -ENOMEM;
	for (size_t i = 0; i < options->pids.count && err == 0; i++)
		err = watch_process(record, options->pids.items[i], error);
	for (size_t i = 0; i < options->tids.count && err == 0; i++) {
		err = target_check_thread(options->tids.items[i], error);
		if (err == 0)
			err = run_watch_add_thread(record->watch, options->tids.items[i], error);
	}
	if (err == 0 && options->cgroup_path)
		err = target_check_cgroup(options->cgroup_path, &record->cgroup_path, error);
	if (err == 0)
		run_watch_set_cgroup(record->watch, record->cgroup_path);
	return err;
}

static int launch(struct record *record, struct error *error)
{
	record->command = command_launch(record->options->command, &record->user,
					 &record->mask_before, error);
	if (!record->command)
		return -ECHILD;
	record->command_pid = (uint32_t)command_pid(record->command);
	return watch_process(record, record->command_pid, error);
}

static void abandon_outputs(void *context)
{
	output_plan_abandon(context);
}

static int listen_for_stop(struct record *record, struct error *error)
{
	record->signals = stop_signals_new(abandon_outputs, record->plan, error);
	if (!record->signals)
		return -ENOMEM;
	return run_watch_set_stop(record->watch, stop_signals_fd(record->signals), error);
}

/* What is cheap and likely to be wrong comes first. Signals wait from before the first temporary
 * file until there is a thread that would remove it; the command is forked before that thread
 * exists. */
static int prepare(struct record *record)
{
	const struct cli_options *options = record->options;
	struct error error;

	if (options_check_events(options, kinds_mask(record), &error) < 0 ||
	    conditions_check_events(options, kinds_mask(record), &error) < 0 ||
	    output_plan_new(options->outputs.items, options->outputs.count, record->sources,
			    record->source_count, &record->plan, &error) < 0)
		return fail(record, &error, EXIT_STATUS_USAGE);
	if (!capability_get(CAPABILITY_PRIVILEGED)->probe(&error))
		return fail(record, &error, EXIT_STATUS_NOT_ALLOWED);
	if (invoking_user_find(&record->user, &error) < 0 || watch_targets(record, &error) < 0)
		return fail(record, &error, EXIT_STATUS_FAILED);
	stop_signals_block(&record->mask_before);
	if (output_plan_open(record->plan, &error) < 0)
		return fail(record, &error, EXIT_STATUS_FAILED);
	if (options->command && launch(record, &error) < 0)
		return fail(record, &error, EXIT_STATUS_NOT_STARTED);
	if (listen_for_stop(record, &error) < 0)
		return fail(record, &error, EXIT_STATUS_FAILED);
	return EXIT_STATUS_DONE;
}

/* ---- the run ---- */

static int start(struct record *record, struct error *error)
{
	const struct cli_options *options = record->options;
	struct live_options live = {
		.session =
			{
				.pids = options->pids.items,
				.pid_count = options->pids.count,
				.tids = options->tids.items,
				.tid_count = options->tids.count,
				.cgroup_path = record->cgroup_path,
				.comm = options->comm,
				.follow = options->follow,
				.want_user_stack = !options->kernel_only,
				.want_kernel_stack = !options->user_only,
				/* Limits are on figures of the report. */
				.want_resources = output_plan_shows_resources(record->plan) ||
						  options->conditions.count,
				.unwind_mode = options->unwind_mode,
				.unwind_table_bytes = options->unwind_table_bytes,
				.frequency_hz = options->frequency_hz,
				.kinds_mask = kinds_mask(record),
				.per_thread = options->per_thread,
				.waiting_pid = record->command_pid,
				.log = &record->log,
			},
		.sources = options->of_sources,
		.inlines = !options->no_inline,
		.lines = options->lines,
		.user_uid = record->user.behind_sudo ? record->user.uid : 0,
	};

	if (record->command) {
		live.session.pids = &record->command_pid;
		live.session.pid_count = 1;
		if (options->follow != PKBPF_FOLLOW_NONE)
			live.session.follow = PKBPF_FOLLOW_DESCENDANTS;
	}
	if (live.session.pid_count)
		live.session.target_mode = PKBPF_TARGET_PROCESS;
	else if (live.session.tid_count)
		live.session.target_mode = PKBPF_TARGET_THREAD;
	else if (record->cgroup_path)
		live.session.target_mode = PKBPF_TARGET_CGROUP;
	return live_profile_start(&live, &record->live, error);
}

static int wait_timeout_ms(const struct record *record, const struct progress *progress,
			   uint64_t now_ns, uint64_t deadline_ns)
{
	bool only_cpu = record->source_count == 1 && record->sources[0]->kind == PKBPF_PROFILE_CPU;
	uint64_t until_ns =
		now_ns + NS_PER_MS * (only_cpu ? CPU_LOOK_INTERVAL_MS : LOOK_INTERVAL_MS);

	if (deadline_ns && deadline_ns < until_ns)
		until_ns = deadline_ns;
	if (progress->shown && progress->next_ns < until_ns)
		until_ns = progress->next_ns;
	return until_ns > now_ns ? (int)((until_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS) : 0;
}

/* Adds the targets that live to those whose end is waited for. */
static int watch_live_targets(struct record *record)
{
	struct u32_list pids = {0};
	int err = live_profile_targets(record->live, &pids);
	struct error error;

	for (size_t i = 0; i < pids.count && err == 0; i++) {
		int pidfd;

		/* One that has ended meanwhile is nothing to wait for. */
		if (target_check_process(pids.items[i], &pidfd, &error) == 0)
			err = run_watch_add_process(record->watch, pids.items[i], pidfd, &error);
	}
	array_free(&pids);
	return err;
}

/* Descendants are targets, and may outlive the processes named. Those of a command may, too: its
 * end is the run's. */
static int check_end(struct record *record, uint64_t now_ns, uint64_t deadline_ns)
{
	int err;

	record->end = run_watch_check(record->watch, now_ns, deadline_ns);
	if (record->end != RUN_TARGETS_ENDED || record->command ||
	    record->options->follow != PKBPF_FOLLOW_DESCENDANTS)
		return 0;
	err = watch_live_targets(record);
	if (err == 0)
		record->end = run_watch_check(record->watch, now_ns, deadline_ns);
	return err;
}

/* Takes events in until something ends the run. */
static int run_until_end(struct record *record)
{
	uint64_t now_ns = clock_now_ns(), deadline_ns = 0;
	uint64_t counters[PKBPF_COUNTER_COUNT];
	struct progress progress;
	int err = 0;

	if (record->options->duration_ns)
		deadline_ns = live_profile_start_ns(record->live) + record->options->duration_ns;
	progress_init(&progress, record->console,
		      !record->options->quiet && !record->options->no_progress, now_ns,
		      record->options->duration_ns);
	while (err == 0) {
		now_ns = clock_now_ns();
		err = check_end(record, now_ns, deadline_ns);
		if (err < 0 || record->end != RUN_GOES_ON)
			break;
		if (progress_is_due(&progress, now_ns)) {
			live_profile_counters(record->live, counters);
			progress_show(&progress, now_ns, counters);
		}
		err = live_profile_wait(record->live, run_watch_fd(record->watch),
					wait_timeout_ms(record, &progress, now_ns, deadline_ns));
	}
	progress_clear(&progress);
	return err;
}

/* The command learns of a signal that was meant for us alone; the terminal's it has got itself. */
static void pass_signal_on(struct record *record)
{
	bool is_private;

	if (record->command && stop_signals_received(record->signals, &is_private) && is_private)
		command_signal(record->command, SIGTERM);
}

static int write_outputs(struct record *record, struct results *results)
{
	const struct cli_options *options = record->options;
	struct output_settings settings = {
		.options =
			{
				.top = options->top,
				.per_thread = options->per_thread,
				.pid_frame = options->pid_frame,
				.lines = options->lines,
				.details = options->verbosity > 0,
				.wait_states = options->wait_states,
			},
		.color = options->color,
	};
	int err, report_err;

	err = output_plan_write(record->plan, OUTPUT_STACKS, results, &settings, &record->user,
				record->console);
	live_profile_note_cost(record->live);
	live_profile_log_cost(record->live);
	report_err = output_plan_write(record->plan, OUTPUT_REPORTS, results, &settings,
				       &record->user, record->console);
	return err < 0 || report_err < 0 ? EXIT_STATUS_FAILED : EXIT_STATUS_DONE;
}

static int profile_targets(struct record *record)
{
	struct run_description description = {.options = record->options};
	char targets[512], text[512];
	const struct profile *profile;
	struct results results;
	struct error error;
	int err, stop_err, status;

	err = run_until_end(record);
	pass_signal_on(record);
	stop_err = live_profile_stop(record->live);
	description.end = record->end;
	record_describe_targets(&description, targets, sizeof(targets));
	profile = live_profile_finish(record->live, targets);
	results_init(&results, profile, record->options->by);
	status = write_outputs(record, &results);
	if (status == EXIT_STATUS_DONE)
		status = conditions_check(record->options, &results, record->console);
	results_done(&results);
	err = err < 0 ? err : stop_err;
	if (err < 0) {
		error_set(&error, -err,
			  "recording aborted: %s; the outputs hold the events up to then",
			  strerror(-err));
		return fail(record, &error, EXIT_STATUS_FAILED);
	}
	if (record_explain_nothing(&description, profile, text, sizeof(text))) {
		/* A command's own status counts: that it was quick is no failure. */
		if (record->command)
			console_note(record->console, "%s", text);
		else
			console_error(record->console, "%s", text);
		return status == EXIT_STATUS_DONE ? EXIT_STATUS_EMPTY : status;
	}
	if (!output_plan_reports_to_stdout(record->plan)) {
		record_summarize(profile, text, sizeof(text));
		console_note(record->console, "%s", text);
	}
	return status;
}

/* After a duration or a stop the command may still run; its status is ours to return. */
static int wait_for_command(struct record *record)
{
	struct pollfd fd = {.fd = run_watch_fd(record->watch), .events = POLLIN};
	uint64_t now_ns = clock_now_ns();

	if (record->end == RUN_TIME_IS_UP) {
		if (run_watch_check(record->watch, now_ns, 0) == RUN_GOES_ON)
			console_note(record->console, "waiting for %s to exit",
				     record->options->command[0]);
		while (run_watch_check(record->watch, now_ns, 0) == RUN_GOES_ON)
			poll(&fd, 1, -1);
		pass_signal_on(record);
	}
	return command_wait(record->command);
}

static int run(struct record *record)
{
	struct error error;
	int err, status, command_status;

	err = start(record, &error);
	if (err < 0)
		return fail(record, &error, status_of_capture(err));
	if (record->command) {
		err = command_release(record->command, &error);
		if (err < 0)
			return fail(record, &error, command_failure_status(err));
	}
	status = profile_targets(record);
	if (!record->command)
		return status;
	command_status = wait_for_command(record);
	if (command_status != 0 || status == EXIT_STATUS_EMPTY)
		return command_status;
	return status;
}

static int profile_run(const struct cli_options *options, struct console *console)
{
	struct record record = {
		.options = options,
		.console = console,
		.log = console_log(console),
	};
	int status;

	choose_sources(&record);
	status = prepare(&record);
	if (status == EXIT_STATUS_DONE)
		status = run(&record);
	live_profile_free(record.live);
	command_free(record.command);
	run_watch_free(record.watch);
	stop_signals_free(record.signals);
	output_plan_free(record.plan);
	invoking_user_done(&record.user);
	free(record.cgroup_path);
	return status;
}

const struct command_row command_profile = {
	.synopsis = "[OPTIONS] [-- COMMAND [ARG...]]",
	.summary = "Profiles live processes, the whole host, or COMMAND",
	.takes_command = true,
	.check = options_check_profile,
	.run = profile_run,
};
