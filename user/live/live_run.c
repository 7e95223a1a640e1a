// SPDX-License-Identifier: BSD-2-Clause
/* Joins targets, their end, a command of ours and the capture. */
#include "live/live_run.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "live/command_launch.h"
#include "live/container_watch.h"
#include "live/jvm_map.h"
#include "live/live_capture.h"
#include "live/live_readers.h"
#include "live/memory_limit.h"
#include "live/python_calls.h"
#include "live/sampler_check.h"
#include "live/target_check.h"
#include "process/cgroup/cgroup.h"
#include "process/cgroup/container_match.h"
#include "reader/readers.h"
#include "source/alloc/allocator_operators.h"
#include "source/alloc/sampler_library.h"
#include "source/source.h"
#include "unwind/table/loader.h"

/* How often the rings are looked at when nothing calls for it earlier, as one that is half full
 * does. Waking costs more than the few CPU samples that lie there (see
 * capture/session/drain_pace.h), and processes are heard of soon enough; other sources poll maps
 * that must not fill up. */
#define CPU_LOOK_INTERVAL_MS 1000
/* Half-full rings and new processes wake it earlier. */
#define SPARING_LOOK_MS		    250
#define LOOK_INTERVAL_MS	    100
#define DEFAULT_DEBUGINFOD_LIMIT_NS (30 * NS_PER_SECOND)
/* An interval of this length can afford names of its own, a few ten milliseconds: then memory does
 * not depend on how long a capture has been running. Its edge may come a little early. */
#define LONG_INTERVAL_NS (60 * NS_PER_SECOND)
#define NAMES_EARLY_NS	 NS_PER_SECOND

struct live_run {
	struct live_options options;
	struct run_watch *watch;
	struct command *command;
	uint32_t command_pid; /* 0: none */
	struct cgroup_paths cgroups;
	struct container_watch *containers; /* NULL: none were asked for */
	struct readers *readers;	    /* NULL: this process reads files of targets */
	struct nvml_keeper *nvml;	    /* NULL: NVML is not asked */
	struct python_calls *python_calls;  /* NULL: they are not counted */
	struct live_capture *capture;
	uint64_t next_slice_ns, next_interval_ns; /* cuts that are due; UINT64_MAX: none */
	uint64_t interval_end_ns;		  /* of the interval that is handed on */
};

/* ---- targets ---- */

static int watch_process(struct live_run *run, uint32_t pid, struct error *error)
{
	int pidfd;
	int err = target_check_process(pid, &pidfd, error);

	return err < 0 ? err : run_watch_add_process(run->watch, pid, pidfd, error);
}

static int find_cgroup(struct live_run *run, struct error *error)
{
	char **path = array_add(&run->cgroups);

	if (!path)
		return error_set(error, ENOMEM, "cannot start profiling: out of memory");
	return target_check_cgroup(run->options.targets.cgroup_path, path, error);
}

static int find_containers(struct live_run *run, struct error *error)
{
	const char *text = run->options.targets.container;
	const struct container_choice choice = {text, "", &run->cgroups, run->options.log};
	struct cgroup_root *root = cgroup_root_open();
	int err;

	if (!root)
		return error_set(error, ENOTSUP,
				 "cannot profile container %s: no cgroup v2 hierarchy is mounted; "
				 "mount one, or use --pid with --children",
				 text);
	err = container_watch_new(&choice, root, &run->containers, error);
	if (err == 0 && container_watch_fd(run->containers) >= 0)
		err = run_watch_add_fd(run->watch, container_watch_fd(run->containers), error);
	return err;
}

/* Others of this name may start, or the same one again, while there is time. */
static bool awaits_containers(const struct live_run *run)
{
	const char *text = run->options.targets.container;

	return text && (run->options.duration_ns || container_is_pattern(text));
}

static int watch_targets(struct live_run *run, struct error *error)
{
	const struct live_targets *targets = &run->options.targets;
	int err = 0;

	run->watch = run_watch_new(error);
	if (!run->watch)
		return -ENOMEM;
	for (size_t i = 0; i < targets->pids.count && err == 0; i++)
		err = watch_process(run, targets->pids.items[i], error);
	for (size_t i = 0; i < targets->tids.count && err == 0; i++) {
		err = target_check_thread(targets->tids.items[i], error);
		if (err == 0)
			err = run_watch_add_thread(run->watch, targets->tids.items[i], error);
	}
	if (err == 0 && targets->cgroup_path)
		err = find_cgroup(run, error);
	if (err == 0 && targets->container)
		err = find_containers(run, error);
	if (err == 0)
		run_watch_set_cgroups(run->watch, &run->cgroups, awaits_containers(run));
	return err;
}

/* Of the whole machine only what was started with the sampler can be sampled. */
static void warn_of_sampler(const struct live_options *options)
{
	const struct live_targets *targets = &options->targets;

	if (options->kinds_mask & 1U << PKBPF_PROFILE_ALLOC && !targets->command &&
	    !targets->pids.count)
		log_warning(options->log,
			    "only processes that were started by pkbpf --alloc, or are "
			    "chosen by --pid, have allocations sampled");
}

int live_run_new(const struct live_options *options, struct live_run **ret_run, struct error *error)
{
	struct live_run *run = calloc(1, sizeof(*run));
	int err;

	if (!run)
		return error_set(error, ENOMEM, "cannot start profiling: out of memory");
	run->options = *options;
	err = watch_targets(run, error);
	if (err < 0) {
		live_run_free(run);
		return err;
	}
	warn_of_sampler(options);
	*ret_run = run;
	return 0;
}

static int prepare_sampler(struct live_run *run, struct command_libraries *libraries,
			   struct error *error)
{
	const struct alloc_options *options = &run->options.sources.alloc;

	if (options->interval_bytes)
		snprintf(libraries->interval, sizeof(libraries->interval), "%llu",
			 (unsigned long long)options->interval_bytes);
	libraries->python_objects = options->python_objects;
	return sampler_library_find(libraries->sampler, sizeof(libraries->sampler), error);
}

/* Without it regions of NVTX and ITT are missing, and nothing else. */
static void prepare_regions(struct live_run *run, struct command_libraries *libraries)
{
	const struct region_options *options = &run->options.sources.regions;
	struct error error;

	if ((options->wanted || options->frames) &&
	    preload_library_find(REGIONS_LIBRARY_NAME, libraries->regions,
				 sizeof(libraries->regions), &error))
		log_info(run->options.log, "%s", error.text);
}

static int prepare_python_calls(struct live_run *run, const struct invoking_user *user,
				struct command_libraries *libraries, struct error *error)
{
	const struct live_options *options = &run->options;
	int err;

	if (!options->python_calls && !options->python_lines)
		return 0;
	err = preload_library_find(PYTHON_CALLS_LIBRARY_NAME, libraries->python_calls,
				   sizeof(libraries->python_calls), error);
	err = err ? err : python_calls_new(user, &run->python_calls, error);
	if (!err)
		snprintf(libraries->python_folder, sizeof(libraries->python_folder), "%s%s",
			 python_calls_path(run->python_calls),
			 options->python_lines ? ":lines" : "");
	return err;
}

int live_run_launch(struct live_run *run, const sigset_t *mask, struct error *error)
{
	static const struct invoking_user nobody;
	const struct invoking_user *user = run->options.user ? run->options.user : &nobody;
	struct command_libraries libraries = {.sampler = ""};

	if (run->options.kinds_mask & 1U << PKBPF_PROFILE_ALLOC) {
		const char *name = run->options.targets.command[0];
		const char *reason = sampler_check_command(name);

		if (reason)
			log_warning(run->options.log,
				    "allocations of %s are not sampled: it %s; those of programs "
				    "that it starts are not sampled either",
				    name, reason);
		else if (prepare_sampler(run, &libraries, error))
			return -ECHILD;
		else
			allocator_operators_warn(name, run->options.log);
	}
	prepare_regions(run, &libraries);
	if (prepare_python_calls(run, user, &libraries, error))
		return -ECHILD;
	run->command = command_launch(run->options.targets.command, user, mask, &libraries, error);
	if (!run->command)
		return -ECHILD;
	run->command_pid = (uint32_t)command_pid(run->command);
	return watch_process(run, run->command_pid, error);
}

int live_run_set_stop(struct live_run *run, int fd, struct error *error)
{
	return run_watch_set_stop(run->watch, fd, error);
}

int live_run_set_output(struct live_run *run, int fd, struct error *error)
{
	return run_watch_set_output(run->watch, fd, error);
}

/* ---- the capture ---- */

/* 0: not wanted. */
static uint64_t debuginfod_limit_ns(const struct live_options *options)
{
	if (!options->debuginfod)
		return 0;
	return options->debuginfod_limit_ns ? options->debuginfod_limit_ns
					    : DEFAULT_DEBUGINFOD_LIMIT_NS;
}

static void ask_jvm(const struct live_run *run, uint32_t pid)
{
	struct error error;

	if (jvm_map_ask(pid, &error))
		log_warning(run->options.log, "%s", error.text);
}

/* 0: the default. */
static uint64_t unwind_table_bytes(const struct live_options *options)
{
	if (options->unwind_table_bytes || !options->max_memory_bytes)
		return options->unwind_table_bytes;
	return memory_limit_share(options->max_memory_bytes, 4, UNWIND_LOADER_TABLE_BYTES);
}

/* Whose instructions are counted: the session's targets, as perf events know them. */
static struct live_counted choose_counted(const struct live_run *run)
{
	const struct live_targets *targets = &run->options.targets;
	struct live_counted counted = {.wanted = run->options.want_counters};

	if (targets->comm)
		counted.refusal = "they cannot be limited to a comm; use --pid or --cgroup";
	else if (targets->container && run->cgroups.count != 1)
		counted.refusal = "those of several containers are not read; use --cgroup";
	else if (run->cgroups.count)
		counted.cgroup_path = run->cgroups.items[0];
	if (run->command_pid) {
		counted.pids = &run->command_pid;
		counted.pid_count = 1;
	} else if (targets->pids.count) {
		counted.pids = targets->pids.items;
		counted.pid_count = targets->pids.count;
	} else if (targets->tids.count) {
		counted.pids = targets->tids.items;
		counted.pid_count = targets->tids.count;
		counted.are_threads = true;
	}
	return counted;
}

int live_run_start(struct live_run *run, struct error *error)
{
	const struct live_options *options = &run->options;
	struct live_capture_options capture = {
		.session =
			{
				.want_user_stack = !options->kernel_only,
				.want_kernel_stack = !options->user_only,
				.want_resources = options->want_resources,
				.unwind_mode = options->unwind_mode,
				.want_python = options->python_mode != PKBPF_PYTHON_OFF,
				.unwind_table_bytes = unwind_table_bytes(options),
				.max_memory_bytes = options->max_memory_bytes,
				.kinds_mask = options->kinds_mask,
				.can_wait = sources_can_wait(options->kinds_mask),
				.sparing = options->sparing,
				.frequency_hz = options->frequency_hz,
				.per_thread = options->per_thread,
				.readers = run->readers,
				.log = options->log,
			},
		.sources = options->sources,
		.trace_ns = options->trace_ns,
		.machine = options->want_resources,
		.counted = choose_counted(run),
		.nvml = run->nvml,
		.gpu = options->want_resources ? options->gpu : LIVE_GPU_OFF,
		.names_ns = options->every_ns >= LONG_INTERVAL_NS
				    ? options->every_ns - NAMES_EARLY_NS
				    : 0,
		.goes_on = options->every_ns,
		.inlines = !options->no_inline,
		.lines = options->lines,
		.python_full = options->python_mode == PKBPF_PYTHON_FULL,
		.debuginfod_limit_ns = debuginfod_limit_ns(options),
	};

	if (options->user && options->user->behind_sudo) {
		capture.user_uid = options->user->uid;
		capture.user_gid = options->user->gid;
		capture.user_home = options->user->home;
	}
	/* What is replaced later has names, too. */
	for (size_t i = 0; i < options->targets.pids.count && options->jvm_map; i++)
		ask_jvm(run, options->targets.pids.items[i]);
	live_targets_choose(&options->targets, &run->cgroups, &run->command_pid, &capture.session);
	return live_capture_start(&capture, &run->capture, error);
}

void live_run_keep_apart(struct live_run *run)
{
	const char *wanted = secure_getenv("PKBPF_READERS");

	if (run->options.want_resources)
		run->nvml = live_gpu_ask_nvml(run->options.gpu,
					      live_gpu_look_ns(run->options.sources.regions.wanted),
					      run->options.log);
	if (!wanted || strcmp(wanted, "0") != 0)
		run->readers = live_readers_start(run->options.log);
}

int live_run_release(struct live_run *run, struct error *error)
{
	return command_release(run->command, error);
}

static int add_container(void *context, size_t place, const char *path)
{
	struct live_run *run = context;
	struct error error;

	/* It may have ended already. */
	if (live_capture_set_cgroup(run->capture, place, path, &error))
		log_info(run->options.log, "%s", error.text);
	return 0;
}

/* Adds the targets that live to those whose end is waited for. */
static int watch_live_targets(struct live_run *run)
{
	struct u32_list pids = {0};
	int err = live_capture_targets(run->capture, &pids);
	struct error error;

	for (size_t i = 0; i < pids.count && err == 0; i++) {
		int pidfd;

		/* One that exited meanwhile is nothing to wait for. */
		if (target_check_process(pids.items[i], &pidfd, &error) == 0)
			err = run_watch_add_process(run->watch, pids.items[i], pidfd, &error);
	}
	array_free(&pids);
	return err;
}

/* Descendants are targets, and may outlive the processes named. Those of a command may, too: its
 * end is the capture's. */
static int check_end(struct live_run *run, uint64_t now_ns, uint64_t deadline_ns,
		     enum run_end *ret_end)
{
	int err = run->containers ? container_watch_look(run->containers, add_container, run) : 0;

	if (err)
		return err;
	*ret_end = run_watch_check(run->watch, now_ns, deadline_ns);
	if (*ret_end != RUN_TARGETS_ENDED || run->command ||
	    run->options.targets.follow != PKBPF_FOLLOW_DESCENDANTS)
		return 0;
	err = watch_live_targets(run);
	if (err == 0)
		*ret_end = run_watch_check(run->watch, now_ns, deadline_ns);
	return err;
}

static int look_interval_ms(const struct live_options *options)
{
	if (options->sparing)
		return SPARING_LOOK_MS;
	return sources_can_wait(options->kinds_mask) ? CPU_LOOK_INTERVAL_MS : LOOK_INTERVAL_MS;
}

static int wait_timeout_ms(const struct live_run *run, uint64_t now_ns, uint64_t until_ns)
{
	int rest_ms = run->containers ? container_watch_rest_ms(run->containers) : -1;
	uint64_t look_ns =
		now_ns + NS_PER_MS * (uint64_t)live_capture_rest_ms(
					     run->capture, look_interval_ms(&run->options));

	if (look_ns < until_ns)
		until_ns = look_ns;
	if (rest_ms >= 0 && now_ns + NS_PER_MS * (uint64_t)rest_ms < until_ns)
		until_ns = now_ns + NS_PER_MS * (uint64_t)rest_ms;
	return until_ns > now_ns ? (int)((until_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS) : 0;
}

/* After a pause (a stopped virtual machine) the edges go on where they would have been. */
static uint64_t edge_after(uint64_t edge_ns, uint64_t length_ns, uint64_t time_ns)
{
	if (!length_ns || time_ns < edge_ns)
		return edge_ns;
	return edge_ns + (time_ns - edge_ns) / length_ns * length_ns + length_ns;
}

/* The length of the first two intervals. */
static uint64_t first_interval_ns(const struct live_run *run)
{
	const struct live_options *options = &run->options;

	return options->first_ns ? options->first_ns : options->every_ns;
}

/* CLOCK_MONOTONIC. */
static uint64_t live_run_start_ns(const struct live_run *run)
{
	return live_capture_start_ns(run->capture);
}

/* The end of the interval after one that ends at edge_ns and is over. */
static uint64_t next_edge(const struct live_run *run, uint64_t edge_ns, uint64_t time_ns)
{
	uint64_t first_ns = first_interval_ns(run),
		 second_ns = live_run_start_ns(run) + 2 * first_ns;

	if (edge_ns < second_ns && time_ns >= edge_ns && time_ns < second_ns)
		return second_ns;
	return edge_after(edge_ns, run->options.every_ns, time_ns);
}

static void begin_slices(struct live_run *run)
{
	const struct live_options *options = &run->options;
	uint64_t start_ns = live_run_start_ns(run);

	run->next_slice_ns = options->slice_ns ? start_ns + options->slice_ns : UINT64_MAX;
	run->next_interval_ns = options->every_ns ? start_ns + first_interval_ns(run) : UINT64_MAX;
	run->interval_end_ns = run->next_interval_ns;
}

/* Hands closed slices on. false: the observer has had enough. */
static bool pass_slices(struct live_run *run, const struct live_observer *observer)
{
	bool goes_on = true;
	struct profile *slice;
	char targets[512];

	live_targets_describe(&run->options.targets, targets, sizeof(targets));
	while ((slice = live_capture_take_slice(run->capture, targets))) {
		uint64_t end_ns = profile_info_read(slice)->end_ns;
		bool ends_interval = end_ns >= run->interval_end_ns;

		run->interval_end_ns = next_edge(run, run->interval_end_ns, end_ns);
		if (observer && observer->slice)
			goes_on =
				observer->slice(observer->context, slice, ends_interval) && goes_on;
		profile_free(slice);
	}
	return goes_on;
}

/* An interval begins with a slice of its own. */
static int cut_when_due(struct live_run *run, uint64_t now_ns)
{
	const struct live_options *options = &run->options;
	bool ends_interval = now_ns >= run->next_interval_ns;

	if (!ends_interval && now_ns < run->next_slice_ns)
		return 0;
	if (ends_interval && options->slice_ns)
		run->next_slice_ns = run->next_interval_ns;
	run->next_slice_ns = edge_after(run->next_slice_ns, options->slice_ns, now_ns);
	run->next_interval_ns = next_edge(run, run->next_interval_ns, now_ns);
	return live_capture_cut(run->capture);
}

static uint64_t next_cut_ns(const struct live_run *run)
{
	return run->next_slice_ns < run->next_interval_ns ? run->next_slice_ns
							  : run->next_interval_ns;
}

int live_run_until_end(struct live_run *run, const struct live_observer *observer,
		       enum run_end *ret_end)
{
	uint64_t deadline_ns = 0;
	int err = 0;

	if (run->options.duration_ns)
		deadline_ns = live_run_start_ns(run) + run->options.duration_ns;
	begin_slices(run);
	while (err == 0) {
		uint64_t now_ns = clock_now_ns(), until_ns = UINT64_MAX;

		err = check_end(run, now_ns, deadline_ns, ret_end);
		if (err < 0 || *ret_end != RUN_GOES_ON)
			return err;
		err = cut_when_due(run, now_ns);
		if (err < 0)
			return err;
		if (!pass_slices(run, observer)) {
			*ret_end = RUN_STOPPED;
			return 0;
		}
		if (observer && observer->look)
			until_ns = observer->look(observer->context, run, now_ns);
		if (next_cut_ns(run) < until_ns)
			until_ns = next_cut_ns(run);
		if (deadline_ns && deadline_ns < until_ns)
			until_ns = deadline_ns;
		err = live_capture_wait(run->capture, run_watch_fd(run->watch),
					wait_timeout_ms(run, now_ns, until_ns));
	}
	return err;
}

void live_run_counters(struct live_run *run, uint64_t ret_counters[PKBPF_COUNTER_COUNT])
{
	live_capture_counters(run->capture, ret_counters);
}

void live_run_shed(struct live_run *run, const struct pkbpf_shed_control *wanted)
{
	live_capture_shed(run->capture, wanted);
}

/* Compiled code has the names of the last map: those of the whole interval, but for code that was
 * replaced meanwhile. */
static void ask_jvms_at_end(struct live_run *run)
{
	struct u32_list pids = {0};

	if (!run->options.jvm_map || live_capture_jvms(run->capture, &pids))
		return;
	for (size_t i = 0; i < pids.count; i++)
		if (jvm_map_is_jvm(pids.items[i]))
			ask_jvm(run, pids.items[i]);
	array_free(&pids);
}

int live_run_stop(struct live_run *run)
{
	int err = live_capture_stop(run->capture);

	ask_jvms_at_end(run);
	return err;
}

static void collect_python_calls(const struct live_run *run, struct profile *last)
{
	const struct log *log = run->options.log;

	if (python_calls_collect(run->python_calls, last) < 0)
		log_warning(log, "counts of Python calls are missing: out of memory");
	else if (!profile_python_calls(last)->items.count)
		log_warning(log,
			    "no Python calls were counted: the command started no CPython "
			    "that takes libraries from LD_PRELOAD (static programs, those "
			    "with set-user-ID, and programs that load libpython later do not)");
}

struct profile *live_run_finish(struct live_run *run, const struct live_observer *observer)
{
	struct profile *last;
	char targets[512];

	live_capture_end(run->capture);
	pass_slices(run, observer);
	live_targets_describe(&run->options.targets, targets, sizeof(targets));
	last = live_capture_finish(run->capture, targets);
	if (run->python_calls)
		collect_python_calls(run, last);
	return last;
}

void live_run_note_cost(struct live_run *run)
{
	live_capture_note_cost(run->capture);
	live_capture_log_cost(run->capture);
}

/* ---- the command ---- */

bool live_run_has_command(const struct live_run *run)
{
	return run->command != NULL;
}

bool live_run_command_runs(struct live_run *run)
{
	return run->command && run_watch_check(run->watch, clock_now_ns(), 0) == RUN_GOES_ON;
}

void live_run_signal_command(struct live_run *run, int signal_number)
{
	if (run->command)
		command_signal(run->command, signal_number);
}

void live_run_wait_for_command(struct live_run *run)
{
	struct pollfd fd = {.fd = run_watch_fd(run->watch), .events = POLLIN};

	while (live_run_command_runs(run))
		poll(&fd, 1, -1);
}

int live_run_command_status(struct live_run *run)
{
	return command_wait(run->command);
}

void live_run_free(struct live_run *run)
{
	if (!run)
		return;
	live_capture_free(run->capture);
	readers_stop(run->readers);
	nvml_keeper_stop(run->nvml);
	command_free(run->command);
	python_calls_free(run->python_calls);
	run_watch_free(run->watch);
	container_watch_free(run->containers);
	array_foreach(&run->cgroups, path)
		free(*path);
	array_free(&run->cgroups);
	free(run);
}
