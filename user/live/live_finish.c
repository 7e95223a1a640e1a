// SPDX-License-Identifier: BSD-2-Clause
/* Turns a capture that has stopped into a finished profile. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/kernel/map_memory.h"
#include "live/live_capture_private.h"
#include "profile/account/device_names.h"
#include "profile/kind_table.h"
#include "profile/shrink/process_merge.h"
#include "profile/shrink/profile_merge.h"
#include "symbol/elf/debuginfod.h"

static uint64_t timeval_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_usec * 1000;
}

/* snprintf cuts what is too long, and that is meant. */
static void copy_text(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
}

/* What the capture counts itself is complete; the rest was counted on the way into the profile. */
static void fill_counters(struct live_capture *live, uint64_t counters[PKBPF_COUNTER_COUNT])
{
	uint64_t captured[PKBPF_COUNTER_COUNT];

	session_counters(live->session, captured);
	for (size_t i = 0; i < PKBPF_COUNTER_COUNT; i++) {
		if (captured[i])
			counters[i] = captured[i];
	}
	counters[PKBPF_COUNTER_STACK_SHORTENED] = profile_shortened_events(live->profile);
	counters[PKBPF_COUNTER_PROCESSES_GROUPED] = profile_grouped_processes(live->profile);
}

static void fill_info(struct live_capture *live, const char *targets)
{
	const struct session_options *options = &live->options.session;
	struct profile_info *info = profile_info(live->profile);
	struct utsname machine = {0};

	uname(&machine);
	copy_text(info->host, sizeof(info->host), machine.nodename);
	snprintf(info->kernel, sizeof(info->kernel), "%s %s", machine.sysname, machine.release);
	copy_text(info->targets, sizeof(info->targets), targets);
	info->has_targets = options->target_mode != PKBPF_TARGET_HOST || options->comm;
	copy_text(info->cpu_event, sizeof(info->cpu_event),
		  source_set_event_name(live->sources, PKBPF_PROFILE_CPU));
	info->frequency_hz = options->frequency_hz;
	info->kinds_mask = options->kinds_mask;
	info->unwind_mode = options->unwind_mode;
	info->start_ns = live->start_ns;
	info->end_ns = live->end_ns;
	info->start_unix_ns = live->start_unix_ns;
	info->own_start_cpu_ns = live->start_cpu_ns;
	info->cpu_count = session_cpu_count(live->session);
	fill_counters(live, info->counters);
	info->bpf_map_bytes = map_memory_bytes("/proc/self");
	info->bpf_cpu_known = session_bpf_time_ns(live->session, &info->bpf_cpu_ns);
	if (options->kinds_mask & 1U << PKBPF_PROFILE_OFFCPU)
		info->bpf_limit_permille = live->options.sources.offcpu.max_overhead_permille;
}

void live_capture_note_cost(struct live_capture *live)
{
	struct profile_info *info = profile_info(live->profile);
	struct rusage own = {0};

	info->own_pid = (uint32_t)getpid();
	if (getrusage(RUSAGE_SELF, &own) == 0) {
		info->own_cpu_ns = timeval_ns(own.ru_utime) + timeval_ns(own.ru_stime);
		info->max_resident_bytes = (uint64_t)own.ru_maxrss * 1024;
	}
}

void live_capture_log_cost(const struct live_capture *live)
{
	const struct profile_info *info = profile_info(live->profile);
	char programs[32] = "not measured";

	if (info->bpf_cpu_known)
		snprintf(programs, sizeof(programs), "%.1f ms", (double)info->bpf_cpu_ns / 1e6);
	log_info(live->options.session.log,
		 "overhead: %.1f ms CPU time, BPF programs %s, peak RSS %.1f MiB",
		 (double)info->own_cpu_ns / 1e6, programs,
		 (double)info->max_resident_bytes / (1 << 20));
}

struct profile *live_capture_finish(struct live_capture *live, const char *targets)
{
	uint64_t begin_ns;

	aggregator_end(live->aggregator);
	live->profile = aggregator_take_closed(live->aggregator, UINT64_MAX);
	fill_info(live, targets);
	begin_ns = clock_now_ns();
	/* While the session's own BPF programs, which some stacks run through, still have names. */
	if (live->symbolizer)
		profile_symbolize_kernel(live->profile, live->symbolizer);
	log_info(live->options.session.log, "kernel frames symbolized in %.1f ms",
		 (double)(clock_now_ns() - begin_ns) / 1e6);
	/* The kernel's maps and rings give back their memory before symbol tables ask for some. */
	source_set_free(live->sources);
	live->sources = NULL;
	session_free(live->session);
	live->session = NULL;
	begin_ns = clock_now_ns();
	/* Without memory what was recorded stays as it is. */
	profile_kinds_finish(live->profile);
	if (live->debuginfod)
		debuginfod_allow(live->debuginfod);
	if (live->symbolizer)
		profile_symbolize(live->profile, live->symbolizer);
	log_info(live->options.session.log, "%zu frames symbolized in %.1f ms",
		 profile_frame_count(live->profile), (double)(clock_now_ns() - begin_ns) / 1e6);
	live_capture_note_cost(live);
	return live->profile;
}
