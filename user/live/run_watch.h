/* SPDX-License-Identifier: BSD-2-Clause */
/* When a run ends: a signal, the duration, or the end of everything it was about. */
#ifndef PKBPF_LIVE_RUN_WATCH_H
#define PKBPF_LIVE_RUN_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum run_end {
	RUN_GOES_ON,
	RUN_STOPPED, /* somebody wants it */
	RUN_TIME_IS_UP,
	RUN_TARGETS_ENDED, /* every process and thread added exited, or the cgroups are gone */
};

struct run_watch;
struct cgroup_paths;

struct run_watch *run_watch_new(struct error *error);
/* fd (borrowed) becomes readable when somebody wants the run to stop. */
int run_watch_set_stop(struct run_watch *watch, int fd, struct error *error);
/* Stops the run when fd (borrowed), an output, has no reader any more. Files and terminals always
 * have one. */
int run_watch_set_output(struct run_watch *watch, int fd, struct error *error);
/* Takes pidfd over; -1: the process is asked for by number instead. */
int run_watch_add_process(struct run_watch *watch, uint32_t pid, int pidfd, struct error *error);
int run_watch_add_thread(struct run_watch *watch, uint32_t tid, struct error *error);
/* Directories of target cgroups, which may become more; borrowed. awaits_more: their end is not the
 * run's. */
void run_watch_set_cgroups(struct run_watch *watch, const struct cgroup_paths *cgroups,
			   bool awaits_more);
/* fd (borrowed): somebody else reads it, before each check. */
int run_watch_add_fd(struct run_watch *watch, int fd, struct error *error);
/* Readable when run_watch_check may have news; threads, a cgroup and the duration have to be asked
 * for. */
int run_watch_fd(const struct run_watch *watch);
/* deadline_ns: CLOCK_MONOTONIC, 0 for none. */
enum run_end run_watch_check(struct run_watch *watch, uint64_t now_ns, uint64_t deadline_ns);
void run_watch_free(struct run_watch *watch);

#endif
