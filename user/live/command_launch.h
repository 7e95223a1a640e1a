/* SPDX-License-Identifier: BSD-2-Clause */
/* A command under profile: its process exists and waits before its program begins, so that
 * profiling can start first. */
#ifndef PKBPF_LIVE_COMMAND_LAUNCH_H
#define PKBPF_LIVE_COMMAND_LAUNCH_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "live/invoking_user.h"

struct command;

/* Libraries of ours (preload/) for a command. */
struct command_libraries {
	char sampler[PATH_MAX]; /* of allocations; empty: none */
	char interval[24];	/* decimal bytes; empty: the default */
	bool python_objects;
	/* Hands on the regions that programs mark with NVTX and ITT; empty: none. */
	char regions[PATH_MAX];
	char python_calls[PATH_MAX]; /* counts Python calls; empty: none */
	char python_folder[80];	     /* where it leaves them, as in pkbpf/python_calls.h */
};

/* Forks; libraries may be NULL. The child takes the signal mask `mask` and the rights of user (when
 * behind sudo), then waits. argv (borrowed) ends in NULL. NULL with the sentence on failure. */
struct command *command_launch(char *const argv[], const struct invoking_user *user,
			       const sigset_t *mask, const struct command_libraries *libraries,
			       struct error *error);
pid_t command_pid(const struct command *command);
/* Lets the program begin. On failure the negative errno of what failed, and the child is gone. */
int command_release(struct command *command, struct error *error);
/* As shells say it: 126 or 127 for a failure of command_release. */
int command_failure_status(int err);
/* Passes signal on, if the child has not ended. */
void command_signal(struct command *command, int signal_number);
/* Waits for the end: exit status, or 128 + signal. At once when it has been waited for already. */
int command_wait(struct command *command);
/* A child that was never released ends; one that runs goes on. NULL is fine. */
void command_free(struct command *command);

#endif
