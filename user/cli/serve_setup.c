// SPDX-License-Identifier: BSD-2-Clause
/* From options to a front that answers and a capture that is ready. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/unused.h"
#include "capture/kernel/capability.h"
#include "capture/kernel/privileges.h"
#include "cli/exit_status.h"
#include "cli/option_check.h"
#include "cli/serve_config.h"
#include "cli/serve_defaults.h"
#include "cli/serve_private.h"
#include "cli/serve_token.h"
#include "cli/serve_user.h"

#define STORE_BYTES  (1ULL << 30)
#define MAX_CPU	     0.001 /* of the machine */
#define LEAST_CPU    0.002 /* of one CPU */
#define REGIONS_COST 0.005 /* of one CPU */

int serving_fail(const struct serving *serving, const struct error *error, int status)
{
	console_error(serving->console, "%s", error->text);
	return status;
}

static void nothing_to_abandon(_unused_ void *context)
{
}

static void note_hangup(void *context)
{
	struct serving *serving = context;

	atomic_store(&serving->hangup, true);
}

/* 0: no limit. A share of a small machine would be less than looking at it takes. */
static double max_cpu(const struct serve_options *own)
{
	double least = LEAST_CPU / (double)sysconf(_SC_NPROCESSORS_ONLN);

	if (own->max_cpu)
		return own->max_cpu < 0 ? 0 : own->max_cpu;
	return least > MAX_CPU ? least : MAX_CPU;
}

void serve_options_complete(struct serve_options *own)
{
	if (!own->listen)
		own->listen = SERVE_LISTEN;
	own->store = serve_store(own->store);
	if (!own->store_bytes)
		own->store_bytes = STORE_BYTES;
	if (!own->slice_ns)
		own->slice_ns = SERVE_SLICE_NS;
}

void serving_choose(struct serving *serving, const struct cli_options *options)
{
	const struct serve_options *own = options->own;

	serving->options = options;
	serving->own = *own;
	serving->live = options->live;
	serve_options_complete(&serving->own);
	serving->live.log = &serving->log;
	serving->live.every_ns = serving->own.slice_ns;
	serving->live.want_resources = true;
	serving->live.sparing = true;
	serving->live.no_inline = !own->inlines;
	serving->live.kinds_mask = serve_kinds(options);
	serving->asked = serving->live.kinds_mask;
	serving->live.sources.regions.budget_ppm =
		(uint32_t)((own->regions_cost ? own->regions_cost : REGIONS_COST) * 1e6 + 0.5);
	serving->governor.limit = max_cpu(own);
	if (own->max_cpu < 0)
		serving->governor.step = 0;
	/* Of other kinds there may be fewer steps. */
	while (serving->governor.step &&
	       !serve_governor_text(serving->governor.step, serving->asked)[0])
		serving->governor.step--;
	serving->live.kinds_mask = serve_governor_kinds(&serving->governor, serving->asked);
}

/* The configuration has what no other user than root may do: its path. "": nothing. */
static void find_closed(const char *text, char *ret_path, size_t size)
{
	struct serve_config config;
	struct error unused;
	int err = serve_config_read(text, &config, &unused);

	ret_path[0] = '\0';
	for (size_t i = 0; err == 0 && i < config.notify.count; i++)
		if (config.notify.items[i].way == NOTIFY_COMMAND &&
		    !serve_user_may_run(config.notify.items[i].where))
			snprintf(ret_path, size, "%s", config.notify.items[i].where);
	for (size_t i = 0; err == 0 && i < config.push.count; i++)
		if (config.push.items[i].way == PUSH_TEXTFILE &&
		    !serve_user_may_write(config.push.items[i].where))
			snprintf(ret_path, size, "%s", config.push.items[i].where);
	serve_config_done(&config);
}

static const char *choose_user(const struct serving *serving)
{
	char path[512];

	if (serving->own.run_as || geteuid() != 0 || !serving->own.text)
		return serving->own.run_as;
	find_closed(serving->own.text, path, sizeof(path));
	if (!path[0])
		return NULL;
	log_warning(&serving->log,
		    "the process that answers stays root, without capabilities: no other user may "
		    "use %s; move it, or name a user with --run-as",
		    path);
	return "root";
}

static int start_front(struct serving *serving, struct error *error)
{
	struct serve_front_options options = {
		.listen = serving->own.listen,
		.store = serving->own.store,
		.run_as = choose_user(serving),
		.store_bytes = serving->own.store_bytes,
		.token = serving->token,
		.open_metrics = serving->own.open_metrics,
		.slice_ns = serving->own.slice_ns,
		.config = serving->own.text,
		.console = serving->console,
	};
	int err = serve_front_start(&options, &serving->front, error);

	serving->first = serving->own;
	serving->has_front = err == 0;
	if (err == 0 && serving->front.is_root)
		log_warning(&serving->log,
			    "the process that answers stays root, without capabilities: other "
			    "users are not to be had here");
	if (err == 0 && serving->front.lacks_filter)
		log_warning(&serving->log,
			    "the process that answers may make any system call: seccomp is not to "
			    "be had here");
	return err;
}

int serving_prepare(struct serving *serving)
{
	sigset_t before;
	struct error error;
	int err;

	if (options_check_events(serving->options, serving->live.kinds_mask, &error) < 0)
		return serving_fail(serving, &error, EXIT_STATUS_USAGE);
	if (!capability_get(CAPABILITY_PRIVILEGED)->probe(&error))
		return serving_fail(serving, &error, EXIT_STATUS_NOT_ALLOWED);
	if ((serving->own.token_file &&
	     serve_token_read(serving->own.token_file, &serving->token, &error) < 0) ||
	    live_run_new(&serving->live, &serving->run, &error) < 0)
		return serving_fail(serving, &error, EXIT_STATUS_FAILED);
	/* The front inherits it: a Ctrl-C meant for all ends it when the collector has sent its
	 * last slice. */
	stop_signals_block(&before);
	err = start_front(serving, &error);
	if (err < 0)
		return serving_fail(serving, &error,
				    err == -EINVAL ? EXIT_STATUS_USAGE : EXIT_STATUS_FAILED);
	live_run_keep_apart(serving->run);
	if (privileges_reduce(false, &serving->log, &error) < 0)
		return serving_fail(serving, &error, EXIT_STATUS_FAILED);
	serving->signals = stop_signals_new(nothing_to_abandon, serving, &error);
	if (!serving->signals ||
	    live_run_set_stop(serving->run, stop_signals_fd(serving->signals), &error) < 0)
		return serving_fail(serving, &error, EXIT_STATUS_FAILED);
	if (serving->own.config)
		stop_signals_on_hangup(serving->signals, note_hangup);
	return EXIT_STATUS_DONE;
}
