// SPDX-License-Identifier: BSD-2-Clause
/* `pkbpf serve`: profiles all the time, keeps the history and answers over HTTP. This process is
 * the collector; serve_front.h is the other one. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file_io.h"
#include "base/unused.h"
#include "capture/kernel/capability.h"
#include "capture/kernel/privileges.h"
#include "cli/command_table.h"
#include "cli/exit_status.h"
#include "cli/option_check.h"
#include "cli/option_parser.h"
#include "cli/serve_config.h"
#include "cli/serve_defaults.h"
#include "cli/serve_front.h"
#include "cli/serve_governor.h"
#include "cli/serve_token.h"
#include "cli/stop_signals.h"
#include "live/live_run.h"

#define STORE_BYTES	(1ULL << 30)
#define STORE_MIN_BYTES (16ULL << 20)
#define STORE_MAX_BYTES (1ULL << 40)
#define SLICE_NS	(10 * NS_PER_SECOND)
#define SLICE_MIN_NS	(1 * NS_PER_SECOND)
#define SLICE_MAX_NS	(60 * NS_PER_SECOND)
#define FREQUENCY_HZ	19

struct serve_options {
	const char *listen, *store, *token_file, *config;
	uint64_t store_bytes, slice_ns;
	double max_cpu; /* share of the machine; 0: no limit */
	bool check_config, inlines;
	char *text;    /* of the configuration */
	char *applied; /* the same, taken apart: options borrow from it */
};

struct serving {
	const struct cli_options *options;
	/* Of a configuration that was read again, NULL: none: in use, and the last one. */
	struct cli_options *used, *reread;
	struct serve_options own;
	struct console *console;
	struct log log;
	struct live_options live;
	char *token; /* NULL: none */
	struct stop_signals *signals;
	struct live_run *run;
	struct serve_front front;
	bool has_front;
	atomic_bool hangup; /* the configuration is to be read again */
	struct serve_governor governor;
	uint32_t asked;	       /* kinds, of which the governor may shed some */
	uint64_t front_cpu_ns; /* the last time it was read */
	bool restarts;	       /* the capture ends to begin with other options */
	int err;	       /* the front has ended */
};

static int fail(struct serving *serving, const struct error *error, int status)
{
	console_error(serving->console, "%s", error->text);
	return status;
}

/* ---- set-up ---- */

/* Off-CPU costs most: who wants it all the time says so. */
static void choose_sources(struct serving *serving)
{
	const struct cli_options *options = serving->options;
	const struct source_ops *source;

	serving->live.kinds_mask = 0;
	for (size_t i = 0; i < options->source_count; i++)
		serving->live.kinds_mask |= 1U << options->sources[i]->kind;
	for (size_t i = 0; !options->source_count && (source = source_at(i)); i++)
		if (source->kind != PKBPF_PROFILE_OFFCPU && !source->by_request)
			serving->live.kinds_mask |= 1U << source->kind;
}

static void nothing_to_abandon(_unused_ void *context)
{
}

static void note_hangup(void *context)
{
	struct serving *serving = context;

	atomic_store(&serving->hangup, true);
}

static void choose_options(struct serving *serving, const struct cli_options *options)
{
	const struct serve_options *own = options->own;

	serving->options = options;
	serving->own = *own;
	serving->live = options->live;
	if (!own->listen)
		serving->own.listen = SERVE_LISTEN;
	serving->own.store = serve_store(own->store);
	if (!own->store_bytes)
		serving->own.store_bytes = STORE_BYTES;
	if (!own->slice_ns)
		serving->own.slice_ns = SLICE_NS;
	serving->live.log = &serving->log;
	serving->live.every_ns = serving->own.slice_ns;
	serving->live.want_resources = true;
	serving->live.sparing = true;
	serving->live.no_inline = !own->inlines;
	choose_sources(serving);
	serving->governor.limit = own->max_cpu;
	if (!own->max_cpu)
		serving->governor.step = 0;
	serving->asked = serving->live.kinds_mask;
	serve_governor_apply(&serving->governor, &serving->live);
	serving->front.detail_step = serving->governor.step;
}

static int start_front(struct serving *serving, struct error *error)
{
	struct serve_front_options options = {
		.listen = serving->own.listen,
		.store = serving->own.store,
		.store_bytes = serving->own.store_bytes,
		.token = serving->token,
		.slice_ns = serving->own.slice_ns,
		.config = serving->own.text,
		.console = serving->console,
	};
	int err = serve_front_start(&options, &serving->front, error);

	serving->has_front = err == 0;
	return err;
}

static int prepare(struct serving *serving)
{
	sigset_t before;
	struct error error;
	int err;

	if (options_check_events(serving->options, serving->live.kinds_mask, &error) < 0)
		return fail(serving, &error, EXIT_STATUS_USAGE);
	if (!capability_get(CAPABILITY_PRIVILEGED)->probe(&error))
		return fail(serving, &error, EXIT_STATUS_NOT_ALLOWED);
	if ((serving->own.token_file &&
	     serve_token_read(serving->own.token_file, &serving->token, &error) < 0) ||
	    live_run_new(&serving->live, &serving->run, &error) < 0)
		return fail(serving, &error, EXIT_STATUS_FAILED);
	/* The front inherits it: a Ctrl-C meant for all ends it when the collector has sent its
	 * last slice. */
	stop_signals_block(&before);
	err = start_front(serving, &error);
	if (err < 0)
		return fail(serving, &error,
			    err == -EINVAL ? EXIT_STATUS_USAGE : EXIT_STATUS_FAILED);
	live_run_keep_apart(serving->run);
	if (privileges_reduce(false, &error) < 0)
		return fail(serving, &error, EXIT_STATUS_FAILED);
	serving->signals = stop_signals_new(nothing_to_abandon, serving, &error);
	if (!serving->signals ||
	    live_run_set_stop(serving->run, stop_signals_fd(serving->signals), &error) < 0)
		return fail(serving, &error, EXIT_STATUS_FAILED);
	if (serving->own.config)
		stop_signals_on_hangup(serving->signals, note_hangup);
	return EXIT_STATUS_DONE;
}

/* For systemd: Type=notify. */
static void notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (!path || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof(address.sun_path))
		return;
	memcpy(address.sun_path, path, strlen(path));
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address,
	       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path)));
	close(fd);
}

/* false: there is nobody to send to. */
static bool send_slice(struct serving *serving, const struct profile *slice)
{
	int err = serving->err < 0 ? serving->err : serve_front_send(&serving->front, slice);

	if (err == -EPIPE) {
		serving->err = err;
	} else if (err < 0) {
		console_error(serving->console, "a slice is missing in the history: %s",
			      err == -EAGAIN ? "the front is behind" : strerror(-err));
	}
	return !serving->err;
}

/* All that serve costs, in both processes and in BPF programs. */
static uint64_t cost_of(struct serving *serving, const struct profile_info *info)
{
	uint64_t front_ns = serve_front_cpu_ns(&serving->front);
	uint64_t since_ns = front_ns - serving->front_cpu_ns;

	if (!serving->front_cpu_ns || front_ns < serving->front_cpu_ns)
		since_ns = 0;
	serving->front_cpu_ns = front_ns;
	return profile_own_cpu_since_start(info) + info->bpf_cpu_ns + since_ns;
}

static void govern(struct serving *serving, const struct profile *slice)
{
	const struct profile_info *info = profile_info_read(slice);
	struct serve_governor *governor = &serving->governor;
	unsigned int before = governor->step;
	int step =
		serve_governor_add(governor, cost_of(serving, info), info->end_ns - info->start_ns,
				   info->cpu_count, serving->asked);

	if (!step)
		return;
	console_error(serving->console, "serve has cost %.2f %% of the machine for a minute: %s %s",
		      100 * governor->last_share, step > 0 ? "it sheds" : "it takes up again",
		      serve_governor_sheds(step > 0 ? governor->step : before, serving->asked));
	serving->restarts = true;
	stop_signals_request(serving->signals);
}

static bool take_slice(void *context, struct profile *slice, _unused_ bool ends_interval)
{
	struct serving *serving = context;

	if (!serving->restarts)
		govern(serving, slice);
	return send_slice(serving, slice);
}

static void say_where(const struct serving *serving)
{
	const char *listen = serving->own.listen, *colon = strrchr(listen, ':');

	if (listen[0] == '/')
		console_note(serving->console,
			     "history, metrics and profiles: at the socket %s (kept in %s)", listen,
			     serving->own.store);
	else
		console_note(serving->console,
			     "history, metrics and profiles: http://%.*s:%u/ (kept in %s)",
			     (int)(colon - listen), listen, serving->front.port,
			     serving->own.store);
}

/* ---- another configuration ---- */

static void free_reread(struct cli_options *options)
{
	struct serve_options *own;

	if (!options)
		return;
	own = options->own;
	if (own) {
		free(own->text);
		free(own->applied);
	}
	cli_options_done(options);
	free(options);
}

/* NULL with the sentence: it has an error. */
static struct cli_options *reread(const struct serving *serving, struct error *error)
{
	struct cli_options *options = malloc(sizeof(*options));

	if (!options) {
		error_set(error, ENOMEM, "out of memory");
		return NULL;
	}
	cli_options_init(options);
	if (options_parse(&command_serve, serving->options->word_count, serving->options->words,
			  options, error) < 0) {
		/* What it was read from is freed by the check. */
		cli_options_done(options);
		free(options);
		return NULL;
	}
	return options;
}

/* What is before the first section is about the capture. */
static bool is_same_capture(const char *before, const char *after)
{
	size_t length = strcspn(before, "["), other = strcspn(after, "[");

	return length == other && strncmp(before, after, length) == 0;
}

/* Alerts and who is told change at once; other kinds, targets or rates begin a new capture. */
static void reload(struct serving *serving)
{
	const struct serve_options *own;
	struct cli_options *options;
	struct error error;

	notify("RELOADING=1");
	options = reread(serving, &error);
	if (!options) {
		serve_front_configure(&serving->front, NULL);
		console_error(serving->console,
			      "the configuration stays as it was, for it has an error: %s",
			      error.text);
		notify("READY=1");
		return;
	}
	own = options->own;
	if (serve_front_configure(&serving->front, own->text) < 0)
		console_error(serving->console, "the front is behind: alerts stay as they were");
	serving->restarts = !is_same_capture(serving->own.text, own->text);
	free_reread(serving->reread);
	serving->reread = options;
	console_note(serving->console, "read %s again%s", own->config,
		     serving->restarts ? "; the capture begins anew" : "");
	if (serving->restarts)
		stop_signals_request(serving->signals);
	else
		notify("READY=1");
}

static uint64_t look(void *context, _unused_ struct live_run *run, _unused_ uint64_t now_ns)
{
	struct serving *serving = context;

	if (!serving->restarts && atomic_exchange(&serving->hangup, false))
		reload(serving);
	return UINT64_MAX;
}

/* The front goes on: where it listens and writes stays. */
static int begin_anew(struct serving *serving, struct error *error)
{
	struct serve_options before = serving->own;
	int err;

	serving->restarts = false;
	live_run_free(serving->run);
	serving->run = NULL;
	choose_options(serving, serving->reread ? serving->reread : serving->options);
	if (serving->reread) {
		free_reread(serving->used);
		serving->used = serving->reread;
		serving->reread = NULL;
	}
	serving->own.listen = before.listen;
	serving->own.store = before.store;
	err = live_run_new(&serving->live, &serving->run, error);
	if (err < 0)
		return err;
	live_run_keep_apart(serving->run);
	return live_run_set_stop(serving->run, stop_signals_fd(serving->signals), error);
}

/* ---- the run ---- */

static int collect_once(struct serving *serving)
{
	const struct live_observer observer = {look, take_slice, serving};
	struct error error;
	enum run_end end;
	int err = live_run_start(serving->run, &error), stop_err;

	if (err < 0)
		return fail(serving, &error,
			    err == -ESRCH ? EXIT_STATUS_EMPTY : EXIT_STATUS_NOT_ALLOWED);
	say_where(serving);
	notify("READY=1");
	err = live_run_until_end(serving->run, &observer, &end);
	notify("STOPPING=1");
	stop_err = live_run_stop(serving->run);
	send_slice(serving, live_run_finish(serving->run, &observer));
	err = err < 0 ? err : stop_err;
	if (err < 0) {
		error_set(&error, -err,
			  "recording aborted: %s; the history holds the slices up "
			  "to then",
			  strerror(-err));
		return fail(serving, &error, EXIT_STATUS_FAILED);
	}
	return EXIT_STATUS_DONE;
}

static int collect(struct serving *serving)
{
	struct error error;
	int status = collect_once(serving);

	while (status == EXIT_STATUS_DONE && serving->restarts &&
	       stop_signals_withdraw(serving->signals)) {
		if (begin_anew(serving, &error) < 0)
			return fail(serving, &error, EXIT_STATUS_FAILED);
		status = collect_once(serving);
	}
	return status;
}

static int end_front(struct serving *serving, int status)
{
	if (!serving->has_front || (serve_front_stop(&serving->front) == 0 && !serving->err))
		return status;
	console_error(serving->console,
		      "the process that keeps the history ended; start pkbpf serve again");
	return EXIT_STATUS_FAILED;
}

static int serve_run(const struct cli_options *options, struct console *console)
{
	const struct serve_options *own = options->own;
	struct serving serving = {.console = console, .log = console_log(console)};
	int status = EXIT_STATUS_DONE;

	choose_options(&serving, options);
	if (own->check_config) {
		console_note(console, "%s is fine", own->config);
	} else {
		status = prepare(&serving);
		if (status == EXIT_STATUS_DONE)
			status = collect(&serving);
		status = end_front(&serving, status);
	}
	live_run_free(serving.run);
	stop_signals_free(serving.signals);
	free_reread(serving.used);
	free_reread(serving.reread);
	free(serving.token);
	free(own->text);
	free(own->applied);
	return status;
}

static int read_config(struct serve_options *own, struct error *error)
{
	size_t size;
	int err = file_read_all(AT_FDCWD, own->config, SERVE_CONFIG_MAX_BYTES, &own->text, &size);

	if (err < 0)
		return error_set(error, -err, "cannot read --config %s: %s", own->config,
				 strerror(-err));
	own->applied = strdup(own->text);
	return own->applied ? 0
			    : error_set(error, ENOMEM, "cannot read the options: out of memory");
}

static int check_config(struct cli_options *options, struct error *error)
{
	struct serve_options *own = options->own;
	struct serve_config config;
	struct error inner;
	int err;

	if (own->check_config && !own->config)
		return error_set(error, EINVAL, "--check-config requires --config");
	if (!own->config)
		return 0;
	err = read_config(own, error);
	if (err < 0)
		return err;
	err = serve_config_apply(&command_serve, own->applied, options, &inner);
	if (err == 0) {
		err = serve_config_read(own->text, &config, &inner);
		serve_config_done(&config);
	}
	return err < 0 ? error_set(error, EINVAL, "%s: %s", own->config, inner.text) : 0;
}

static int check_all(struct cli_options *options, struct error *error)
{
	const struct serve_options *own = options->own;

	if (check_config(options, error) < 0)
		return -EINVAL;
	if (own->slice_ns && (own->slice_ns < SLICE_MIN_NS || own->slice_ns > SLICE_MAX_NS))
		return error_set(error, EINVAL, "invalid value for --interval: expected 1s to 1m");
	if (!option_name_is_given("frequency", options))
		options->live.frequency_hz = FREQUENCY_HZ;
	return options_check_profile(options, error);
}

/* "0.1%" of the machine */
static int parse_max_cpu(void *context, const char *value, struct error *error)
{
	struct serve_options *own = context;
	double percent;
	int used = 0;

	if (sscanf(value, "%lf%%%n", &percent, &used) != 1 || !used || value[used] ||
	    !(percent >= 0.01 && percent <= 100))
		return error_set(error, EINVAL,
				 "invalid value '%s' for --max-cpu: expected 0.01%% to 100%%",
				 value);
	own->max_cpu = percent / 100;
	return 0;
}

static int serve_check(struct cli_options *options, struct error *error)
{
	struct serve_options *own = options->own;
	int err = check_all(options, error);

	if (err < 0) {
		free(own->text);
		free(own->applied);
		own->text = own->applied = NULL;
	}
	return err;
}

#define SERVE(member) OPTION_AT(struct serve_options, member)

static const struct option_row own_options[] = {
	{0, "listen", "ADDRESS:PORT|PATH", "where to answer; default " SERVE_LISTEN,
	 .group = OPTION_GROUP_OUTPUT, .form = OPTION_TEXT, SERVE(listen),
	 .text = "[::1]:PORT for IPv6; a path is a socket in the file system. An address that "
		 "other "
		 "machines reach requires --token-file."},
	{0, "store", "DIR", "folder of the history; default " SERVE_STORE,
	 .group = OPTION_GROUP_OUTPUT, .completes = OPTION_COMPLETES_FILE, .form = OPTION_TEXT,
	 SERVE(store), .text = "Made when it is not there. It is written as the user who owns it."},
	{0, "store-size", "SIZE", "maximum size of the history; default 1G",
	 .group = OPTION_GROUP_OUTPUT, .form = OPTION_SIZE, SERVE(store_bytes),
	 .least = STORE_MIN_BYTES, .most = STORE_MAX_BYTES,
	 .text = "The oldest is deleted first. At most, slices are kept for six hours, minutes for "
		 "three days, tens of minutes for three weeks, hours for 400 days."},
	{0, "max-cpu", "PERCENT",
	 "shed detail while serve costs more than this share of all CPUs; default no limit",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_PARSED, .parse = parse_max_cpu,
	 SERVE(max_cpu),
	 .text = "A minute above it sheds waits, stacks of page faults, block I/O, and CPU samples "
		 "beyond 7 Hz, one after the other; ten minutes below half of it take one up "
		 "again. Each step is in the log and in the metric pkbpf_detail_step, and begins a "
		 "new capture. CPU time, memory and I/O of processes stay exact."},
	{0, "config", "FILE", "options, alerts and who is told of them; see CONFIGURATION",
	 .group = OPTION_GROUP_GENERAL, .completes = OPTION_COMPLETES_FILE, .form = OPTION_TEXT,
	 SERVE(config), .text = "SIGHUP reads it again. The command line overrides it."},
	{0, "check-config", NULL, "check the configuration and do nothing",
	 .group = OPTION_GROUP_GENERAL, .form = OPTION_FLAG, SERVE(check_config)},
	{0, "token-file", "FILE", "answer only requests with the token in FILE",
	 .group = OPTION_GROUP_OUTPUT, .completes = OPTION_COMPLETES_FILE, .form = OPTION_TEXT,
	 SERVE(token_file)},
	{0, "inline", NULL, "show inlined functions: reads the debug information of each program",
	 .group = OPTION_GROUP_OUTPUT, .form = OPTION_FLAG, SERVE(inlines)},
	{'s', "interval", "TIME", "length of a slice, 1s to 1m; default 10s",
	 .group = OPTION_GROUP_OUTPUT, .form = OPTION_DURATION, SERVE(slice_ns)},
	{0},
};

const struct command_row command_serve = {
	.name = "serve",
	.synopsis = "serve [OPTIONS]",
	.summary = "Profiles all the time: keeps a history and answers over HTTP",
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
					 "unwind-tables",
					 "python",
					 "slow-io",
					 "wakers",
					 "min-block",
					 "max-overhead",
					 "max-memory",
					 "kernel-threads",
					 "quiet",
					 "verbose",
					 "color",
					 NULL},
	.words =
		(const struct command_words[]){
			{"events", "kinds of events (below), separated by commas; default: all but "
				   "offcpu"},
			{"frequency", "CPU samples per second on each CPU; default 19"},
			{NULL, NULL},
		},
	.own_options = own_options,
	.own_size = sizeof(struct serve_options),
	.check = serve_check,
	.run = serve_run,
};
