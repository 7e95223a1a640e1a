/* SPDX-License-Identifier: BSD-2-Clause */
/* A profile that is being taken: session, sources and everything between them and the finished
 * profile. */
#ifndef PKBPF_CLI_LIVE_PROFILE_H
#define PKBPF_CLI_LIVE_PROFILE_H

#include "capture/session/session.h"
#include "profile/profile.h"
#include "source/source_options.h"

struct live_options {
	struct session_options session; /* what it points to is borrowed until live_profile_free */
	struct source_options sources;
	bool inlines, lines;
	uint32_t user_uid; /* the user behind sudo, 0: none */
};

struct live_profile;

/* Returns when events flow. Errors as those of capture/session/session.h. */
int live_profile_start(const struct live_options *options, struct live_profile **ret_live,
		       struct error *error);
/* Sleeps until fd is readable, the kernel has something or timeout_ms have passed, then takes in
 * what there is. Always the same fd. Negative errno only when the capture is broken. */
int live_profile_wait(struct live_profile *live, int fd, int timeout_ms);
/* Processes that are targets by now: session_targets_now(). */
int live_profile_targets(const struct live_profile *live, struct u32_list *ret_pids);
/* CLOCK_MONOTONIC, of the interval. */
uint64_t live_profile_start_ns(const struct live_profile *live);
void live_profile_counters(struct live_profile *live, uint64_t ret_counters[PKBPF_COUNTER_COUNT]);
/* No event after this; what is still on its way is taken in. */
int live_profile_stop(struct live_profile *live);
/* Closes the capture (no counters, waits or stops after it), names the frames and fills in what the
 * run was and what it cost; after stop. targets: text for people. */
struct profile *live_profile_finish(struct live_profile *live, const char *targets);
/* Fills in anew what the run has cost, after something that the finish did not count. */
void live_profile_note_cost(struct live_profile *live);
/* As noted last, for those who have no report made, which says the same. */
void live_profile_log_cost(const struct live_profile *live);
void live_profile_free(struct live_profile *live);

#endif
