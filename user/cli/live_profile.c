// SPDX-License-Identifier: BSD-2-Clause
/* Assembles the way of a sample from the kernel to the profile, and takes it apart again. */
#include "cli/live_profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "capture/kernel/map_memory.h"
#include "process/file/file_servers.h"
#include "profile/aggregator.h"
#include "profile/kind_table.h"
#include "profile/shrink/process_merge.h"
#include "profile/shrink/profile_merge.h"
#include "source/source.h"

/* Memory of stacks, see struct aggregator_options. */
#define MERGE_BYTES	(8U << 20)
#define MAX_STACK_BYTES (64U << 20)
/* Of a quarter of a second, while thousands of new programs get their names. */
#define MOST_NAMING_NS (NS_PER_SECOND / 10)
/* Two to three KiB each. */
#define MAX_ENDED_TASKS (1U << 13)
/* 80 bytes each; twice as many as the kernel side knows by heart. */
#define MAX_NUMBERED_STACKS (1U << 17)

/* After a look for mapped files that nobody uses, of which there are nearly as many as there can
 * be, a rest so many times as long, within bounds: one takes 50 to 400 ms. */
struct rest {
	uint64_t times, most_ns;
};
static const struct rest rest_after_use = {20, 10 * NS_PER_SECOND};
static const struct rest rest_after_little_use = {400, 60 * NS_PER_SECOND};
#define FORGET_FILES_LEAST_REST_NS (NS_PER_SECOND / 2)
/* Places get their names before it, but not for longer than this: what has none by then keeps its
 * file. */
#define FORGET_FILES_NAMING_NS (10 * NS_PER_SECOND)

struct live_profile {
	struct live_options options;
	struct mapped_file_table *files;
	struct process_table *processes;
	struct profile *profile;
	struct aggregator *aggregator;
	struct event_sink sink;
	struct session *session;
	struct source_set *sources;
	struct symbolizer_options symbolizer_options;
	struct symbolizer *symbolizer;
	uint64_t next_forget_ns; /* files are not forgotten before */
	uint64_t naming_end_ns;	 /* places get their names first, until then; 0: not begun */
	uint64_t start_ns, end_ns;
	int64_t start_unix_ns;
	uint64_t start_cpu_ns; /* of this program, until then */
};

static uint64_t timeval_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_usec * 1000;
}

static bool name_kernel_address(void *context, uint64_t address, char *text, size_t size)
{
	struct live_profile *live = context;

	return live->session && session_name_kernel_address(live->session, address, text, size);
}

/* Everything behind the record stream. */
static int assemble(struct live_profile *live, struct error *error)
{
	struct aggregator_options options = {
		.per_thread = live->options.session.per_thread,
		.want_user = live->options.session.want_user_stack,
		.want_kernel = live->options.session.want_kernel_stack,
		.slow_io_limit = live->options.sources.blockio.slow_count,
		.merge_bytes = MERGE_BYTES,
		.max_bytes = MAX_STACK_BYTES,
		.most_naming_ns = MOST_NAMING_NS,
		.max_ended_tasks = MAX_ENDED_TASKS,
		.max_numbered_stacks = MAX_NUMBERED_STACKS,
	};

	live->files = mapped_file_table_new("");
	if (live->files) {
		file_servers_set_log(mapped_file_table_servers(live->files),
				     live->options.session.log);
		live->processes = process_table_new(live->files);
	}
	if (live->processes)
		live->profile = profile_new(live->processes);
	if (live->profile)
		live->aggregator = aggregator_new(&options, live->profile);
	if (!live->aggregator)
		return error_set(error, ENOMEM, "cannot start profiling: out of memory");
	live->sink = aggregator_sink(live->aggregator);
	live->symbolizer_options = (struct symbolizer_options){
		.inlines = live->options.inlines,
		.lines = live->options.lines,
		.kallsyms_path = "/proc/kallsyms",
		.kernel_namer = {name_kernel_address, live},
		.root = "",
		.debug_dir = "/usr/lib/debug",
		.user_uid = live->options.user_uid,
		.log = live->options.session.log,
	};
	/* Without one (out of memory) frames stay addresses. */
	live->symbolizer = symbolizer_chain_new(&live->symbolizer_options, live->processes);
	return 0;
}

static void mark_frames(const struct profile *profile, bool *is_used)
{
	for (size_t i = 0; i < profile_frame_count(profile); i++) {
		const struct frame_location *location =
			&profile_frame(profile, (uint32_t)i)->location;

		if (location->space == FRAME_FILE)
			is_used[location->object] = true;
	}
}

static int forget_files(struct live_profile *live)
{
	size_t count = mapped_file_table_count(live->files);
	_cleanup_free_ bool *is_used = calloc(count + 1, sizeof(*is_used));

	if (!is_used)
		return -ENOMEM;
	if (aggregator_forget_places(live->aggregator))
		return -ENOMEM;
	mark_frames(live->profile, is_used);
	process_table_mark_files(live->processes, is_used);
	session_mark_files(live->session, is_used, count);
	session_forget_files(live->session, is_used, count);
	if (live->symbolizer)
		symbolizer_forget_files(live->symbolizer, is_used, count);
	return mapped_file_table_forget(live->files, is_used);
}

static int start_capture(struct live_profile *live, struct error *error)
{
	const struct log *log = live->options.session.log;
	uint64_t begin_ns = clock_now_ns();
	int err;

	live->options.session.processes = live->processes;
	err = session_new(&live->options.session, &live->session, error);
	if (err < 0)
		return err;
	err = source_set_configure(live->session, &live->options.sources, &live->sources, error);
	if (err < 0)
		return err;
	err = session_load(live->session, error);
	if (err < 0)
		return err;
	log_info(log, "BPF programs loaded after %.1f ms",
		 (double)(clock_now_ns() - begin_ns) / 1e6);
	err = session_start(live->session, &live->sink, error);
	if (err < 0)
		return err;
	err = source_set_attach(live->sources, error);
	if (err < 0)
		return err;
	live->start_ns = clock_now_ns();
	source_set_begin(live->sources, live->start_ns);
	/* What the kernel counts for each thread is held against the length of the interval: that
	 * is read first, at both ends. */
	err = session_begin_interval(live->session, error);
	if (err < 0)
		return err;
	err = source_set_look(live->sources, SOURCE_EDGE_BEGUN, error);
	if (err < 0)
		return err;
	live->start_unix_ns = (int64_t)clock_read_ns(CLOCK_REALTIME);
	live->start_cpu_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	log_info(log, "profiling since %.1f ms after the start",
		 (double)(live->start_ns - begin_ns) / 1e6);
	/* The stacks of those that wait are read while they still do: a command is about to be let
	 * go. */
	err = source_set_poll(live->sources, &live->sink);
	return err < 0 ? error_set(error, -err, "cannot read what the kernel has sampled: %s",
				   strerror(-err))
		       : 0;
}

int live_profile_start(const struct live_options *options, struct live_profile **ret_live,
		       struct error *error)
{
	struct live_profile *live = calloc(1, sizeof(*live));
	int err;

	if (!live)
		return error_set(error, ENOMEM, "cannot start profiling: out of memory");
	live->options = *options;
	err = assemble(live, error);
	if (err == 0)
		err = start_capture(live, error);
	if (err < 0) {
		live_profile_free(live);
		return err;
	}
	*ret_live = live;
	return 0;
}

static void keep_stack(void *context, uint64_t stack_id)
{
	aggregator_keep_stack(context, stack_id);
}

/* A run without an end must not take ever more memory. */
static void limit_memory(struct live_profile *live)
{
	size_t bytes = profile_stack_bytes(live->profile),
	       ended = profile_ended_processes(live->profile);
	uint64_t begin_ns = clock_now_ns();
	int done;

	/* A wait of an hour names the stack that was sent when it began. */
	if (aggregator_forgets_stacks(live->aggregator))
		source_set_each_stack(live->sources, keep_stack, live->aggregator);
	done = live->symbolizer ? aggregator_limit_memory(live->aggregator, live->symbolizer) : 0;
	if (done < 0)
		log_warning(
			live->options.session.log,
			"cannot reduce the memory of stacks and exited processes: out of memory");
	if (done > 0)
		log_info(live->options.session.log,
			 "stacks take %.1f MiB, %.1f before; %zu exited processes with their own "
			 "row, %zu before: %.1f ms",
			 (double)profile_stack_bytes(live->profile) / (1 << 20),
			 (double)bytes / (1 << 20), profile_ended_processes(live->profile), ended,
			 (double)(clock_now_ns() - begin_ns) / 1e6);
}

static uint64_t rest_ns(const struct rest *rest, uint64_t took_ns)
{
	uint64_t ns = took_ns * rest->times;

	if (ns < FORGET_FILES_LEAST_REST_NS)
		return FORGET_FILES_LEAST_REST_NS;
	return ns < rest->most_ns ? ns : rest->most_ns;
}

/* Only places with names tell which read the same. true: nothing more can be named, or has to be.
 */
static bool places_are_named(struct live_profile *live, uint64_t now_ns)
{
	if (!live->naming_end_ns)
		live->naming_end_ns = now_ns + FORGET_FILES_NAMING_NS;
	if (live->symbolizer && !aggregator_name_places(live->aggregator, live->symbolizer) &&
	    now_ns < live->naming_end_ns)
		return false;
	live->naming_end_ns = 0;
	return true;
}

/* Those of programs that nobody runs any more, and of which the profile has nothing left, make room
 * for others. */
static void limit_files(struct live_profile *live)
{
	size_t before = mapped_file_table_live_count(live->files), left;
	uint64_t begin_ns, end_ns;

	if (!mapped_file_table_is_nearly_full(live->files))
		return;
	begin_ns = clock_now_ns();
	if (begin_ns < live->next_forget_ns || !places_are_named(live, begin_ns))
		return;
	if (forget_files(live) < 0)
		log_warning(live->options.session.log,
			    "cannot release unused mapped files: out of memory");
	left = mapped_file_table_live_count(live->files);
	end_ns = clock_now_ns();
	live->next_forget_ns =
		end_ns + rest_ns(left < before / 8 * 7 ? &rest_after_use : &rest_after_little_use,
				 end_ns - begin_ns);
	log_info(live->options.session.log, "%zu mapped files in memory, %zu before: %.1f ms", left,
		 before, (double)(end_ns - begin_ns) / 1e6);
}

int live_profile_wait(struct live_profile *live, int fd, int timeout_ms)
{
	int err = session_wait(live->session, fd, timeout_ms);

	if (err < 0 && err != -EINTR)
		return err;
	err = session_look(live->session);
	if (err < 0)
		return err;
	limit_memory(live);
	limit_files(live);
	return source_set_poll(live->sources, &live->sink);
}

int live_profile_targets(const struct live_profile *live, struct u32_list *ret_pids)
{
	return session_targets_now(live->session, ret_pids);
}

uint64_t live_profile_start_ns(const struct live_profile *live)
{
	return live->start_ns;
}

void live_profile_counters(struct live_profile *live, uint64_t ret_counters[PKBPF_COUNTER_COUNT])
{
	session_counters(live->session, ret_counters);
}

int live_profile_stop(struct live_profile *live)
{
	struct error error;

	source_set_look(live->sources, SOURCE_EDGE_ENDING, &error);
	live->end_ns = clock_now_ns();
	source_set_end(live->sources, live->end_ns);
	/* What the sources have measured is there all the same. */
	if (session_end_interval(live->session, &error) < 0)
		log_warning(live->options.session.log, "%s; the report has no resource tables",
			    error.text);
	if (source_set_look(live->sources, SOURCE_EDGE_ENDED, &error) < 0)
		log_warning(live->options.session.log,
			    "%s; counts of unfinished events are not exact", error.text);
	source_set_detach(live->sources);
	return session_stop(live->session);
}

/* snprintf cuts what is too long, and that is meant. */
static void copy_text(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
}

/* What the capture counts itself is complete; the rest was counted on the way into the profile. */
static void fill_counters(struct live_profile *live, uint64_t counters[PKBPF_COUNTER_COUNT])
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

static void fill_info(struct live_profile *live, const char *targets)
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

void live_profile_note_cost(struct live_profile *live)
{
	struct profile_info *info = profile_info(live->profile);
	struct rusage own = {0};

	info->own_pid = (uint32_t)getpid();
	if (getrusage(RUSAGE_SELF, &own) == 0) {
		info->own_cpu_ns = timeval_ns(own.ru_utime) + timeval_ns(own.ru_stime);
		info->max_resident_bytes = (uint64_t)own.ru_maxrss * 1024;
	}
}

void live_profile_log_cost(const struct live_profile *live)
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

struct profile *live_profile_finish(struct live_profile *live, const char *targets)
{
	uint64_t begin_ns;

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
	if (live->symbolizer)
		profile_symbolize(live->profile, live->symbolizer);
	log_info(live->options.session.log, "%zu frames symbolized in %.1f ms",
		 profile_frame_count(live->profile), (double)(clock_now_ns() - begin_ns) / 1e6);
	live_profile_note_cost(live);
	return live->profile;
}

void live_profile_free(struct live_profile *live)
{
	if (!live)
		return;
	source_set_free(live->sources);
	session_free(live->session);
	aggregator_free(live->aggregator);
	profile_free(live->profile);
	symbolizer_free(live->symbolizer);
	process_table_free(live->processes);
	mapped_file_table_free(live->files);
	free(live);
}
