/* SPDX-License-Identifier: BSD-2-Clause */
/* A running capture: session, sources, and everything up to the finished profile. */
#ifndef PKBPF_LIVE_LIVE_CAPTURE_H
#define PKBPF_LIVE_LIVE_CAPTURE_H

#include "capture/session/session.h"
#include "live/live_gpu.h"
#include "live/live_machine.h"
#include "profile/profile.h"
#include "source/source_options.h"

struct live_capture_options {
	struct session_options session; /* what it points to is borrowed until live_capture_free */
	struct source_options sources;
	uint64_t trace_ns; /* struct aggregator_options */
	uint64_t names_ns; /* max_names_ns of struct aggregator_options; 0: the default */
	bool goes_on;	   /* interval after interval: what helps later is started at once */
	bool inlines, lines;
	bool python_full;	      /* keep the native frames that run Python frames */
	uint64_t debuginfod_limit_ns; /* 0: no servers are asked for debug files */
	bool machine;		      /* energy, temperature, frequency of the machine */
	enum live_gpu_mode gpu;
	struct nvml_keeper *nvml;    /* borrowed; NULL: NVML is not asked */
	struct live_counted counted; /* counters of the CPUs */
	uint32_t user_uid;	     /* the user behind sudo, 0: none */
	uint32_t user_gid;
	const char *user_home; /* borrowed like the session's; NULL: not known */
};

struct live_capture;

/* Returns when events flow. Errors as those of capture/session/session.h. */
int live_capture_start(const struct live_capture_options *options, struct live_capture **ret_live,
		       struct error *error);
/* Sleeps until fd is readable, the kernel has something or timeout_ms have passed, then takes in
 * what there is. Always the same fd. Negative errno only when the capture is broken. */
int live_capture_wait(struct live_capture *live, int fd, int timeout_ms);
/* Ends a slice and begins the next one. Errors as those of session/session.h; the slice goes on
 * where there was no memory for another. */
int live_capture_cut(struct live_capture *live);
/* A slice that is over, with its frames symbolized, but for the last one; the caller frees it
 * before anything else is done with the capture. NULL: none is closed yet. targets: text for
 * people. */
struct profile *live_capture_take_slice(struct live_capture *live, const char *targets);
/* How long to wait at most for the next turn, when nothing else calls for less than most_ms. */
int live_capture_rest_ms(const struct live_capture *live, int most_ms);
/* Processes that are targets by now: session_targets_now(). */
int live_capture_targets(const struct live_capture *live, struct u32_list *ret_pids);
/* Targets that live, have records, and have mapped HotSpot's library. */
int live_capture_jvms(const struct live_capture *live, struct u32_list *ret_pids);
/* Adds a target: session_set_cgroup(). */
int live_capture_set_cgroup(struct live_capture *live, size_t place, const char *path,
			    struct error *error);
/* What is left out from now on, beside what a limit of the options leaves out. */
void live_capture_shed(struct live_capture *live, const struct pkbpf_shed_control *wanted);
/* CLOCK_MONOTONIC, of the interval. */
uint64_t live_capture_start_ns(const struct live_capture *live);
void live_capture_counters(struct live_capture *live, uint64_t ret_counters[PKBPF_COUNTER_COUNT]);
/* No event after this; what is still on its way is taken in. */
int live_capture_stop(struct live_capture *live);
/* After stop: no more events are taken in. Then live_capture_take_slice() gives all slices but the
 * last, which live_capture_finish() gives. */
void live_capture_end(struct live_capture *live);
/* Closes the capture (no counters, waits or stops after it), names the frames and fills in what the
 * run was and what it cost; after the end. targets: text for people. The profile is the last slice,
 * and belongs to the capture. */
struct profile *live_capture_finish(struct live_capture *live, const char *targets);
/* Fills in anew what the run has cost, after something that the finish did not count. */
void live_capture_note_cost(struct live_capture *live);
/* As noted last, for those who have no report made, which says the same. */
void live_capture_log_cost(const struct live_capture *live);
void live_capture_free(struct live_capture *live);

#endif
