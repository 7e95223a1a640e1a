// SPDX-License-Identifier: BSD-2-Clause
/* The source of regions: looks for programs that mark them, and drains their sums. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <pkbpf/span.h>
#include <pkbpf/syscall_sites.h>

#include "base/array.h"
#include "base/clock.h"
#include "capture/tracing_program.h"
#include "process/process_table.h"
#include "source/regions/region_callers.h"
#include "source/regions/regions_private.h"

#include "pkbpf.skel.h"

/* Rows, one for each path of regions in each process: 2.9 KB each. */
#define ROWS 2048U
/* Threads that have entered a region and live: 4.3 KB each. */
#define THREADS 1024U
/* Regions with an id that are open at one time. */
#define IDS 8192U
/* And of functions, with room for new ones before the old ones are gone. */
#define FUNCTION_SITES	 32768U
#define FREE_INTERVAL_NS (10 * NS_PER_SECOND)
#define CACHED_STACKS	 4096U
#if defined(__x86_64__)
#define HAS_FUNCTIONS 1
#else
#define HAS_FUNCTIONS 0
#endif
#define DRAIN_INTERVAL_NS (1 * NS_PER_SECOND)

static void regions_free(struct source *source)
{
	bpf_link__destroy(source->on_exit);
	bpf_link__destroy(source->on_exec);
	region_budget_free(source->budget);
	region_probes_free(source->probes);
	pair_budget_free(source->pair_budget);
	function_set_free(source->functions);
	syscall_set_free(source->syscalls);
	kernel_set_free(source->kernel);
	mapped_table_close(&source->row_table);
	mapped_table_close(&source->stack_table);
	mapped_table_close(&source->site_table);
	array_free(&source->pairs.items);
	for (size_t i = 0; i < REGION_PAIRS_MAX; i++)
		free(source->pair_texts[i]);
	region_files_done(&source->files);
	event_buffer_done(&source->buffer);
	free(source->rows.sent);
	free(source);
}

static bool regions_are_wanted(const struct source_options *options)
{
	return options->regions.wanted || options->regions.frames ||
	       options->regions.function_count || options->regions.syscall_count ||
	       options->regions.kernel_count;
}

static void regions_choose(struct pkbpf_bpf *skeleton, bool wanted)
{
	struct bpf_program *const programs[] = {
		skeleton->progs.span_enter, skeleton->progs.span_leave,
		skeleton->progs.span_items, skeleton->progs.span_begin,
		skeleton->progs.span_end,   skeleton->progs.span_python,
		skeleton->progs.span_exit,  skeleton->progs.span_exec,
		skeleton->progs.span_site,  skeleton->progs.span_function,
	};
	struct bpf_map *const maps[] = {
		skeleton->maps.span_threads,	skeleton->maps.span_stacks,
		skeleton->maps.span_rows,	skeleton->maps.span_row_index,
		skeleton->maps.span_ids,	skeleton->maps.span_free_stacks,
		skeleton->maps.span_free_rows,	skeleton->maps.span_sites,
		skeleton->maps.span_slow_users, skeleton->maps.span_callers,
		skeleton->maps.span_limits,	skeleton->maps.span_gaps,
	};

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		bpf_program__set_autoload(programs[i], wanted);
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		bpf_map__set_autocreate(maps[i], wanted);
}

static int size_maps(struct source *source, struct pkbpf_bpf *skeleton,
		     const struct region_options *options)
{
	uint32_t sites = REGION_SITES + (options->function_count ? FUNCTION_SITES : 0);
	int err = mapped_table_configure(&source->row_table, skeleton->maps.span_rows, ROWS);

	err = err ? err
		  : mapped_table_configure(&source->stack_table, skeleton->maps.span_stacks,
					   THREADS);
	source->first_syscall = sites;
	skeleton->rodata->first_syscall_site = sites;
	sites += options->syscall_count ? PKBPF_SYSCALLS : 0;
	source->first_kernel = sites;
	/* One more to measure the price with. */
	sites += options->kernel_count ? options->max_probes + 1 : 0;
	err = err ? err
		  : mapped_table_configure(&source->site_table, skeleton->maps.span_sites, sites);
	if (session_options(source->session)->kinds_mask & 1U << PKBPF_PROFILE_CALLS)
		err = err ? err
			  : bpf_map__set_max_entries(skeleton->maps.span_callers,
						     REGION_CALLERS_MAX);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.span_row_index, ROWS);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.span_gaps, ROWS);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.span_free_rows, ROWS);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.span_threads, THREADS);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.span_free_stacks, THREADS);
	return err ? err : bpf_map__set_max_entries(skeleton->maps.span_ids, IDS);
}

/* The built-in pairs, and those of the user, which have been checked. */
static int choose_pairs(struct source *source, const struct region_options *options)
{
	struct usdt_pair *item;

	for (size_t i = 0; usdt_pair_at(i); i++) {
		item = array_add(&source->pairs.items);
		if (!item)
			return -ENOMEM;
		*item = *usdt_pair_at(i);
	}
	for (size_t i = 0; i < options->pair_count; i++) {
		source->pair_texts[i] = strdup(options->pairs[i]);
		item = array_add(&source->pairs.items);
		if (!item || !source->pair_texts[i])
			return -ENOMEM;
		region_pair_parse(source->pair_texts[i], item);
	}
	return 0;
}

/* Of functions, whose calls nobody bounds but us. */
static int choose_pair_budget(struct source *source, const struct region_options *options)
{
	const struct pair_budget_options budget = {
		.pairs = &source->pairs,
		.cost_permille = options->cost_permille,
		.cpu_count = session_cpu_count(source->session),
		.log = session_options(source->session)->log,
		.probes = source->probes,
	};

	array_foreach(&source->pairs.items, pair)
		if (pair->of_functions)
			return pair_budget_new(&budget, &source->pair_budget);
	return 0;
}

/* Of markers and USDT probes, in captures that do not end. */
static int choose_budget(struct source *source, const struct region_options *options)
{
	const struct region_budget_options budget = {
		.cost_ppm = options->budget_ppm,
		.files = &source->files,
		.log = session_options(source->session)->log,
		.probes = source->probes,
		.processes = session_options(source->session)->processes,
	};

	if (!options->budget_ppm || !source->wants_marks)
		return 0;
	return region_budget_new(&budget, &source->budget);
}

/* Without it a program does not know at which place it is (5.15). */
static bool has_cookies(void)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_get_attach_cookie, NULL) > 0;
}

/* To end a link takes the kernel some milliseconds. */
#define FUNCTION_GROUPS 64

static int choose_functions(struct source *source, const struct region_options *options)
{
	const struct function_set_options functions = {
		.patterns = options->functions,
		.pattern_count = options->function_count,
		.most = options->max_probes,
		.groups = FUNCTION_GROUPS,
		.cost_permille = options->cost_permille,
		.cpu_count = session_cpu_count(source->session),
		.wants_callers =
			session_options(source->session)->kinds_mask & 1U << PKBPF_PROFILE_CALLS,
		.log = session_options(source->session)->log,
		.probes = source->probes,
	};

	return options->function_count ? function_set_new(&functions, &source->functions) : 0;
}

static int choose_syscalls(struct source *source, const struct region_options *options,
			   struct pkbpf_bpf *skeleton)
{
	const struct syscall_set_options syscalls = {
		.globs = options->syscalls,
		.glob_count = options->syscall_count,
		.cost_permille = options->cost_permille,
		.cpu_count = session_cpu_count(source->session),
		.log = session_options(source->session)->log,
	};

	syscall_set_choose(skeleton, options->syscall_count);
	return options->syscall_count ? syscall_set_new(&syscalls, &source->syscalls) : 0;
}

static int choose_kernel(struct source *source, const struct region_options *options,
			 struct pkbpf_bpf *skeleton, struct error *error)
{
	const struct kernel_set_options kernel = {
		.globs = options->kernel,
		.glob_count = options->kernel_count,
		.most = options->max_probes,
		.cost_permille = options->cost_permille,
		.cpu_count = session_cpu_count(source->session),
		.wants_callers =
			session_options(source->session)->kinds_mask & 1U << PKBPF_PROFILE_CALLS,
		.log = session_options(source->session)->log,
	};

	kernel_set_choose(skeleton, options->kernel_count);
	if (!options->kernel_count)
		return 0;
	if (!has_cookies())
		return error_set(error, ENOTSUP,
				 "cannot count functions of the kernel: --function kernel:NAME "
				 "needs Linux 5.15");
	return kernel_set_new(&kernel, skeleton, session_kernel_types(source->session),
			      &source->kernel, error);
}

static void leave_out_sites(struct pkbpf_bpf *skeleton)
{
	bpf_program__set_autoload(skeleton->progs.span_site, false);
	bpf_program__set_autoload(skeleton->progs.span_function, false);
}

/* What a region allocates is told by the stacks of allocations. */
static bool wants_frames(const struct session *session, const struct region_options *regions)
{
	return regions->frames || (regions->wanted && session_options(session)->kinds_mask &
							      1U << PKBPF_PROFILE_ALLOC);
}

static void configure_programs(struct source *source, struct pkbpf_bpf *skeleton,
			       const struct region_options *options)
{
	uint32_t kinds = session_options(source->session)->kinds_mask;

	skeleton->rodata->span_config.has_accounts = kinds & 1U << PKBPF_PROFILE_OFFCPU ? 1 : 0;
	skeleton->rodata->span_config.want_frames = wants_frames(source->session, options);
	source->wants_callers = kinds & 1U << PKBPF_PROFILE_CALLS;
	skeleton->rodata->span_config.want_callers = source->wants_callers;
	skeleton->rodata->span_config.counts_hits = source->budget != NULL;
	skeleton->rodata->span_config.slow_region_ns = options->slow_region_ns;
	skeleton->rodata->span_config.slow_function_ns = options->slow_function_ns;
	skeleton->rodata->span_config.want_slow =
		options->slow_region_ns != UINT64_MAX || options->slow_function_ns != UINT64_MAX;
}

/* What needs to know at which place a probe was hit. */
static int check_cookies(const struct region_options *options, struct error *error)
{
	if (options->budget_ppm && !has_cookies())
		return error_set(error, ENOTSUP,
				 "cannot record regions all the time: what their probes cost is "
				 "counted since Linux 5.15");
	if (options->function_count && (!HAS_FUNCTIONS || !has_cookies()))
		return error_set(error, ENOTSUP,
				 "cannot count functions: --function needs x86-64 and Linux 5.15");
	return 0;
}

static int regions_configure(struct session *session, const struct source_options *options,
			     struct source **ret_source, struct error *error)
{
	struct pkbpf_bpf *skeleton = session_skeleton(session);
	struct source *source = calloc(1, sizeof(*source));
	int err;

	if (!source)
		return error_set(error, ENOMEM, "cannot prepare regions: out of memory");
	source->session = session;
	err = check_cookies(&options->regions, error);
	if (err) {
		free(source);
		return err;
	}
	err = region_probes_new(skeleton, session_kernel_types(session), &source->probes);
	err = err ? err : size_maps(source, skeleton, &options->regions);
	err = err ? err : choose_syscalls(source, &options->regions, skeleton);
	source->wants_marks = options->regions.wanted || options->regions.frames;
	source->limits = options->regions.limits;
	if (!err) {
		int unable = choose_kernel(source, &options->regions, skeleton, error);

		if (unable) {
			regions_free(source);
			return unable;
		}
	}
	if (!has_cookies()) {
		leave_out_sites(skeleton);
	} else {
		err = err ? err : choose_pairs(source, &options->regions);
		err = err ? err : choose_pair_budget(source, &options->regions);
		err = err ? err : choose_budget(source, &options->regions);
		err = err ? err : choose_functions(source, &options->regions);
	}
	if (err) {
		regions_free(source);
		return error_set(error, -err, "cannot prepare the BPF maps of regions: %s",
				 strerror(-err));
	}
	configure_programs(source, skeleton, &options->regions);
	*ret_source = source;
	return 0;
}

/* ---- the interval ---- */

/* Measures what probes cost. */
static void begin_budgets(struct source *source)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);
	const struct region_budget_tables tables = {
		.sites = source->site_table.items,
		.spare = REGION_SITES - 1,
		.gaps_fd = bpf_map__fd(skeleton->maps.span_gaps),
		.has_gaps = &skeleton->bss->span_control.has_gaps,
	};

	if (source->budget)
		region_budget_begin(source->budget, &tables);
	if (source->pair_budget)
		pair_budget_begin(source->pair_budget, source->site_table.items, REGION_SITES - 1);
	if (source->functions)
		function_set_begin(source->functions, source->site_table.items, REGION_SITES,
				   source->first_syscall);
}

/* Before the first row is made, which keeps its limit. */
static int put_limits(const struct source *source, int limits_fd, struct error *error)
{
	for (size_t i = 0; i < source->limits.count; i++) {
		const struct region_limit *limit = &source->limits.items[i];
		__u64 words[PKBPF_SPAN_NAME / 8], key;

		memcpy(words, limit->name, sizeof(words));
		key = pkbpf_span_name_hash(words);
		if (bpf_map_update_elem(limits_fd, &key, &limit->ns, BPF_ANY))
			return error_set(error, errno, "cannot set the limit of region %s: %s",
					 limit->name, strerror(errno));
	}
	return 0;
}

static int regions_attach(struct source *source, struct error *error)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);
	int err = mapped_table_open(&source->row_table, error);

	err = err ? err : mapped_table_open(&source->stack_table, error);
	err = err ? err : mapped_table_open(&source->site_table, error);
	err = err ? err : put_limits(source, bpf_map__fd(skeleton->maps.span_limits), error);
	if (err)
		return err;
	source->rows.rows = source->row_table.items;
	source->rows.count = source->row_table.count;
	source->rows.sent = calloc(ROWS, sizeof(*source->rows.sent));
	if (!source->rows.sent)
		return error_set(error, ENOMEM, "cannot prepare regions: out of memory");
	err = tracing_program_attach(skeleton->progs.span_exit, &source->on_exit, error);
	err = err ? err
		  : tracing_program_attach(skeleton->progs.span_exec, &source->on_exec, error);
	source->is_attached = err == 0;
	if (err)
		return err;
	begin_budgets(source);
	if (source->syscalls)
		err = syscall_set_attach(source->syscalls, skeleton,
					 (struct pkbpf_span_site *)source->site_table.items +
						 source->first_syscall,
					 error);
	if (source->kernel)
		err = err ? err
			  : kernel_set_attach(source->kernel,
					      (struct pkbpf_span_site *)source->site_table.items +
						      source->first_kernel,
					      source->first_kernel, error);
	if (err)
		return err;
	region_watch_command(source);
	region_watch_files(source);
	return 0;
}

static void regions_begin(struct source *source, uint64_t start_ns)
{
	source->last_drain_ns = start_ns;
	__atomic_store_n(&session_skeleton(source->session)->bss->span_control.start_ns, start_ns,
			 __ATOMIC_RELEASE);
}

static void regions_end(struct source *source, uint64_t end_ns)
{
	__atomic_store_n(&session_skeleton(source->session)->bss->span_control.end_ns, end_ns,
			 __ATOMIC_RELEASE);
}

/* Entries that programs may still add to wait for the next time, but for the last one. */
static int drain_callers(struct source *source, uint32_t epochs)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);
	uint32_t epoch = skeleton->bss->span_control.epoch + 1;

	if (!source->wants_callers)
		return 0;
	__atomic_store_n(&skeleton->bss->span_control.epoch, epoch, __ATOMIC_RELEASE);
	/* Programs run without being preempted by this: all that saw the old epoch are done. */
	if (!epochs)
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	return region_callers_drain(bpf_map__fd(skeleton->maps.span_callers), epoch - epochs,
				    clock_now_ns(), &source->buffer);
}

static int drain(struct source *source, bool is_edge)
{
	int err = region_rows_drain(&source->rows, clock_now_ns(), &source->buffer);

	err = err ? err : drain_callers(source, is_edge ? 0 : 1);
	session_add_records(source->session, &source->buffer);
	return err;
}

static bool has_ended(const void *context, uint32_t pid)
{
	const struct source *source = context;
	const struct process *process =
		process_table_find(session_options(source->session)->processes, pid);

	/* Seen from another namespace of pids, no process is there. */
	return (!process || process->end_ns) && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

/* Samples that refer to a row by its number may still be on their way, where they do. */
static void free_rows(struct source *source, uint64_t now_ns)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);

	if (skeleton->rodata->span_config.want_frames ||
	    (now_ns - source->last_freed_ns < FREE_INTERVAL_NS &&
	     region_rows_used(&source->rows) < ROWS / 4))
		return;
	source->last_freed_ns = now_ns;
	region_rows_free_ended(&source->rows, bpf_map__fd(skeleton->maps.span_row_index),
			       bpf_map__fd(skeleton->maps.span_free_rows),
			       bpf_map__fd(skeleton->maps.span_ids), has_ended, source);
}

static int regions_poll(struct source *source)
{
	uint64_t now_ns = clock_now_ns();
	int err;

	region_watch_files(source);
	if (source->budget)
		region_budget_poll(source->budget, now_ns);
	if (source->pair_budget)
		pair_budget_poll(source->pair_budget, now_ns, source->row_table.items,
				 source->row_table.count);
	if (source->functions)
		function_set_poll(source->functions, now_ns, source->row_table.items,
				  source->row_table.count);
	if (source->syscalls)
		syscall_set_poll(source->syscalls, now_ns, source->row_table.items,
				 source->row_table.count);
	if (source->kernel)
		kernel_set_poll(source->kernel, now_ns, source->row_table.items,
				source->row_table.count);
	if (now_ns - source->last_drain_ns < DRAIN_INTERVAL_NS)
		return 0;
	source->last_drain_ns = now_ns;
	err = drain(source, false);
	if (!err)
		free_rows(source, now_ns);
	return err;
}

static int regions_rest_ms(const struct source *source)
{
	int functions_ms = source->functions ? function_set_rest_ms(source->functions) : INT_MAX;
	int syscalls_ms = source->syscalls ? syscall_set_rest_ms(source->syscalls) : INT_MAX;
	int kernel_ms = source->kernel ? kernel_set_rest_ms(source->kernel) : INT_MAX;
	int least_ms = functions_ms < syscalls_ms ? functions_ms : syscalls_ms;

	return least_ms < kernel_ms ? least_ms : kernel_ms;
}

/* Records of what had no probes; the stream counts those that are missing for lack of memory. */
static void cut_budget(struct source *source, uint64_t now_ns)
{
	struct region_gap_names gaps = {0};

	region_budget_cut(source->budget, now_ns, source->rows.rows, source->rows.count, &gaps);
	region_gap_names_send(&gaps, now_ns, &source->buffer);
	region_gap_names_done(&gaps);
}

static int regions_cut(struct source *source, uint64_t until_ns)
{
	uint64_t now_ns = clock_now_ns();
	int err;

	(void)until_ns;
	if (source->budget)
		cut_budget(source, now_ns);
	err = drain(source, true);
	if (!err)
		region_rows_begin_slice(&source->rows);
	if (source->budget)
		region_budget_choose(source->budget, now_ns, source->rows.rows, source->rows.count);
	return err;
}

/* Counts the regions that are open at the end. */
static void count_unfinished(const struct source *source, uint64_t *unfinished)
{
	const volatile struct pkbpf_span_stack *stacks = source->stack_table.items;

	for (uint32_t i = 0; i < source->stack_table.count; i++) {
		uint32_t depth = stacks[i].tid ? stacks[i].depth : 0;

		for (uint32_t j = 0; j < depth && j < PKBPF_SPAN_DEPTH; j++)
			if (stacks[i].frames[j].row < ROWS)
				unfinished[stacks[i].frames[j].row]++;
	}
}

static void regions_each_stack(const struct source *source, source_stack_fn *take, void *context)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);

	if (source->wants_callers)
		region_callers_each_stack(bpf_map__fd(skeleton->maps.span_callers), take, context);
}

static void regions_detach(struct source *source)
{
	struct lost_view unknown = {.time_ns = clock_now_ns(),
				    .cause = PKBPF_COUNTER_FUNCTIONS_UNKNOWN};
	uint64_t *unfinished;

	if (!source->is_attached)
		return;
	source->is_attached = false;
	if (!session_skeleton(source->session)->bss->span_control.end_ns)
		regions_end(source, clock_now_ns());
	region_probes_remove(source->probes);
	if (source->budget) {
		cut_budget(source, clock_now_ns());
		region_budget_remove(source->budget);
	}
	if (source->pair_budget)
		pair_budget_remove(source->pair_budget);
	if (source->functions)
		unknown.count = function_set_remove(source->functions);
	if (unknown.count)
		event_encode_lost(&source->buffer, &unknown);
	if (source->syscalls)
		syscall_set_detach(source->syscalls);
	if (source->kernel)
		kernel_set_detach(source->kernel);
	unfinished = calloc(ROWS, sizeof(*unfinished));
	if (unfinished)
		count_unfinished(source, unfinished);
	source->rows.unfinished = unfinished;
	/* The stream counts records that are missing for lack of memory. */
	drain(source, true);
	source->rows.unfinished = NULL;
	free(unfinished);
}

/* Slow ones, and calls by stack. */
static uint32_t regions_cached_stacks(void)
{
	return CACHED_STACKS;
}

const struct source_ops source_regions = {
	.name = "regions",
	.summary = "times of marked regions",
	.options = region_option_rows,
	.options_init = region_options_init,
	.is_wanted = regions_are_wanted,
	.cached_stacks = regions_cached_stacks,
	.choose = regions_choose,
	.configure = regions_configure,
	.attach = regions_attach,
	.begin = regions_begin,
	.end = regions_end,
	.cut = regions_cut,
	.poll = regions_poll,
	.rest_ms = regions_rest_ms,
	.each_stack = regions_each_stack,
	.detach = regions_detach,
	.settle = region_watch_missed,
	.free = regions_free,
};
