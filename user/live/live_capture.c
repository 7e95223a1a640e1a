// SPDX-License-Identifier: BSD-2-Clause
/* Assembles the way of a sample from the kernel to the profile, and takes it apart again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/parse_value.h"
#include "capture/kernel/capability.h"
#include "live/live_capture_private.h"
#include "live/live_relations.h"
#include "live/memory_limit.h"
#include "process/file/file_servers.h"
#include "process/relation/process_counts.h"
#include "source/alloc/sampler_library.h"
#include "symbol/dwarf/inlined_copies.h"
#include "symbol/elf/data_namer.h"
#include "symbol/elf/debuginfod.h"
#include "symbol/jit/code_history.h"
#include "symbol/kernel/kernel.h"

/* Memory of stacks, see struct aggregator_options. */
#define MERGE_BYTES	(8U << 20)
#define MAX_STACK_BYTES (64U << 20)
/* Of a quarter of a second, while thousands of new programs get their names. */
#define MOST_NAMING_NS	 (NS_PER_SECOND / 10)
#define MAX_ENDED_TASKS	 (1U << 13)
#define ENDED_TASK_BYTES 2560
/* 80 bytes each; twice as many as the kernel side knows by heart. */
#define MAX_NUMBERED_STACKS (1U << 17)
/* Between two pieces of reading of perf maps, and two looks at them. */
#define CODE_REST_MS 10
#define CODE_LOOK_MS ((int)(CODE_HISTORY_LOOK_NS / NS_PER_MS))
/* How often the block devices are looked at: a folder of sysfs with a few entries. */
#define NOTE_DEVICES_NS		(NS_PER_SECOND / 10)
#define SPARING_NOTE_DEVICES_NS NS_PER_SECOND
/* A generation of names: what an endless row of intervals may hold of it, twice at most. */
#define MAX_NAMES_BYTES (24U << 20)
/* So does its age: places that were seen once would be kept as long as there is room. */
#define MAX_NAMES_NS (600 * NS_PER_SECOND)

static bool name_kernel_address(void *context, uint64_t address, char *text, size_t size)
{
	struct live_capture *live = context;

	return live->session && session_name_kernel_address(live->session, address, text, size);
}

/* Everything behind the record stream. */
static bool is_followed(void *context, uint32_t pid)
{
	const struct live_capture *live = context;

	return !live->session || session_follows(live->session, pid);
}

static int take_own_code(void *context, uint64_t start, uint64_t length)
{
	return own_code_add(context, start, length);
}

/* The kernel writes records of mappings, names and processes for us, in the programs that cause
 * them. Without memory, frames of our programs have the kernel's names. */
static void find_own_code(struct live_capture *live)
{
	static const char *const writers[] = {"perf_event_mmap",
					      "perf_event_comm",
					      "perf_event_fork",
					      "perf_event_task",
					      "perf_iterate_sb.constprop.0",
					      "perf_iterate_sb"};

	session_each_code(live->session, take_own_code, &live->own_code);
	for (size_t i = 0; i < ARRAY_SIZE(writers); i++) {
		uint64_t address, start, size;
		char text[256];

		if (session_find_kernel_function(live->session, writers[i], &address) &&
		    session_name_kernel_address(live->session, address, text, sizeof(text)) &&
		    kernel_text_range(text, address, &start, &size))
			own_code_add(&live->own_code, start, size);
	}
}

/* NULL: no command is started with the sampler. */
static struct library_watch *watch_sampler(struct live_capture *live)
{
	const struct session_options *session = &live->options.session;

	live->library_watch.name = SAMPLER_LIBRARY_NAME;
	if (!(session->kinds_mask & 1U << PKBPF_PROFILE_ALLOC) || !session->waiting_pid ||
	    library_watch_add(&live->library_watch, session->waiting_pid))
		return NULL;
	return &live->library_watch;
}

static struct aggregator_options choose_bounds(struct live_capture *live)
{
	uint64_t limit = live->options.session.max_memory_bytes;

	return (struct aggregator_options){
		.per_thread = live->options.session.per_thread,
		.want_user = live->options.session.want_user_stack,
		.want_kernel = live->options.session.want_kernel_stack,
		.slow_io_limit = live->options.sources.blockio.slow_count,
		.slow_region_limit = live->options.sources.regions.slow_count,
		.slow_request_limit = live->options.sources.context.slow_count,
		.slow_io_ns = live->options.sources.blockio.slow_ns,
		.trace_ns = live->options.trace_ns,
		.merge_bytes = memory_limit_share(limit, 64, MERGE_BYTES),
		.max_bytes = memory_limit_share(limit, 8, MAX_STACK_BYTES),
		.most_naming_ns = MOST_NAMING_NS,
		.max_ended_tasks =
			(uint32_t)memory_limit_share(limit, 16 * ENDED_TASK_BYTES, MAX_ENDED_TASKS),
		.max_numbered_stacks = MAX_NUMBERED_STACKS,
		.max_names_bytes = memory_limit_share(limit, 16, MAX_NAMES_BYTES),
		.max_names_ns = live->options.names_ns ? live->options.names_ns : MAX_NAMES_NS,
		.own_code = &live->own_code,
		.library_watch = watch_sampler(live),
		.is_followed = is_followed,
		.follow_context = live,
	};
}

static int assemble(struct live_capture *live, struct error *error)
{
	struct aggregator_options options = choose_bounds(live);
	struct profile *first = NULL;

	live->files = mapped_file_table_new("");
	if (live->files) {
		file_servers_set_log(mapped_file_table_servers(live->files),
				     live->options.session.log);
		if (live->options.goes_on)
			file_servers_keep_opener(mapped_file_table_servers(live->files));
		live->processes = process_table_new(live->files);
	}
	if (live->options.debuginfod_limit_ns)
		live->debuginfod = debuginfod_new(live->options.debuginfod_limit_ns);
	if (live->debuginfod)
		debuginfod_run_as(live->debuginfod,
				  &(struct debuginfod_user){live->options.user_uid,
							    live->options.user_gid,
							    live->options.user_home});
	live->symbolizer_options = (struct symbolizer_options){
		.inlines = live->options.inlines,
		.lines = live->options.lines,
		.kallsyms_path = "/proc/kallsyms",
		.kernel_namer = {name_kernel_address, live},
		.root = "",
		.debug_dir = "/usr/lib/debug",
		.user_uid = live->options.user_uid,
		.debuginfod = live->debuginfod,
		.readers = live->options.session.readers,
	};
	/* Without one (out of memory) frames stay addresses. */
	if (live->processes)
		live->symbolizer = symbolizer_chain_new(&live->symbolizer_options, live->processes);
	/* Without one, locks have no names. */
	live->data_namer =
		live->files ? data_namer_new(live->files, live->options.session.readers) : NULL;
	options.data_namer = live->data_namer;
	options.code_history = symbolizer_chain_code_history(live->symbolizer);
	options.python = symbolizer_chain_python(live->symbolizer);
	options.python_full = live->options.python_full;
	if (live->processes)
		first = profile_new(live->processes);
	if (first)
		live->aggregator = aggregator_new(&options, first);
	if (!live->aggregator) {
		profile_free(first);
		return error_set(error, ENOMEM, "cannot start profiling: out of memory");
	}
	live->sink = aggregator_sink(live->aggregator);
	return 0;
}

/* A device may be gone when its requests are read. */
static void note_devices(struct live_capture *live)
{
	uint64_t now_ns = clock_now_ns();

	if (!(live->options.session.kinds_mask & 1U << PKBPF_PROFILE_BLOCKIO) ||
	    now_ns < live->note_devices_ns)
		return;
	live->note_devices_ns = now_ns + (live->options.session.sparing ? SPARING_NOTE_DEVICES_NS
									: NOTE_DEVICES_NS);
	device_names_note(&live->device_names, "/sys");
}

/* Of a file whose functions are counted. It may be the target's own. */
#define INLINED_CPU_NS (4 * NS_PER_SECOND)

static int find_inlined(const struct elf_file *file, inlined_judge *is_meant, void *context,
			struct inlined_functions *functions)
{
	struct dwarf_budget budget = DWARF_BUDGET_FULL;

	budget.cpu_ns = INLINED_CPU_NS;
	return inlined_copies_find(file, &budget, is_meant, context, functions);
}

/* Programs and events are there and run. */
static int start_session(struct live_capture *live, struct error *error)
{
	const struct log *log = live->options.session.log;
	uint64_t begin_ns = clock_now_ns();
	struct error missing;
	int err;

	if (!capability_get(CAPABILITY_WHOLE_PROC)->probe(&missing))
		log_warning(log, "%s", missing.text);
	live->options.session.processes = live->processes;
	live->options.session.find_inlined = find_inlined;
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
	find_own_code(live);
	err = session_start(live->session, &live->sink, error);
	return err < 0 ? err : source_set_attach(live->sources, error);
}

static int begin_interval(struct live_capture *live, struct error *error)
{
	int err;

	live_relations_begin(live);
	live->start_ns = clock_now_ns();
	live->start_unix_ns = (int64_t)clock_read_ns(CLOCK_REALTIME);
	source_set_begin(live->sources, live->start_ns);
	/* What the kernel counts for each thread is held against the length of the interval: that
	 * is read first, at both ends. */
	err = session_begin_interval(live->session, error);
	if (err < 0)
		return err;
	err = source_set_look(live->sources, SOURCE_EDGE_BEGUN, error);
	if (err < 0)
		return err;
	if (live->options.machine) {
		live_machine_begin(&live->machine, "", &live->options.counted, clock_now_ns());
		live_disks_begin(&live->disks, "", clock_now_ns());
	}
	if (live->options.gpu != LIVE_GPU_OFF)
		live_gpu_begin(&live->gpu, "", live->options.nvml,
			       live_gpu_look_ns(live->options.sources.regions.wanted),
			       clock_now_ns());
	live->start_cpu_ns = live_cpu_ns(live);
	live_overhead_begin(live);
	return live_memory_begin(live, error);
}

static int start_capture(struct live_capture *live, struct error *error)
{
	uint64_t begin_ns = clock_now_ns();
	int err = start_session(live, error);

	if (err < 0)
		return err;
	err = begin_interval(live, error);
	if (err < 0)
		return err;
	log_info(live->options.session.log, "profiling since %.1f ms after the start",
		 (double)(live->start_ns - begin_ns) / 1e6);
	/* The stacks of those that wait are read while they still do: a command is about to be let
	 * go. */
	note_devices(live);
	err = source_set_poll(live->sources);
	return err < 0 ? error_set(error, -err, "cannot read what the kernel has sampled: %s",
				   strerror(-err))
		       : 0;
}

int live_capture_start(const struct live_capture_options *options, struct live_capture **ret_live,
		       struct error *error)
{
	struct live_capture *live = calloc(1, sizeof(*live));
	int err;

	if (!live)
		return error_set(error, ENOMEM, "cannot start profiling: out of memory");
	live->options = *options;
	err = assemble(live, error);
	if (err == 0)
		err = start_capture(live, error);
	if (err < 0) {
		live_capture_free(live);
		return err;
	}
	*ret_live = live;
	return 0;
}

int live_capture_wait(struct live_capture *live, int fd, int timeout_ms)
{
	int err = session_wait(live->session, fd, timeout_ms);

	if (err < 0 && err != -EINTR)
		return err;
	err = session_look(live->session);
	if (err < 0)
		return err;
	live_memory_limit(live);
	live_overhead_look(live);
	note_devices(live);
	live_machine_look(&live->machine, clock_now_ns());
	live_gpu_look(&live->gpu, clock_now_ns());
	return source_set_poll(live->sources);
}

int live_capture_cut(struct live_capture *live)
{
	const struct log *log = live->options.session.log;
	uint64_t begin_ns = clock_now_ns();
	struct live_edge *edge = array_add(&live->edges);
	struct error error;
	int err;

	if (!edge)
		return -ENOMEM;
	/* What is in the rings belongs to the slice that ends. */
	err = session_drain(live->session);
	if (aggregator_plan_cut(live->aggregator, begin_ns))
		live_memory_keep_stacks(live);
	if (source_set_cut(live->sources) < 0)
		log_warning(log, "some events are counted in the next interval: out of memory");
	*edge = (struct live_edge){.sequence = live->sequence++, .cpu_ns = live_cpu_ns(live)};
	live_memory_counters(live, edge->counters);
	session_bpf_time_ns(live->session, &edge->bpf_cpu_ns);
	if (session_cut(live->session, live->sequence, &error) < 0)
		log_warning(log, "%s", error.text);
	edge->machine = live_machine_cut(&live->machine, clock_now_ns());
	edge->gpu = live_gpu_cut(&live->gpu, clock_now_ns());
	edge->disks = live_disks_cut(&live->disks, clock_now_ns());
	log_info(log, "interval %llu ended in %.1f ms", (unsigned long long)edge->sequence,
		 (double)(clock_now_ns() - begin_ns) / 1e6);
	return err;
}

int live_capture_rest_ms(const struct live_capture *live, int most_ms)
{
	const struct code_history *code = symbolizer_chain_code_history(live->symbolizer);

	most_ms = source_set_rest_ms(live->sources, most_ms);
	if (live->reads_code)
		return CODE_REST_MS < most_ms ? CODE_REST_MS : most_ms;
	return code && code_history_is_busy(code) && most_ms > CODE_LOOK_MS ? CODE_LOOK_MS
									    : most_ms;
}

int live_capture_targets(const struct live_capture *live, struct u32_list *ret_pids)
{
	return session_targets_now(live->session, ret_pids);
}

static bool has_jvm(const struct live_capture *live, const struct process *process)
{
	const struct address_space *space = process_table_mappings(live->processes, process);
	const struct mapping_list *mappings = space ? address_space_mappings(space) : NULL;

	for (size_t i = 0; mappings && i < mappings->count; i++) {
		const struct mapped_file *file =
			mapping_has_file(&mappings->items[i])
				? mapped_file_table_get(live->files, mappings->items[i].file)
				: NULL;
		const char *name = file ? strrchr(file->path, '/') : NULL;

		if (name && !strcmp(name, "/libjvm.so"))
			return true;
	}
	return false;
}

int live_capture_jvms(const struct live_capture *live, struct u32_list *ret_pids)
{
	size_t count = process_table_count(live->processes);

	for (uint32_t id = 0; id < count; id++) {
		const struct process *process = process_table_by_id(live->processes, id);
		uint32_t *pid;

		if (!process || process->end_ns || !has_jvm(live, process) ||
		    !live_is_target(live, process->pid))
			continue;
		pid = array_add(ret_pids);
		if (!pid)
			return -ENOMEM;
		*pid = process->pid;
	}
	return 0;
}

int live_capture_set_cgroup(struct live_capture *live, size_t place, const char *path,
			    struct error *error)
{
	return session_set_cgroup(live->session, place, path, error);
}

uint64_t live_capture_start_ns(const struct live_capture *live)
{
	return live->start_ns;
}

void live_capture_counters(struct live_capture *live, uint64_t ret_counters[PKBPF_COUNTER_COUNT])
{
	live_memory_counters(live, ret_counters);
}

int live_capture_stop(struct live_capture *live)
{
	struct error error;
	int err;

	source_set_look(live->sources, SOURCE_EDGE_ENDING, &error);
	live->end_ns = clock_now_ns();
	source_set_end(live->sources, live->end_ns);
	/* What the sources have measured is there all the same. */
	if (session_end_interval(live->session, &error) < 0)
		log_warning(live->options.session.log, "%s; the report has no resource tables",
			    error.text);
	live->last_figures = live_machine_cut(&live->machine, clock_now_ns());
	live->last_gpu = live_gpu_cut(&live->gpu, clock_now_ns());
	live->last_disks = live_disks_cut(&live->disks, clock_now_ns());
	if (source_set_look(live->sources, SOURCE_EDGE_ENDED, &error) < 0)
		log_warning(live->options.session.log,
			    "%s; counts of unfinished events are not exact", error.text);
	source_set_detach(live->sources);
	live_relations_end(live);
	err = session_stop(live->session);
	source_set_settle(live->sources);
	return err;
}

void live_capture_free(struct live_capture *live)
{
	if (!live)
		return;
	process_counts_free(live->counts);
	live_machine_done(&live->machine);
	source_set_free(live->sources);
	session_free(live->session);
	aggregator_free(live->aggregator);
	library_watch_done(&live->library_watch);
	own_code_done(&live->own_code);
	device_names_done(&live->device_names);
	profile_free(live->profile);
	live_gpu_done(&live->gpu);
	gpu_list_done(&live->last_gpu.list);
	array_free(&live->last_disks.items);
	array_foreach(&live->edges, edge) {
		gpu_list_done(&edge->gpu.list);
		array_free(&edge->disks.items);
	}
	array_free(&live->edges);
	data_namer_free(live->data_namer);
	symbolizer_free(live->symbolizer);
	debuginfod_free(live->debuginfod);
	process_table_free(live->processes);
	mapped_file_table_free(live->files);
	free(live);
}
