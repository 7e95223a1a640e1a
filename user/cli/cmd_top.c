// SPDX-License-Identifier: BSD-2-Clause
/* `pkbpf top`: what processes do now, slice by slice. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/unused.h"
#include "capture/kernel/capability.h"
#include "capture/kernel/privileges.h"
#include "cli/command_table.h"
#include "cli/exit_status.h"
#include "cli/history_client.h"
#include "cli/option_check.h"
#include "cli/stop_signals.h"
#include "live/invoking_user.h"
#include "live/live_run.h"
#include "profile/slice/slice.h"
#include "report/text_table.h"
#include "top/top_columns.h"
#include "top/top_terminal.h"

#define INTERVAL_NS	(1 * NS_PER_SECOND)
#define INTERVAL_MIN_NS (NS_PER_SECOND / 2)
#define INTERVAL_MAX_NS (3600 * NS_PER_SECOND)
#define BATCH_WIDTH	120
/* Nobody waits longer than he must for the first picture; a table of a script has its length. */
#define FIRST_INTERVAL_NS (NS_PER_SECOND / 8)
/* A server is asked so often for what is new, and may be away for so long. */
#define ASK_MS	    1000
#define AWAY_MAX_NS (60 * NS_PER_SECOND)

struct own_options {
	bool batch;
	uint32_t iterations; /* 0: without end */
	uint64_t interval_ns;
	const char *sort, *connect, *token_file;
};

struct watching {
	const struct cli_options *options;
	const struct own_options *own;
	struct console *console;
	struct log log;
	struct live_options live;
	const struct source_ops *sources[PKBPF_PROFILE_KINDS];
	size_t source_count;
	struct invoking_user user;
	struct stop_signals *signals;
	struct live_run *run;
	struct top *top;
	struct top_terminal *terminal; /* NULL: batch */
	uint32_t slices;
	int err; /* the first failure to write */
};

static int fail(struct watching *watching, const struct error *error, int status)
{
	top_terminal_free(watching->terminal);
	watching->terminal = NULL;
	console_error(watching->console, "%s", error->text);
	return status;
}

/* ---- writing what is shown ---- */

/* What the console would say, as a sentence. */
static void take_sentence(char *text, size_t size, const char *said)
{
	static const char prefix[] = "pkbpf: ";

	if (strncmp(said, prefix, sizeof(prefix) - 1) == 0)
		said += sizeof(prefix) - 1;
	snprintf(text, size, "%.*s", (int)strcspn(said, "\n"), said);
}

static int write_files(const struct watching *watching, const struct profile *profile,
		       const char *path, struct console *console)
{
	struct output_request request = {.path = path};
	struct output_settings settings = cli_options_settings(watching->options);
	struct output_plan *plan;
	struct results results;
	struct error error;
	int err = output_plan_new(&request, 1, watching->sources, watching->source_count, &plan,
				  &error);

	if (err < 0) {
		console_error(console, "%s", error.text);
		return err;
	}
	err = output_plan_open(plan, &error);
	if (err < 0) {
		console_error(console, "%s", error.text);
	} else {
		int report_err;

		settings.options.full = true;
		results_init(&results, profile, watching->options->by);
		err = output_plan_write(plan, OUTPUT_STACKS, &results, &settings, &watching->user,
					console);
		report_err = output_plan_write(plan, OUTPUT_REPORTS, &results, &settings,
					       &watching->user, console);
		err = err < 0 ? err : report_err;
		results_done(&results);
	}
	output_plan_free(plan);
	return err;
}

static void write_shown(void *context, const struct profile *profile, const char *path,
			char *ret_text, size_t size)
{
	struct watching *watching = context;
	struct console console = {0};
	char *said = NULL;
	size_t length = 0;

	if (strcmp(path, "-") == 0) {
		snprintf(ret_text, size, "the screen is no file: type a name");
		return;
	}
	console.out = open_memstream(&said, &length);
	if (!console.out) {
		snprintf(ret_text, size, "out of memory");
		return;
	}
	if (write_files(watching, profile, path, &console) == 0)
		snprintf(ret_text, size, "wrote %s", path);
	fclose(console.out);
	if (said && said[0])
		take_sentence(ret_text, size, said);
	free(said);
}

/* ---- slices ---- */

static void quit(void *context)
{
	stop_signals_request(context);
}

static int print_table(struct watching *watching)
{
	unsigned int width =
		watching->options->width ? watching->options->width : console_width(STDOUT_FILENO);
	struct top_screen screen;
	int err = top_screen_init(&screen, width ? width : BATCH_WIDTH,
				  top_table_lines(watching->top));

	if (err < 0)
		return err;
	err = top_draw_table(watching->top, &screen);
	for (size_t i = 0; i < screen.used && i < screen.height; i++) {
		struct top_line *line = &screen.lines[i];

		while (line->bytes && line->text[line->bytes - 1] == ' ')
			line->text[--line->bytes] = '\0';
		printf("%s\n", line->text);
	}
	printf("\n");
	if (fflush(stdout) == EOF && err == 0) {
		err = -errno;
		/* What nobody reads any more is no failure at the end of the program either. */
		__fpurge(stdout);
		clearerr(stdout);
	}
	top_screen_done(&screen);
	return err;
}

static int show_slice(struct watching *watching, struct profile *slice)
{
	int err;

	if (watching->terminal)
		return top_terminal_add(watching->terminal, slice);
	err = top_add_slice(watching->top, slice);
	return err < 0 ? err : print_table(watching);
}

static bool take_slice(void *context, struct profile *slice, _unused_ bool ends_interval)
{
	struct watching *watching = context;
	const struct own_options *own = watching->own;
	struct profile *copy;
	int err = -ENOMEM;

	if (own->iterations && watching->slices >= own->iterations)
		return false;
	copy = slice_new();
	if (copy && slice_merge(copy, slice) == 0)
		err = show_slice(watching, copy);
	else
		profile_free(copy);
	/* A slice that memory did not suffice for is a gap; what cannot be written is the end. */
	if (err < 0 && err != -ENOMEM) {
		watching->err = err;
		return false;
	}
	return ++watching->slices != own->iterations;
}

/* ---- the run ---- */

static void choose_sources(struct watching *watching)
{
	const struct cli_options *options = watching->options;

	memcpy(watching->sources, options->sources, sizeof(watching->sources));
	watching->source_count = options->source_count;
	for (size_t i = 0; source_at(i) && !options->source_count; i++)
		if (!source_at(i)->by_request)
			watching->sources[watching->source_count++] = source_at(i);
	watching->live.kinds_mask = 0;
	for (size_t i = 0; i < watching->source_count; i++)
		watching->live.kinds_mask |= source_kinds(watching->sources[i]);
}

static bool is_batch(const struct watching *watching)
{
	return watching->own->batch || !console_is_terminal(STDOUT_FILENO) || !isatty(STDIN_FILENO);
}

/* The terminal's settings are given back before the program dies of a second signal. */
static void abandon(void *context)
{
	struct watching *watching = context;

	if (watching->terminal)
		top_terminal_abandon(watching->terminal);
}

static int open_view(struct watching *watching, struct error *error)
{
	const struct live_targets *targets = &watching->live.targets;
	struct top_options top = {
		.by = watching->options->by,
		.per_thread = watching->live.per_thread,
		.sort = watching->own->sort
				? top_column_find(watching->own->sort, watching->options->by)
				: -1,
		.is_host = !targets->pids.count && !targets->tids.count && !targets->cgroup_path &&
			   !targets->container,
		.only_tables = is_batch(watching),
		.write = write_shown,
		.context = watching,
	};

	watching->top = top_new(&top);
	if (!watching->top)
		return error_set(error, ENOMEM, "cannot show anything: out of memory");
	if (is_batch(watching))
		return 0;
	watching->terminal = top_terminal_new(
		watching->top, console_wants_color(watching->options->color, STDOUT_FILENO), quit,
		watching->signals, error);
	return watching->terminal ? 0 : -ENOTSUP;
}

static int prepare(struct watching *watching)
{
	sigset_t before, resize;
	struct error error;

	if (options_check_events(watching->options, watching->live.kinds_mask, &error) < 0)
		return fail(watching, &error, EXIT_STATUS_USAGE);
	if (!capability_get(CAPABILITY_PRIVILEGED)->probe(&error))
		return fail(watching, &error, EXIT_STATUS_NOT_ALLOWED);
	if (invoking_user_find(&watching->user, &error) < 0 ||
	    live_run_new(&watching->live, &watching->run, &error) < 0)
		return fail(watching, &error, EXIT_STATUS_FAILED);
	stop_signals_block(&before);
	/* One thread, the terminal's, wants to know. */
	sigemptyset(&resize);
	sigaddset(&resize, SIGWINCH);
	pthread_sigmask(SIG_BLOCK, &resize, NULL);
	live_run_keep_apart(watching->run);
	if (privileges_reduce(false, &watching->log, &error) < 0)
		return fail(watching, &error, EXIT_STATUS_FAILED);
	watching->signals = stop_signals_new(abandon, watching, &error);
	if (!watching->signals ||
	    live_run_set_stop(watching->run, stop_signals_fd(watching->signals), &error) < 0)
		return fail(watching, &error, EXIT_STATUS_FAILED);
	return EXIT_STATUS_DONE;
}

static int end_output(struct watching *watching)
{
	struct error error;

	/* A reader that has seen enough. */
	if (!watching->err || watching->err == -EPIPE)
		return EXIT_STATUS_DONE;
	error_set(&error, -watching->err, "cannot write to stdout: %s", strerror(-watching->err));
	return fail(watching, &error, EXIT_STATUS_FAILED);
}

/* Tables of a run that ends by itself have all of it, up to a rest that is too short for one. */
static void finish(struct watching *watching, enum run_end end,
		   const struct live_observer *observer)
{
	bool shows = is_batch(watching) && end != RUN_STOPPED && !watching->err;
	struct profile *last = live_run_finish(watching->run, shows ? observer : NULL);
	const struct profile_info *info = last ? profile_info(last) : NULL;

	if (shows && last && !watching->err &&
	    (!watching->slices || 2 * (info->end_ns - info->start_ns) >= watching->live.every_ns))
		take_slice(watching, last, true);
}

static int watch(struct watching *watching)
{
	const struct live_observer observer = {NULL, take_slice, watching};
	struct error error;
	enum run_end end;
	int err, stop_err;

	/* Loading takes seconds on a busy machine: something is there to be seen meanwhile. */
	if (open_view(watching, &error) < 0)
		return fail(watching, &error, EXIT_STATUS_FAILED);
	err = live_run_start(watching->run, &error);
	if (err < 0)
		return fail(watching, &error,
			    err == -ESRCH ? EXIT_STATUS_EMPTY : EXIT_STATUS_NOT_ALLOWED);
	err = live_run_until_end(watching->run, &observer, &end);
	stop_err = live_run_stop(watching->run);
	finish(watching, end, &observer);
	top_terminal_free(watching->terminal);
	watching->terminal = NULL;
	err = err < 0 ? err : stop_err;
	if (err < 0) {
		error_set(&error, -err, "recording aborted: %s", strerror(-err));
		return fail(watching, &error, EXIT_STATUS_FAILED);
	}
	if (end == RUN_TARGETS_ENDED && !watching->err)
		console_note(watching->console, "all targets have exited");
	return end_output(watching);
}

/* ---- slices of a server ---- */

static struct slice_choice choose_processes(const struct live_targets *targets)
{
	return (struct slice_choice){
		.pids = targets->pids.items,
		.pid_count = targets->pids.count,
		.comm = targets->comm,
		.container = targets->container,
	};
}

/* false: a stop is asked for. */
static bool rest(const struct watching *watching)
{
	struct pollfd stop = {.fd = stop_signals_fd(watching->signals), .events = POLLIN};

	return poll(&stop, 1, ASK_MS) == 0;
}

/* The view opens with the first picture: what is wrong before is told as any command does. */
static bool take_answer(struct watching *watching, struct profile *slice, struct error *error)
{
	bool goes_on = false;

	if (!watching->top && open_view(watching, error) < 0)
		watching->err = -ENOTSUP;
	else
		goes_on = take_slice(watching, slice, true);
	profile_free(slice);
	return goes_on;
}

static int follow_server(struct watching *watching, struct history_client *client)
{
	struct slice_choice choice = choose_processes(&watching->live.targets);
	uint64_t answered_ns = clock_now_ns();
	struct profile *slice;
	struct error error = {0};
	int err;

	do {
		err = history_client_next(client, &choice, &slice, &error);
		if (err == 0)
			answered_ns = clock_now_ns();
		/* It may be starting again. */
		if (err < 0 && (err != -EAGAIN || !watching->top ||
				clock_now_ns() - answered_ns > AWAY_MAX_NS))
			return fail(watching, &error, EXIT_STATUS_FAILED);
		if (err == 0 && slice && !take_answer(watching, slice, &error))
			break;
	} while (rest(watching));
	top_terminal_free(watching->terminal);
	watching->terminal = NULL;
	return watching->err == -ENOTSUP ? fail(watching, &error, EXIT_STATUS_FAILED)
					 : end_output(watching);
}

static int watch_server(struct watching *watching)
{
	struct history_client *client;
	sigset_t before, resize;
	struct error error;
	int err, status;

	err = history_client_new(watching->own->connect, watching->own->token_file, &client,
				 &error);
	if (err < 0)
		return fail(watching, &error,
			    err == -EINVAL ? EXIT_STATUS_USAGE : EXIT_STATUS_FAILED);
	stop_signals_block(&before);
	sigemptyset(&resize);
	sigaddset(&resize, SIGWINCH);
	pthread_sigmask(SIG_BLOCK, &resize, NULL);
	watching->signals = stop_signals_new(abandon, watching, &error);
	if (invoking_user_find(&watching->user, &error) < 0 || !watching->signals)
		status = fail(watching, &error, EXIT_STATUS_FAILED);
	else
		status = follow_server(watching, client);
	history_client_free(client);
	return status;
}

static int top_run(const struct cli_options *options, struct console *console)
{
	const struct own_options *own = options->own;
	struct watching watching = {
		.options = options,
		.own = own,
		.console = console,
		.live = options->live,
	};
	int status;

	/* The picture has the terminal: no library writes into it. */
	watching.log = is_batch(&watching) ? console_log(console) : (struct log){0};
	watching.live.user = &watching.user;
	watching.live.log = is_batch(&watching) ? &watching.log : NULL;
	watching.live.every_ns = own->interval_ns ? own->interval_ns : INTERVAL_NS;
	if (!is_batch(&watching))
		watching.live.first_ns = FIRST_INTERVAL_NS;
	watching.live.want_resources = true;
	/* A table each second needs no looks between. */
	watching.live.sparing = true;
	choose_sources(&watching);
	status = own->connect ? watch_server(&watching) : prepare(&watching);
	if (status == EXIT_STATUS_DONE && !own->connect)
		status = watch(&watching);
	live_run_free(watching.run);
	stop_signals_free(watching.signals);
	top_free(watching.top);
	invoking_user_done(&watching.user);
	return status;
}

/* What a server records was decided when it was started. */
static int check_connect(const struct cli_options *options, struct error *error)
{
	static const char *const of_capture[] = {
		"children",   "no-children",  "tid",	    "cgroup",
		"events",     "frequency",    "duration",   "user",
		"kernel",     "unwind",	      "gpu",	    "unwind-tables",
		"min-block",  "max-overhead", "max-memory", "kernel-threads",
		"per-thread", "no-inline",
	};
	const struct own_options *own = options->own;

	if (own->token_file && !own->connect)
		return error_set(error, EINVAL, "--token-file requires --connect");
	for (size_t i = 0; i < ARRAY_SIZE(of_capture) && own->connect; i++)
		if (option_name_is_given(of_capture[i], options))
			return error_set(error, EINVAL,
					 "--connect shows what the server records: omit --%s",
					 of_capture[i]);
	if (own->connect && own->interval_ns)
		return error_set(error, EINVAL,
				 "--connect shows the server's slices: omit --interval");
	return 0;
}

static int top_check(struct cli_options *options, struct error *error)
{
	const struct own_options *own = options->own;

	if (check_connect(options, error) < 0)
		return -EINVAL;
	if (options->by == ROWS_BY_LABEL)
		return error_set(error, EINVAL,
				 "top has no rows by label: use pkbpf --by label:KEY for a while");
	if (own->interval_ns &&
	    (own->interval_ns < INTERVAL_MIN_NS || own->interval_ns > INTERVAL_MAX_NS))
		return error_set(error, EINVAL,
				 "invalid value for --interval: expected 500ms to 1h");
	if (own->sort && top_column_find(own->sort, options->by) < 0)
		return error_set(error, EINVAL,
				 "invalid value for --sort: '%s'; expected the title of a column, "
				 "such as CPU%%, RSS or DISK%%",
				 own->sort);
	for (size_t i = 0; i < options->source_count; i++)
		if (source_kinds(options->sources[i]) & 1U << PKBPF_PROFILE_LOCKS)
			return error_set(error, EINVAL,
					 "top has no columns of locks: use pkbpf -e locks for a "
					 "while");
	return options_check_profile(options, error);
}

#define OWN(member) OPTION_AT(struct own_options, member)

static const struct option_row own_rows[] = {
	{'b', "batch", NULL, "print a table for each interval; also if stdout is no terminal",
	 .group = OPTION_GROUP_OUTPUT, .form = OPTION_FLAG, OWN(batch)},
	{'n', "iterations", "N", "end after N intervals", .group = OPTION_GROUP_OUTPUT,
	 .form = OPTION_NUMBER, OWN(iterations), .least = 1, .most = UINT32_MAX},
	{'s', "interval", "TIME", "length of an interval, 500ms to 1h; default 1s",
	 .group = OPTION_GROUP_OUTPUT, .form = OPTION_DURATION, OWN(interval_ns)},
	{0, "connect", "ADDRESS:PORT|PATH",
	 "show the slices of a running pkbpf serve, without root", .group = OPTION_GROUP_OUTPUT,
	 .completes = OPTION_COMPLETES_FILE, .form = OPTION_TEXT, OWN(connect),
	 .text = "A new one comes every ten seconds, or as its --interval says. --pid, --comm and "
		 "--container choose processes of what it records."},
	{0, "token-file", "FILE", "with --connect: the token that the server asks for",
	 .group = OPTION_GROUP_OUTPUT, .completes = OPTION_COMPLETES_FILE, .form = OPTION_TEXT,
	 OWN(token_file), .text = "Refused where every user can read it."},
	{0, "sort", "COLUMN", "sort rows by the column with this title; default CPU%",
	 .group = OPTION_GROUP_OUTPUT, .form = OPTION_TEXT, OWN(sort)},
	{0},
};

const struct command_row command_top = {
	.name = "top",
	.synopsis = "top [OPTIONS]",
	.summary = "Shows live what processes use and wait for, with their stacks",
	.options = (const char *const[]){"pid",
					 "children",
					 "no-children",
					 "tid",
					 "cgroup",
					 "container",
					 "comm",
					 "events",
					 "frequency",
					 "duration",
					 "user",
					 "kernel",
					 "unwind",
					 "gpu",
					 "unwind-tables",
					 "min-block",
					 "max-overhead",
					 "max-memory",
					 "kernel-threads",
					 "by",
					 "per-thread",
					 "no-inline",
					 "width",
					 "quiet",
					 "verbose",
					 "color",
					 NULL},
	.words =
		(const struct command_words[]){
			{"events", "kinds of events, separated by commas: cpu, offcpu, blockio, "
				   "faults, network, memory; default: cpu,offcpu,blockio,faults"},
			{"no-children", "with --pid: only that process, without forked workers"},
			{"width", "columns of a line, 80 to 200; default: those of the terminal, "
				  "else 100"},
			{NULL, NULL},
		},
	.own_options = own_rows,
	.own_size = sizeof(struct own_options),
	.check = top_check,
	.run = top_run,
};
