// SPDX-License-Identifier: BSD-2-Clause
/* Turns a capture that has stopped into a finished profile. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/escape.h"
#include "live/live_capture_private.h"
#include "profile/account/device_names.h"
#include "profile/kind_table.h"
#include "profile/shrink/process_merge.h"
#include "profile/shrink/profile_merge.h"
#include "reader/readers.h"
#include "symbol/elf/debuginfod.h"
#include "symbol/jit/code_history.h"

static uint64_t timeval_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_usec * 1000;
}

/* snprintf cuts what is too long, and that is meant. */
static void copy_text(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
}

static void note_labels(const struct context_options *options, struct profile_info *info)
{
	struct context_labels labels;
	struct error error;

	if (context_labels_choose(options, &labels, &error) < 0)
		return;
	if (options->by_key)
		copy_text(info->label_key, sizeof(info->label_key), options->by_key);
	for (size_t i = 0; i < labels.count; i++)
		copy_text(info->label_keys[i], sizeof(info->label_keys[i]), labels.keys[i]);
}

static const struct live_edge *find_edge(const struct live_capture *live, uint64_t sequence)
{
	array_foreach(&live->edges, edge) {
		if (edge->sequence == sequence)
			return edge;
	}
	return NULL;
}

/* What the capture counts itself is complete; the rest was counted on the way into the profile. */
static void fill_counters(const struct profile *profile, const struct live_edge *before,
			  const uint64_t *captured, uint64_t counters[PKBPF_COUNTER_COUNT])
{
	for (size_t i = 0; i < PKBPF_COUNTER_COUNT; i++) {
		if (captured[i])
			counters[i] = captured[i] - (before ? before->counters[i] : 0);
	}
	counters[PKBPF_COUNTER_STACK_SHORTENED] = profile_cut_events(profile, PKBPF_END_SHORTENED);
	counters[PKBPF_COUNTER_MEMORY_STACKS_JOINED] =
		profile_cut_events(profile, PKBPF_END_OTHERS);
	counters[PKBPF_COUNTER_PROCESSES_GROUPED] = profile_grouped_processes(profile);
}

/* captured: at the end of the slice, which ends the capture or not. */
static void fill_expected(struct live_capture *live, const uint64_t *captured, bool is_last,
			  struct profile *profile)
{
	struct profile_account account = profile_account(profile);
	struct profile_info *info = profile_info(profile);

	if (!(info->kinds_mask & 1U << PKBPF_PROFILE_CPU))
		return;
	info->counters[PKBPF_COUNTER_CPU_EXPECTED] =
		is_last ? expected_samples_rest(&live->expected,
						captured[PKBPF_COUNTER_CPU_EXPECTED])
			: expected_samples_add_slice(&live->expected, &account);
}

/* Of a slice that ends with this edge; NULL: with the capture. */
static void fill_cost(struct live_capture *live, const struct live_edge *end,
		      struct profile *profile)
{
	struct profile_info *info = profile_info(profile);
	const struct live_edge *before =
		info->sequence ? find_edge(live, info->sequence - 1) : NULL;
	uint64_t counters[PKBPF_COUNTER_COUNT];

	if (!end)
		live_memory_counters(live, counters);
	fill_counters(profile, before, end ? end->counters : counters, info->counters);
	fill_expected(live, end ? end->counters : counters, !end, profile);
	info->bpf_cpu_known = session_bpf_time_ns(live->session, &info->bpf_cpu_ns);
	if (end)
		info->bpf_cpu_ns = end->bpf_cpu_ns;
	if (before && info->bpf_cpu_ns >= before->bpf_cpu_ns)
		info->bpf_cpu_ns -= before->bpf_cpu_ns;
	info->own_start_cpu_ns = before ? before->cpu_ns : live->start_cpu_ns;
}

/* Of a slice that ends with this edge; NULL: with the capture. Each once. */
static void hand_gpus(struct live_capture *live, const struct live_edge *end,
		      struct profile *profile)
{
	struct live_gpu_figures *figures =
		end ? &live->edges.items[end - live->edges.items].gpu : &live->last_gpu;
	struct gpu_list *list = profile_gpus(profile);
	struct profile_info *info = profile_info(profile);

	info->counters[PKBPF_COUNTER_GPU_CLIENTS_ENDED] = figures->ended;
	info->counters[PKBPF_COUNTER_GPU_LEFT_OUT] = figures->left_out;
	info->counters[PKBPF_COUNTER_GPU_USERS_UNTIMED] = figures->untimed;
	gpu_list_done(list);
	*list = figures->list;
	figures->list = (struct gpu_list){.devices.count = 0};
}

static void hand_disks(struct live_capture *live, const struct live_edge *end,
		       struct profile *profile)
{
	struct disk_list *disks =
		end ? &live->edges.items[end - live->edges.items].disks : &live->last_disks;
	struct disk_list *list = profile_disks(profile);

	array_free(&list->items);
	*list = *disks;
	*disks = (struct disk_list){.items.count = 0};
}

static void fill_info(struct live_capture *live, const char *targets, struct profile *profile)
{
	const struct session_options *options = &live->options.session;
	struct profile_info *info = profile_info(profile);
	const struct live_edge *end;
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
	info->trace_ns = live->options.trace_ns;
	if (!info->sequence) {
		info->start_ns = live->start_ns;
		info->start_unix_ns = live->start_unix_ns;
	}
	if (!info->end_ns)
		info->end_ns = live->end_ns;
	if (live->options.sources.regions.wanted || live->options.sources.regions.frames)
		info->regions_ns = info->end_ns - info->start_ns;
	if (live->options.sources.gpu_calls.wanted)
		info->gpu_calls_ns = info->end_ns - info->start_ns;
	note_labels(&live->options.sources.context, info);
	end = find_edge(live, info->sequence);
	fill_cost(live, end, profile);
	info->machine = end ? end->machine : live->last_figures;
	hand_gpus(live, end, profile);
	hand_disks(live, end, profile);
	info->cpu_count = session_cpu_count(live->session);
	info->bpf_map_bytes = live_memory_map_bytes(live, clock_now_ns());
	info->memory_limit_bytes = live->memory.limit_bytes;
	info->memory_peak_bytes = live->memory.peak_bytes;
	if (options->kinds_mask & 1U << PKBPF_PROFILE_OFFCPU)
		info->bpf_limit_permille = live->options.sources.offcpu.max_overhead_permille;
}

static void note_cost(const struct live_capture *live, struct profile_info *info)
{
	struct readers *readers = live->options.session.readers;
	struct rusage own = {0};

	info->own_pid = (uint32_t)getpid();
	info->keeper_pid = readers_keeper(readers);
	if (getrusage(RUSAGE_SELF, &own) == 0) {
		info->own_cpu_ns = timeval_ns(own.ru_utime) + timeval_ns(own.ru_stime) +
				   readers_cpu_ns(readers);
		info->max_resident_bytes =
			(uint64_t)own.ru_maxrss * 1024 + readers_memory_bytes(readers);
	}
}

void live_capture_note_cost(struct live_capture *live)
{
	note_cost(live, profile_info(live->profile));
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

/* The rest of what run-times wrote about their code. */
static void settle_code(struct live_capture *live, struct profile *profile)
{
	struct code_history *code = symbolizer_chain_code_history(live->symbolizer);
	uint64_t dropped;

	if (!code)
		return;
	code_history_settle(code);
	dropped = code_history_dropped(code);
	profile_info(profile)->counters[PKBPF_COUNTER_CODE_NAMES_DROPPED] =
		dropped - live->code_names_dropped;
	live->code_names_dropped = dropped;
}

/* Those before this slice are not needed any more. */
static void forget_edges(struct live_capture *live, uint64_t sequence)
{
	size_t left = 0;

	array_foreach(&live->edges, edge) {
		if (edge->sequence >= sequence)
			live->edges.items[left++] = *edge;
		else
			gpu_list_done(&edge->gpu.list);
	}
	live->edges.count = left;
}

struct profile *live_capture_take_slice(struct live_capture *live, const char *targets)
{
	struct profile *slice = aggregator_take_closed(live->aggregator, clock_now_ns());
	const struct live_edge *end;

	if (!slice) {
		/* The slice that was taken last has been freed. */
		if (live->was_taken)
			live_memory_release(live);
		live->was_taken = false;
		return NULL;
	}
	live->was_taken = true;
	if (aggregator_is_done(live->aggregator)) {
		live->profile = slice;
		return NULL;
	}
	fill_info(live, targets, slice);
	device_names_give(&live->device_names, slice);
	profile_kinds_finish(slice);
	settle_code(live, slice);
	if (live->symbolizer)
		profile_symbolize(slice, live->symbolizer);
	note_cost(live, profile_info(slice));
	end = find_edge(live, profile_info(slice)->sequence);
	if (end)
		profile_info(slice)->own_cpu_ns = end->cpu_ns;
	forget_edges(live, profile_info(slice)->sequence);
	return slice;
}

static void warn_of_programs_without_sampler(struct live_capture *live)
{
	struct library_watch *watch = &live->library_watch;
	char name[4 * sizeof(watch->first) + 1];

	library_watch_end(watch, live->end_ns);
	if (watch->unfollowed)
		log_warning(live->options.session.log,
			    "%llu processes of the command were not checked for the sampling "
			    "library: more than %d ran at a time",
			    (unsigned long long)watch->unfollowed, LIBRARY_WATCH_MAX);
	if (!watch->without)
		return;
	escape_terminal(name, sizeof(name), watch->first);
	log_warning(live->options.session.log,
		    "allocations of %llu program%s of the command are not sampled (the first: "
		    "%s): the sampling library is not loaded there, as in static programs, or with "
		    "another LD_PRELOAD or another user's rights",
		    (unsigned long long)watch->without, watch->without == 1 ? "" : "s", name);
}

void live_capture_end(struct live_capture *live)
{
	aggregator_end(live->aggregator);
	warn_of_programs_without_sampler(live);
}

struct profile *live_capture_finish(struct live_capture *live, const char *targets)
{
	uint64_t begin_ns;

	fill_info(live, targets, live->profile);
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
	device_names_give(&live->device_names, live->profile);
	/* Without memory what was recorded stays as it is. */
	profile_kinds_finish(live->profile);
	if (live->debuginfod)
		debuginfod_allow(live->debuginfod);
	settle_code(live, live->profile);
	if (live->symbolizer)
		profile_symbolize(live->profile, live->symbolizer);
	log_info(live->options.session.log, "%zu frames symbolized in %.1f ms",
		 profile_frame_count(live->profile), (double)(clock_now_ns() - begin_ns) / 1e6);
	live_capture_note_cost(live);
	return live->profile;
}
