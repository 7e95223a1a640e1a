// SPDX-License-Identifier: BSD-2-Clause
/* Slices from the capture to the front, as long as it runs. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/unused.h"
#include "cli/exit_status.h"
#include "cli/serve_notify.h"
#include "cli/serve_private.h"

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

/* Has the capture that runs leave out what the governor wants. */
static void serving_shed(struct serving *serving)
{
	const struct serve_governor *governor = &serving->governor;
	struct pkbpf_shed_control shed = serve_governor_shed(governor, serving->asked);

	live_run_shed(serving->run, &shed);
	serve_governor_left_out(governor, serving->asked, serving->left_out,
				sizeof(serving->left_out));
	serving->left_out_steps = governor->step;
	serving->front.detail_step = governor->step;
}

static void say_step(const struct serving *serving, int step)
{
	const struct serve_governor *governor = &serving->governor;
	unsigned int number = governor->step + (step < 0);

	console_error(
		serving->console,
		"serve has cost %.2f %% of the machine for %.0f s, --max-cpu is %.2f %%: %s %s "
		"(step %u)",
		100 * governor->last_share, (double)governor->last_ns / NS_PER_SECOND,
		100 * governor->limit, step > 0 ? "it leaves out" : "it takes up again",
		serve_governor_text(number, serving->asked), governor->step);
}

static void govern(struct serving *serving, const struct profile *slice)
{
	const struct profile_info *info = profile_info_read(slice);
	struct serve_governor *governor = &serving->governor;
	int step =
		serve_governor_add(governor, cost_of(serving, info), info->end_ns - info->start_ns,
				   info->cpu_count, serving->asked);

	if (!step)
		return;
	say_step(serving, step);
	if (serve_governor_kinds(governor, serving->asked) == serving->live.kinds_mask) {
		serving_shed(serving);
		return;
	}
	serving->restarts = true;
	stop_signals_request(serving->signals);
}

static void note_left_out(const struct serving *serving, struct profile *slice)
{
	struct profile_info *info = profile_info(slice);

	info->shed_steps = serving->left_out_steps;
	memcpy(info->shed, serving->left_out, sizeof(info->shed));
}

static bool take_slice(void *context, struct profile *slice, _unused_ bool ends_interval)
{
	struct serving *serving = context;

	note_left_out(serving, slice);
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

static uint64_t look(void *context, _unused_ struct live_run *run, _unused_ uint64_t now_ns)
{
	struct serving *serving = context;

	if (!serving->restarts && atomic_exchange(&serving->hangup, false))
		serving_reload(serving);
	return UINT64_MAX;
}

static int collect_once(struct serving *serving)
{
	const struct live_observer observer = {look, take_slice, serving};
	struct error error;
	struct profile *last;
	enum run_end end;
	int err = live_run_start(serving->run, &error), stop_err;

	if (err < 0)
		return serving_fail(serving, &error,
				    err == -ESRCH ? EXIT_STATUS_EMPTY : EXIT_STATUS_NOT_ALLOWED);
	serve_governor_begin(&serving->governor);
	serving_shed(serving);
	if (!serving->has_said_where)
		say_where(serving);
	serving->has_said_where = true;
	serve_notify("READY=1");
	err = live_run_until_end(serving->run, &observer, &end);
	/* systemd kills what has said so and does not end. */
	if (!serving->restarts)
		serve_notify("STOPPING=1");
	stop_err = live_run_stop(serving->run);
	last = live_run_finish(serving->run, &observer);
	note_left_out(serving, last);
	send_slice(serving, last);
	err = err < 0 ? err : stop_err;
	if (err < 0) {
		error_set(&error, -err,
			  "recording aborted: %s; the history holds the slices up "
			  "to then",
			  strerror(-err));
		return serving_fail(serving, &error, EXIT_STATUS_FAILED);
	}
	return EXIT_STATUS_DONE;
}

int serving_collect(struct serving *serving)
{
	struct error error;
	int status = collect_once(serving);

	while (status == EXIT_STATUS_DONE && serving->restarts &&
	       stop_signals_withdraw(serving->signals)) {
		if (serving_begin_anew(serving, &error) < 0)
			return serving_fail(serving, &error, EXIT_STATUS_FAILED);
		status = collect_once(serving);
	}
	return status;
}

int serving_end_front(struct serving *serving, int status)
{
	if (!serving->has_front || (serve_front_stop(&serving->front) == 0 && !serving->err))
		return status;
	console_error(serving->console,
		      "the process that keeps the history ended; start pkbpf serve again");
	return EXIT_STATUS_FAILED;
}
