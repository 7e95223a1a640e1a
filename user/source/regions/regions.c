// SPDX-License-Identifier: BSD-2-Clause
/* The source of regions: looks for programs that mark them, and drains their sums. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
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
#include "base/parse_value.h"
#include "capture/tracing_program.h"
#include "process/process_table.h"
#include "source/alloc/sampler_library.h"
#include "source/mapped_table.h"
#include "source/regions/function_set.h"
#include "source/regions/region_callers.h"
#include "source/regions/region_command.h"
#include "source/regions/region_files.h"
#include "source/regions/region_probes.h"
#include "source/regions/region_rows.h"
#include "source/regions/syscall_set.h"
#include "source/source.h"
#include "source/source_options.h"

#include "pkbpf.skel.h"

/* Rows, one for each path of regions in each process: 2.9 KB each. */
#define ROWS 2048U
/* Threads that have entered a region and live: 4.3 KB each. */
#define THREADS 1024U
/* Regions with an id that are open at one time. */
#define IDS 8192U
/* Places of probes that are not ours. */
#define SITES 4096U
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

struct source {
	struct session *session;
	struct region_probes *probes;
	struct mapped_table row_table, stack_table, site_table;
	uint32_t site_count;
	uint32_t first_syscall;		/* site of system call 0, behind the others */
	struct function_set *functions; /* NULL: none are wanted */
	struct syscall_set *syscalls;	/* likewise */
	bool wants_callers;		/* calls by stack */
	bool wants_marks;		/* regions that programs mark, and pairs of probes */
	struct region_pairs pairs;
	char *pair_texts[REGION_PAIRS_MAX]; /* that `pairs` points into */
	struct region_rows rows;
	struct bpf_link *on_exit, *on_exec;
	struct region_files files;
	struct event_buffer buffer;
	uint64_t last_drain_ns, last_freed_ns;
	bool is_attached;
};

static void regions_free(struct source *source)
{
	bpf_link__destroy(source->on_exit);
	bpf_link__destroy(source->on_exec);
	region_probes_free(source->probes);
	function_set_free(source->functions);
	syscall_set_free(source->syscalls);
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
	       options->regions.function_count || options->regions.syscall_count;
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
	};

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		bpf_program__set_autoload(programs[i], wanted);
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		bpf_map__set_autocreate(maps[i], wanted);
}

static int size_maps(struct source *source, struct pkbpf_bpf *skeleton,
		     const struct region_options *options)
{
	uint32_t sites = SITES + (options->function_count ? FUNCTION_SITES : 0);
	int err = mapped_table_configure(&source->row_table, skeleton->maps.span_rows, ROWS);

	err = err ? err
		  : mapped_table_configure(&source->stack_table, skeleton->maps.span_stacks,
					   THREADS);
	source->first_syscall = sites;
	skeleton->rodata->first_syscall_site = sites;
	sites += options->syscall_count ? PKBPF_SYSCALLS : 0;
	err = err ? err
		  : mapped_table_configure(&source->site_table, skeleton->maps.span_sites, sites);
	if (session_options(source->session)->kinds_mask & 1U << PKBPF_PROFILE_CALLS)
		err = err ? err
			  : bpf_map__set_max_entries(skeleton->maps.span_callers,
						     REGION_CALLERS_MAX);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.span_row_index, ROWS);
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

/* Without it a program does not know at which place it is (5.15). */
static bool has_cookies(void)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_get_attach_cookie, NULL) > 0;
}

static int choose_functions(struct source *source, const struct region_options *options)
{
	const struct function_set_options functions = {
		.patterns = options->functions,
		.pattern_count = options->function_count,
		.most = options->max_probes,
		.cost_permille = options->cost_permille,
		.cpu_count = session_cpu_count(source->session),
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

static void leave_out_sites(struct pkbpf_bpf *skeleton)
{
	bpf_program__set_autoload(skeleton->progs.span_site, false);
	bpf_program__set_autoload(skeleton->progs.span_function, false);
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
	if (options->regions.function_count && (!HAS_FUNCTIONS || !has_cookies())) {
		free(source);
		return error_set(error, ENOTSUP,
				 "cannot count functions: --function needs x86-64 and Linux 5.15");
	}
	err = region_probes_new(skeleton, session_kernel_types(session), &source->probes);
	err = err ? err : size_maps(source, skeleton, &options->regions);
	err = err ? err : choose_syscalls(source, &options->regions, skeleton);
	source->wants_marks = options->regions.wanted || options->regions.frames;
	if (!has_cookies()) {
		leave_out_sites(skeleton);
	} else {
		err = err ? err : choose_pairs(source, &options->regions);
		err = err ? err : choose_functions(source, &options->regions);
	}
	if (err) {
		regions_free(source);
		return error_set(error, -err, "cannot prepare the BPF maps of regions: %s",
				 strerror(-err));
	}
	skeleton->rodata->span_config.has_accounts =
		session_options(session)->kinds_mask & 1U << PKBPF_PROFILE_OFFCPU ? 1 : 0;
	skeleton->rodata->span_config.want_frames = options->regions.frames;
	source->wants_callers =
		session_options(session)->kinds_mask & 1U << PKBPF_PROFILE_CALLS ? true : false;
	skeleton->rodata->span_config.want_callers = source->wants_callers;
	skeleton->rodata->span_config.slow_region_ns = options->regions.slow_region_ns;
	skeleton->rodata->span_config.slow_function_ns = options->regions.slow_function_ns;
	skeleton->rodata->span_config.want_slow = options->regions.slow_region_ns != UINT64_MAX ||
						  options->regions.slow_function_ns != UINT64_MAX;
	*ret_source = source;
	return 0;
}

/* ---- files ---- */

static void say_unwatched(struct source *source, const char *path, const char *why)
{
	log_warning(session_options(source->session)->log, "cannot watch the regions of %s: %s",
		    path, why);
}

/* Enters the descriptions of sites into the table of the BPF programs. */
static int describe_sites(struct source *source, struct region_sites *sites)
{
	struct pkbpf_span_site *table = source->site_table.items;

	array_foreach(&sites->items, site) {
		if (site->role != REGION_SITE)
			continue;
		if (source->site_count == SITES)
			return -ENOSPC;
		site->cookie = source->site_count;
		table[source->site_count++] = site->description;
	}
	return 0;
}

/* Markers of pkbpf.h and pkbpf.py, and pairs of probes. */
static void watch_marks(struct source *source, int fd, const char *path, struct region_sites *sites)
{
	const struct log *log = session_options(source->session)->log;
	struct error error;

	if (sites->refused)
		log_warning(log,
			    "%u USDT probes of %s are not watched: they are no nops of one byte, "
			    "and probes on others may break the program",
			    sites->refused, path);
	if (sites->refused_functions)
		log_warning(log,
			    "%u functions of --region in %s are not watched: probes on their first "
			    "instructions may break the program",
			    sites->refused_functions, path);
	if (!sites->items.count)
		return;
	if (describe_sites(source, sites) < 0)
		say_unwatched(source, path, "too many probes");
	else if (region_probes_add(source->probes, fd, sites, &error) < 0)
		say_unwatched(source, path, error.text);
	else
		log_info(log, "watching the regions of %s", path);
}

static void watch_functions(struct source *source, const struct elf_file *file, int fd,
			    const char *path)
{
	int err = function_set_add(source->functions, file, fd, path);

	if (err)
		log_warning(session_options(source->session)->log,
			    "cannot watch the functions of %s: %s", path, strerror(-err));
}

static void watch_file(void *context, int fd, const char *path)
{
	struct source *source = context;
	bool wants_functions = source->functions && function_set_wants(source->functions, path);
	struct region_sites sites = {0};
	struct elf_file file;

	if ((!source->wants_marks && !wants_functions) || elf_file_open(&file, fd) < 0)
		return;
	if (source->wants_marks && region_sites_find(&file, path, &source->pairs, &sites) < 0)
		say_unwatched(source, path, "the file cannot be read");
	if ((sites.items.count || sites.refused || sites.refused_functions || wants_functions) &&
	    region_files_note_probed(&source->files, fd)) {
		watch_marks(source, fd, path, &sites);
		if (wants_functions)
			watch_functions(source, &file, fd, path);
	}
	region_sites_done(&sites);
	elf_file_done(&file);
}

static void look_at_file(struct source *source, uint32_t id)
{
	struct mapped_file_table *files =
		process_table_files(session_options(source->session)->processes);
	struct mapped_file *file = mapped_file_table_get(files, id);
	int fd;

	if (!file || file->type != MAPPED_FILE_REGULAR ||
	    !region_files_is_new(&source->files, file))
		return;
	fd = mapped_file_open(files, file);
	if (fd >= 0)
		watch_file(source, fd, file->path);
}

static void look_at_process(struct source *source, uint32_t pid)
{
	struct process_table *table = session_options(source->session)->processes;
	const struct process *process = process_table_find(table, pid);
	const struct address_space *space = process ? process_table_mappings(table, process) : NULL;
	const struct mapping_list *list = space ? address_space_mappings(space) : NULL;

	for (size_t i = 0; list && i < list->count; i++)
		if (mapping_has_file(&list->items[i]))
			look_at_file(source, list->items[i].file);
}

/* Looks at files that targets have mapped since the last time. */
static void look_at_files(struct source *source)
{
	const struct session_options *options = session_options(source->session);
	struct u32_list pids = {0};
	size_t count;

	if (options->target_mode == PKBPF_TARGET_PROCESS) {
		if (session_targets_now(source->session, &pids) == 0)
			for (size_t i = 0; i < pids.count; i++)
				look_at_process(source, pids.items[i]);
		free(pids.items);
		return;
	}
	count = mapped_file_table_count(process_table_files(options->processes));
	for (uint32_t id = 0; id < count; id++)
		look_at_file(source, id);
}

/* The library that programs load for NVTX and ITT, before they do. */
static void watch_injected(struct source *source)
{
	char path[PATH_MAX];
	struct error error;
	int fd;

	if (!source->wants_marks ||
	    preload_library_find(REGIONS_LIBRARY_NAME, path, sizeof(path), &error))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	watch_file(source, fd, path);
	close(fd);
}

/* ---- the interval ---- */

static int regions_attach(struct source *source, struct error *error)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);
	int err = mapped_table_open(&source->row_table, error);

	err = err ? err : mapped_table_open(&source->stack_table, error);
	err = err ? err : mapped_table_open(&source->site_table, error);
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
	if (source->functions)
		function_set_begin(source->functions, source->site_table.items, SITES,
				   source->first_syscall);
	if (source->syscalls)
		err = syscall_set_attach(source->syscalls, skeleton,
					 (struct pkbpf_span_site *)source->site_table.items +
						 source->first_syscall,
					 error);
	if (err)
		return err;
	if (session_options(source->session)->command) {
		region_command_files(session_options(source->session)->command, watch_file, source);
		watch_injected(source);
	}
	look_at_files(source);
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

	look_at_files(source);
	if (source->functions)
		function_set_poll(source->functions, source->row_table.items,
				  source->row_table.count);
	if (source->syscalls)
		syscall_set_poll(source->syscalls, source->row_table.items,
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

	return functions_ms < syscalls_ms ? functions_ms : syscalls_ms;
}

static int regions_cut(struct source *source, uint64_t until_ns)
{
	int err = drain(source, true);

	(void)until_ns;
	/* The largest value of each slice. */
	for (uint32_t i = 0; i < source->rows.count && !err; i++)
		((volatile struct pkbpf_span_row *)source->row_table.items)[i].max_ns = 0;
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
	uint64_t *unfinished;

	if (!source->is_attached)
		return;
	source->is_attached = false;
	if (!session_skeleton(source->session)->bss->span_control.end_ns)
		regions_end(source, clock_now_ns());
	region_probes_remove(source->probes);
	if (source->functions)
		function_set_remove(source->functions);
	if (source->syscalls)
		syscall_set_detach(source->syscalls);
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
	.free = regions_free,
};
