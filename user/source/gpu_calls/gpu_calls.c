// SPDX-License-Identifier: BSD-2-Clause
/* The source of calls of GPU libraries: looks for files that have them, and drains their sums. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/btf.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <pkbpf/gpu_call.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/unused.h"
#include "capture/kernel/kernel_types.h"
#include "process/process_table.h"
#include "source/gpu_calls/gpu_call_rows.h"
#include "source/gpu_calls/gpu_functions.h"
#include "source/regions/past_targets.h"
#include "source/regions/region_command.h"
#include "source/regions/region_files.h"
#include "source/source.h"
#include "source/source_options.h"
#include "source/source_table.h"
#include "source/uprobe_links.h"

#include "pkbpf.skel.h"

#define CACHED_STACKS	  4096U
#define DRAIN_INTERVAL_NS NS_PER_SECOND
/* Stacks of a group in a second beyond which their share is halved. */
#define STACKS_MOST 2000
/* A program that registers its kernels may live for a moment. */
#define REST_MS	  100
#define MASK_MOST 0xffffU
/* Launches are many, and each is like the next one. */
#define LAUNCH_MASK 15U
#if defined(__x86_64__)
#define HAS_CALLS 1
#else
#define HAS_CALLS 0
#endif

static const char *const library_names[] = {"libcuda.so.1",	"libcudart.so.13",
					    "libcudart.so.12",	"libcudart.so.11.0",
					    "libamdhip64.so.7", "libamdhip64.so.6"};
static const char *const library_folders[] = {"/lib/x86_64-linux-gnu", "/usr/lib64",
					      "/usr/local/cuda/lib64", "/usr/lib/wsl/lib",
					      "/opt/rocm/lib"};

struct source {
	struct session *session;
	struct uprobe_links links;
	struct region_files files;
	struct event_buffer buffer;
	uint32_t site_count, names_read;
	uint64_t last_drain_ns, last_ended_ns;
	bool is_attached;
};

static bool gpu_calls_are_wanted(const struct source_options *options)
{
	return options->gpu_calls.wanted;
}

static void gpu_calls_choose(struct pkbpf_bpf *skeleton, bool wanted)
{
	struct bpf_map *const maps[] = {
		skeleton->maps.gpu_sites,  skeleton->maps.gpu_threads,
		skeleton->maps.gpu_blocks, skeleton->maps.gpu_kernels,
		skeleton->maps.gpu_rows,   skeleton->maps.gpu_other_rows,
		skeleton->maps.gpu_users,
	};

	bpf_program__set_autoload(skeleton->progs.gpu_call, wanted);
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		bpf_map__set_autocreate(maps[i], wanted);
}

static int gpu_calls_configure(struct session *session,
			       _unused_ const struct source_options *options,
			       struct source **ret_source, struct error *error)
{
	struct pkbpf_bpf *skeleton = session_skeleton(session);
	struct source *source;

	/* A program has to know at which place it is (5.15). */
	if (!HAS_CALLS ||
	    libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_get_attach_cookie, NULL) <= 0)
		return error_set(
			error, ENOTSUP,
			"cannot watch calls of GPU libraries: --gpu-calls needs x86-64 and "
			"Linux 5.15");
	source = calloc(1, sizeof(*source));
	if (!source)
		return error_set(error, ENOMEM,
				 "cannot watch calls of GPU libraries: out of memory");
	source->session = session;
	source->links.uses_multi = kernel_types_find(session_kernel_types(session), BTF_KIND_STRUCT,
						     KERNEL_TYPE_UPROBE_MULTI);
	uprobe_links_prepare(&source->links, skeleton->progs.gpu_call);
	*ret_source = source;
	return 0;
}

/* ---- files ---- */

static void say_missing(const struct source *source, const char *path,
			const struct gpu_function_sites *sites)
{
	const struct log *log = session_options(source->session)->log;

	if (sites->refused)
		log_warning(log,
			    "%u GPU calls of %s are not watched, since probes may break them: %s",
			    sites->refused, path, sites->refused_names);
	if (sites->unmeasured)
		log_warning(
			log,
			"of %u GPU calls of %s the ends cannot be seen: they are counted without "
			"time, errors and what they allocate: %s",
			sites->unmeasured, path, sites->unmeasured_names);
}

/* Exits first: nothing may be entered that cannot be left. */
static int put_probes(struct source *source, int fd, const struct gpu_function_sites *sites)
{
	int sites_fd = bpf_map__fd(session_skeleton(source->session)->maps.gpu_sites);
	size_t count = sites->sites.items.count;
	uint64_t *words = calloc(2 * count + 1, sizeof(*words));
	struct uprobe_places places = {.fd = fd, .offsets = words, .cookies = words + count};
	int err = words ? 0 : -ENOMEM;

	if (source->site_count + count > PKBPF_GPU_SITES)
		err = err ? err : -ENOSPC;
	for (int entries = 0; entries < 2 && !err; entries++) {
		places.count = 0;
		array_foreach(&sites->sites.items, site) {
			bool is_entry = site->description.role != PKBPF_SITE_RETURN;
			uint32_t number = source->site_count;

			if (is_entry != (entries == 1))
				continue;
			if (bpf_map_update_elem(sites_fd, &number, &site->description, BPF_ANY)) {
				err = -errno;
				break;
			}
			source->site_count++;
			words[places.count] = site->offset;
			words[count + places.count++] = number;
		}
		if (places.count && !err)
			err = uprobe_links_add(&source->links,
					       session_skeleton(source->session)->progs.gpu_call,
					       &places);
	}
	free(words);
	return err;
}

/* true: it has calls to watch, and had no probes before. */
static bool watch_new_file(struct source *source, int fd, const char *path)
{
	const struct log *log = session_options(source->session)->log;
	struct gpu_function_sites sites = {.count = 0};
	struct elf_file file;
	bool is_new = false;
	int err;

	if (elf_file_open(&file, fd) < 0)
		return false;
	err = gpu_function_sites_find(&file, &sites);
	elf_file_done(&file);
	if (!err && (sites.count || sites.refused) &&
	    region_files_note_probed(&source->files, fd)) {
		is_new = true;
		say_missing(source, path, &sites);
		if (source->is_attached)
			err = put_probes(source, fd, &sites);
	}
	if (err)
		log_warning(log, "cannot watch the GPU calls of %s: %s", path, strerror(-err));
	else if (is_new && source->is_attached)
		log_info(log, "watching %u GPU calls of %s", sites.count, path);
	gpu_function_sites_done(&sites);
	return is_new;
}

static void watch_path(struct source *source, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return;
	watch_new_file(source, fd, path);
	close(fd);
}

/* A run-time opens the driver when it is used first: probes that wait for that come late. */
static void watch_neighbours(struct source *source, const char *folder, size_t length)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(library_names); i++)
		if (snprintf(path, sizeof(path), "%.*s/%s", (int)length, folder, library_names[i]) <
		    (int)sizeof(path))
			watch_path(source, path);
}

static void watch_file(void *context, int fd, const char *path)
{
	const char *name = strrchr(path, '/');

	if (watch_new_file(context, fd, path) && name)
		watch_neighbours(context, path, (size_t)(name - path));
}

static void watch_usual_places(struct source *source)
{
	for (size_t i = 0; i < ARRAY_SIZE(library_folders); i++)
		watch_neighbours(source, library_folders[i], strlen(library_folders[i]));
}

static void look_at_file(struct source *source, uint32_t id)
{
	const struct session_options *options = session_options(source->session);
	struct mapped_file_table *files = process_table_files(options->processes);
	struct mapped_file *file = mapped_file_table_get(files, id);
	int fd;

	if (!file || file->type != MAPPED_FILE_REGULAR ||
	    !region_files_is_new(&source->files, file))
		return;
	fd = mapped_file_open(files, file);
	if (fd < 0 || !watch_new_file(source, fd, file->path))
		return;
	if (source->last_drain_ns)
		log_warning(options->log,
			    "%s was mapped during the recording: GPU calls before its probes were "
			    "missed",
			    file->path);
	else
		log_info(options->log, "GPU calls of %s before the recording are not known",
			 file->path);
}

static void look_at_process(struct source *source, const struct process *process)
{
	const struct process_table *table = session_options(source->session)->processes;
	const struct address_space *space = process ? process_table_mappings(table, process) : NULL;
	const struct mapping_list *list = space ? address_space_mappings(space) : NULL;

	for (size_t i = 0; list && i < list->count; i++)
		if (mapping_has_file(&list->items[i]))
			look_at_file(source, list->items[i].file);
}

/* Targets that have begun and ended since the last look. */
static void look_at_ended(struct source *source, struct u32_list *targets)
{
	const struct session_options *options = session_options(source->session);
	uint64_t since_ns = source->last_ended_ns,
		 now_ns = process_table_now_ns(options->processes);
	size_t count = process_table_count(options->processes);

	if (now_ns - since_ns < PROCESS_GRACE_NS / 4 ||
	    past_targets_add(options->processes, options->follow, since_ns, targets))
		return;
	source->last_ended_ns = now_ns;
	for (uint32_t id = 0; id < count; id++) {
		const struct process *process = process_table_by_id(options->processes, id);

		if (process && process->end_ns && process->end_ns >= since_ns &&
		    past_targets_has(targets, process->pid))
			look_at_process(source, process);
	}
}

/* Looks at files that targets have mapped since the last time. */
static void watch_files(struct source *source)
{
	const struct session_options *options = session_options(source->session);
	size_t count = mapped_file_table_count(process_table_files(options->processes));
	struct u32_list targets = {0};

	if (options->target_mode != PKBPF_TARGET_PROCESS) {
		for (uint32_t id = 0; id < count; id++)
			look_at_file(source, id);
		return;
	}
	if (session_targets_now(source->session, &targets) == 0) {
		for (size_t i = 0; i < options->pid_count; i++) {
			uint32_t *pid = array_add(&targets);

			if (pid)
				*pid = options->pids[i];
		}
		for (size_t i = 0; i < targets.count; i++)
			look_at_process(source,
					process_table_find(options->processes, targets.items[i]));
		look_at_ended(source, &targets);
	}
	free(targets.items);
}

/* ---- the interval ---- */

static int gpu_calls_attach(struct source *source, _unused_ struct error *error)
{
	const char *command = session_options(source->session)->command;
	struct pkbpf_gpu_control *control = &session_skeleton(source->session)->bss->gpu_control;

	control->masks[PKBPF_GPU_LAUNCH] = LAUNCH_MASK;
	source->is_attached = true;
	if (command)
		region_command_files(command, watch_file, source);
	watch_usual_places(source);
	watch_files(source);
	return 0;
}

static void gpu_calls_begin(struct source *source, uint64_t start_ns)
{
	source->last_drain_ns = start_ns;
	__atomic_store_n(&session_skeleton(source->session)->bss->gpu_control.start_ns, start_ns,
			 __ATOMIC_RELEASE);
}

static void gpu_calls_end(struct source *source, uint64_t end_ns)
{
	__atomic_store_n(&session_skeleton(source->session)->bss->gpu_control.end_ns, end_ns,
			 __ATOMIC_RELEASE);
}

/* The share of calls whose stacks are read follows how many they are. */
static void choose_share(struct pkbpf_gpu_control *control, const uint64_t *samples,
			 uint64_t passed_ns)
{
	for (uint32_t group = 1; group < PKBPF_GPU_GROUPS && passed_ns; group++) {
		uint64_t rate = samples[group] * NS_PER_SECOND / passed_ns;
		uint32_t mask = control->masks[group],
			 least = group == PKBPF_GPU_LAUNCH ? LAUNCH_MASK : 0;

		while (rate > STACKS_MOST && mask < MASK_MOST) {
			mask = mask << 1 | 1;
			rate /= 2;
		}
		if (rate < STACKS_MOST / 4 && mask > least)
			mask >>= 1;
		__atomic_store_n(&control->masks[group], mask, __ATOMIC_RELAXED);
	}
}

static int drain(struct source *source, bool is_edge)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);
	struct pkbpf_gpu_control *control = &skeleton->bss->gpu_control;
	uint64_t samples[PKBPF_GPU_GROUPS] = {0}, now_ns = clock_now_ns();
	uint32_t epoch = control->epoch + 1;
	struct gpu_call_maps maps = {bpf_map__fd(skeleton->maps.gpu_rows),
				     bpf_map__fd(skeleton->maps.gpu_kernels)};
	int err;

	__atomic_store_n(&control->epoch, epoch, __ATOMIC_RELEASE);
	/* Programs run without being preempted by this: all that saw the old epoch are done. */
	if (is_edge)
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	/* Rows that programs may still add to wait for the next time, but for the last one. */
	epoch -= is_edge ? 0 : 1;
	err = gpu_call_rows_drain(&maps, epoch, now_ns, &source->buffer, samples);
	maps.rows_fd = bpf_map__fd(skeleton->maps.gpu_other_rows);
	err = err ? err : gpu_call_rows_drain(&maps, epoch, now_ns, &source->buffer, samples);
	session_add_records(source->session, &source->buffer);
	choose_share(control, samples, now_ns - source->last_drain_ns);
	source->last_drain_ns = now_ns;
	return err;
}

/* While their processes live. */
static void read_names(struct source *source)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);
	uint32_t unread = __atomic_load_n(&skeleton->bss->gpu_unread_names, __ATOMIC_RELAXED);

	if (unread == source->names_read)
		return;
	source->names_read = unread;
	gpu_call_names_read(bpf_map__fd(skeleton->maps.gpu_kernels));
}

static int gpu_calls_poll(struct source *source)
{
	watch_files(source);
	read_names(source);
	if (clock_now_ns() - source->last_drain_ns < DRAIN_INTERVAL_NS)
		return 0;
	return drain(source, false);
}

static int gpu_calls_rest_ms(_unused_ const struct source *source)
{
	return REST_MS;
}

static int gpu_calls_cut(struct source *source, _unused_ uint64_t until_ns)
{
	return drain(source, true);
}

static void gpu_calls_each_stack(const struct source *source, source_stack_fn *take, void *context)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);

	gpu_call_rows_each_stack(bpf_map__fd(skeleton->maps.gpu_rows),
				 bpf_map__fd(skeleton->maps.gpu_blocks), take, context);
}

static void gpu_calls_detach(struct source *source)
{
	if (!source->is_attached)
		return;
	source->is_attached = false;
	if (!session_skeleton(source->session)->bss->gpu_control.end_ns)
		gpu_calls_end(source, clock_now_ns());
	uprobe_links_remove(&source->links);
	/* The stream counts records that are missing for lack of memory. */
	drain(source, true);
}

static void gpu_calls_free(struct source *source)
{
	uprobe_links_remove(&source->links);
	region_files_done(&source->files);
	event_buffer_done(&source->buffer);
	free(source);
}

static uint32_t gpu_calls_cached_stacks(void)
{
	return CACHED_STACKS;
}

const struct source_ops source_gpu_calls = {
	.name = "gpu-calls",
	.summary = "calls of GPU libraries",
	.options = gpu_call_option_rows,
	.is_wanted = gpu_calls_are_wanted,
	.cached_stacks = gpu_calls_cached_stacks,
	.choose = gpu_calls_choose,
	.configure = gpu_calls_configure,
	.attach = gpu_calls_attach,
	.begin = gpu_calls_begin,
	.end = gpu_calls_end,
	.poll = gpu_calls_poll,
	.rest_ms = gpu_calls_rest_ms,
	.cut = gpu_calls_cut,
	.each_stack = gpu_calls_each_stack,
	.detach = gpu_calls_detach,
	.free = gpu_calls_free,
};
