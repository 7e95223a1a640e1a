/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture from its options to its profile, for the command line, a daemon, a live view and tests.
 * One owner thread; steps in this order:
 *
 *	live_run_new → (live_run_launch) → (live_run_keep_apart) → (live_run_set_stop) →
 *live_run_start → (live_run_release) → live_run_until_end → live_run_stop → live_run_finish →
 *live_run_free
 */
#ifndef PKBPF_LIVE_LIVE_RUN_H
#define PKBPF_LIVE_LIVE_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <pkbpf/counter.h>

#include "base/error.h"
#include "live/live_options.h"
#include "live/run_watch.h"
#include "profile/profile.h"

struct live_run;

/* Sees the capture while it runs. */
struct live_observer {
	/* Before each look at the rings; returns when to be called again at the latest
	 * (CLOCK_MONOTONIC, UINT64_MAX: with the next look). */
	uint64_t (*look)(void *context, struct live_run *run, uint64_t now_ns);
	/* Of each slice but the last, once it is closed; it dies with the call. false: the capture
	 * shall end. NULL: nobody asks. */
	bool (*slice)(void *context, struct profile *slice, bool ends_interval);
	void *context;
};

/* Checks that the targets exist. What options point to is borrowed until live_run_free. -ESRCH: a
 * target does not exist; -EINVAL: it is something else. */
int live_run_new(const struct live_options *options, struct live_run **ret_run,
		 struct error *error);
/* Forks the command of the targets, which waits for live_run_release. While the program has one
 * thread. mask: the signals that are blocked in it. -ECHILD. */
int live_run_launch(struct live_run *run, const sigset_t *mask, struct error *error);
/* Has files of targets read by processes without rights, which are forked now: while the program
 * has one thread, and before it gives up the right to become another user. Where there are none to
 * be had, a warning says so, and this process reads them, as it does with PKBPF_READERS=0 in the
 * environment. */
void live_run_keep_apart(struct live_run *run);
/* fd (borrowed) becomes readable when the capture shall stop. */
int live_run_set_stop(struct live_run *run, int fd, struct error *error);
/* Stops the capture when fd (borrowed), an output, has no reader any more. */
int live_run_set_output(struct live_run *run, int fd, struct error *error);
/* Loads and attaches; events flow when it returns. Errors as those of
 * capture/session/session.h. */
int live_run_start(struct live_run *run, struct error *error);
/* Lets the command begin. Errors as those of command_release(). */
int live_run_release(struct live_run *run, struct error *error);
/* Takes events in until the duration is over, all targets have exited or somebody stops it.
 * observer may be NULL. Negative errno: the capture is broken; what it has recorded is not. */
int live_run_until_end(struct live_run *run, const struct live_observer *observer,
		       enum run_end *ret_end);
/* So far; until live_run_finish. */
void live_run_counters(struct live_run *run, uint64_t ret_counters[PKBPF_COUNTER_COUNT]);
/* After the start: what is left out from now on, beside what a limit of the options leaves out. */
void live_run_shed(struct live_run *run, const struct pkbpf_shed_control *wanted);
/* No event after this; what is still on its way is taken in. */
int live_run_stop(struct live_run *run);
/* Closes the capture and symbolizes. The profile, that of the last slice, belongs to the run; the
 * observer (NULL: nobody) gets those before it. */
struct profile *live_run_finish(struct live_run *run, const struct live_observer *observer);
/* Fills in anew what the capture has cost, after work that the finish did not count. */
void live_run_note_cost(struct live_run *run);

/* The command, if there is one; any time. */
bool live_run_has_command(const struct live_run *run);
bool live_run_command_runs(struct live_run *run);
void live_run_signal_command(struct live_run *run, int signal_number);
/* Returns when the command has exited or somebody wants to stop. */
void live_run_wait_for_command(struct live_run *run);
/* Waits for its exit: exit status, or 128 + signal. */
int live_run_command_status(struct live_run *run);

/* A command that was never released ends; one that runs goes on. NULL is fine. */
void live_run_free(struct live_run *run);

#endif
