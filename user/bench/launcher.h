/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs commands one after the other in a process of its own, small and with one thread, so that
 * starting one costs the same each time and all of them have one ancestor. What a run took comes
 * from the kernel's account of its process and the children that it has waited for: no privileges
 * are needed. One owner thread.
 */
#ifndef PKBPF_BENCH_LAUNCHER_H
#define PKBPF_BENCH_LAUNCHER_H

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"
#include "live/invoking_user.h"

struct launcher_options {
	const struct invoking_user *user; /* as whom commands run */
	const sigset_t *mask;		  /* signals that are blocked in them */
	char **const *commands;		  /* argv each, borrowed until launcher_start returns */
	bool show_output;
	/* With readers, the first commands write to output_fd, and those from first_reader on read
	 * that from its begin and write to answer_fd. Files. */
	bool has_readers;
	int output_fd, answer_fd;
	uint32_t writers, first_reader;
	bool no_aslr;
	const cpu_set_t *cpus; /* where they may run; NULL: anywhere */
};

struct launch_result {
	uint32_t command;
	pid_t held; /* the command waits for launcher_release(); the rest is not known yet */
	bool started;
	int failure;			    /* errno of what prevented the start */
	char sentence[512];		    /* likewise, for people */
	int status;			    /* exit status, or 128 + signal */
	bool timed_out, ended;		    /* ended by launcher_cancel() or a time-out */
	uint64_t fork_ns, start_ns, end_ns; /* CLOCK_MONOTONIC */
	struct rusage usage;
	bool io_known;
	uint64_t read_bytes, written_bytes;
	/* Of its first thread alone; what it says of the whole run depends on run_ns. */
	bool delay_known;
	uint64_t run_ns, run_delay_ns;
	uint64_t stopped_ns;  /* of its first process */
	uint32_t left_behind; /* processes that are still there */
};

struct launcher;

/* Forks, while the program has one thread. NULL with the sentence. */
struct launcher *launcher_start(const struct launcher_options *options, struct error *error);
pid_t launcher_pid(const struct launcher *launcher);
/* Readable when a result is there. */
int launcher_fd(const struct launcher *launcher);
/* Starts a command by its index; timeout_ns: it is ended after that, 0: never. One at a time. */
int launcher_run(struct launcher *launcher, uint32_t command, uint64_t timeout_ns);
/* Forks a command that waits for launcher_release(), so that a capture of it can begin; then as
 * launcher_run(). -EAGAIN, -EPIPE. */
int launcher_hold(struct launcher *launcher, uint32_t command, uint64_t timeout_ns, pid_t *ret_pid);
int launcher_release(struct launcher *launcher);
/* Ends the command that runs; its result comes all the same. */
void launcher_cancel(struct launcher *launcher);
/* Waits for the result. -EPIPE: the launcher is gone. */
int launcher_result(struct launcher *launcher, struct launch_result *ret_result);
/* Ends what runs. NULL is fine. */
void launcher_free(struct launcher *launcher);

#endif
