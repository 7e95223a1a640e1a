// SPDX-License-Identifier: BSD-2-Clause
/* The source of calls of GPU libraries: drains their sums. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/btf.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <pkbpf/gpu_call.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/unused.h"
#include "capture/kernel/kernel_counters.h"
#include "capture/kernel/kernel_types.h"
#include "capture/tracing_program.h"
#include "source/gpu_calls/gpu_call_ends.h"
#include "source/gpu_calls/gpu_call_files.h"
#include "source/gpu_calls/gpu_call_rows.h"
#include "source/source.h"
#include "source/source_options.h"
#include "source/source_table.h"

#include "pkbpf.skel.h"

#define CACHED_STACKS	   4096U
#define DRAIN_INTERVAL_NS  NS_PER_SECOND
#define CHOICE_INTERVAL_NS (NS_PER_SECOND / 2)
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

struct source {
	struct session *session;
	struct gpu_call_files files;
	struct gpu_call_ends ends;
	struct bpf_link *exit_link, *exec_link;
	struct event_buffer buffer;
	uint32_t names_read, names_forgotten;
	uint64_t last_drain_ns;
	/* Stacks that were read since their share was chosen. */
	uint64_t samples[PKBPF_GPU_GROUPS], chosen_ns;
	bool is_attached;
};

static bool gpu_calls_are_wanted(const struct source_options *options)
{
	return options->gpu_calls.wanted;
}

static void gpu_calls_choose(struct pkbpf_bpf *skeleton, bool wanted)
{
	struct bpf_map *const maps[] = {
		skeleton->maps.gpu_sites,    skeleton->maps.gpu_threads,
		skeleton->maps.gpu_blocks,   skeleton->maps.gpu_kernels,
		skeleton->maps.gpu_rows,     skeleton->maps.gpu_other_rows,
		skeleton->maps.gpu_users,    skeleton->maps.gpu_resets,
		skeleton->maps.gpu_launches, skeleton->maps.gpu_reports,
	};
	struct bpf_map *const scratch[] = {skeleton->maps.sample_scratch,
					   skeleton->maps.python_scratch,
					   skeleton->maps.v8_scratch};

	bpf_program__set_autoload(skeleton->progs.gpu_call, wanted);
	bpf_program__set_autoload(skeleton->progs.gpu_reported, wanted);
	bpf_program__set_autoload(skeleton->progs.gpu_exit, wanted);
	bpf_program__set_autoload(skeleton->progs.gpu_exec, wanted);
	/* Memory of each CPU for the stacks of this source, which comes last there. Where a
	 * language is off, its map has one entry, and cannot be loaded with none. */
	for (size_t i = 0; i < ARRAY_SIZE(scratch) && !wanted; i++)
		if (bpf_map__max_entries(scratch[i]) > 1)
			bpf_map__set_max_entries(scratch[i], bpf_map__max_entries(scratch[i]) - 1);
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
	source->files.session = session;
	source->files.links.uses_multi = kernel_types_find(
		session_kernel_types(session), BTF_KIND_STRUCT, KERNEL_TYPE_UPROBE_MULTI);
	uprobe_links_prepare(&source->files.links, skeleton->progs.gpu_call);
	uprobe_links_prepare(&source->files.links, skeleton->progs.gpu_reported);
	*ret_source = source;
	return 0;
}

static int gpu_calls_attach(struct source *source, struct error *error)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);
	struct pkbpf_gpu_control *control = &skeleton->bss->gpu_control;
	int err;

	control->masks[PKBPF_GPU_LAUNCH] = LAUNCH_MASK;
	source->ends = (struct gpu_call_ends){.blocks_fd = bpf_map__fd(skeleton->maps.gpu_blocks),
					      .resets_fd = bpf_map__fd(skeleton->maps.gpu_resets)};
	err = tracing_program_attach(skeleton->progs.gpu_exit, &source->exit_link, error);
	if (!err)
		err = tracing_program_attach(skeleton->progs.gpu_exec, &source->exec_link, error);
	if (err)
		return err;
	source->is_attached = true;
	gpu_call_files_begin(&source->files);
	return 0;
}

static void gpu_calls_begin(struct source *source, uint64_t start_ns)
{
	source->last_drain_ns = source->chosen_ns = start_ns;
	source->files.has_begun = true;
	__atomic_store_n(&session_skeleton(source->session)->bss->gpu_control.start_ns, start_ns,
			 __ATOMIC_RELEASE);
}

static void gpu_calls_end(struct source *source, uint64_t end_ns)
{
	__atomic_store_n(&session_skeleton(source->session)->bss->gpu_control.end_ns, end_ns,
			 __ATOMIC_RELEASE);
}

/* The share of calls whose stacks are read follows how many they are. A moment between two drains,
 * as at the edge of a slice, says nothing about that. */
static void choose_share(struct source *source, struct pkbpf_gpu_control *control, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns - source->chosen_ns;

	if (passed_ns < CHOICE_INTERVAL_NS)
		return;
	source->chosen_ns = now_ns;
	for (uint32_t group = 1; group < PKBPF_GPU_GROUPS; group++) {
		uint64_t rate = source->samples[group] * NS_PER_SECOND / passed_ns;
		uint32_t mask = control->masks[group],
			 least = group == PKBPF_GPU_LAUNCH ? LAUNCH_MASK : 0;

		while (rate > STACKS_MOST && mask < MASK_MOST) {
			mask = mask << 1 | 1;
			rate /= 2;
		}
		if (rate < STACKS_MOST / 4 && mask > least)
			mask >>= 1;
		source->samples[group] = 0;
		__atomic_store_n(&control->masks[group], mask, __ATOMIC_RELAXED);
	}
}

static struct gpu_call_maps maps_of(struct source *source)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);

	return (struct gpu_call_maps){bpf_map__fd(skeleton->maps.gpu_rows),
				      bpf_map__fd(skeleton->maps.gpu_kernels),
				      session_options(source->session)->processes};
}

static int drain(struct source *source, bool is_edge)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);
	struct pkbpf_gpu_control *control = &skeleton->bss->gpu_control;
	uint64_t now_ns = clock_now_ns();
	uint32_t epoch = control->epoch + 1;
	struct gpu_call_maps maps = maps_of(source);
	int err;

	__atomic_store_n(&control->epoch, epoch, __ATOMIC_RELEASE);
	/* Programs run without being preempted by this: all that saw the old epoch are done. */
	if (is_edge)
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	/* Rows that programs may still add to wait for the next time, but for the last one. */
	epoch -= is_edge ? 0 : 1;
	err = gpu_call_rows_drain(&maps, epoch, now_ns, &source->buffer, source->samples);
	maps.rows_fd = bpf_map__fd(skeleton->maps.gpu_other_rows);
	err = err ? err
		  : gpu_call_rows_drain(&maps, epoch, now_ns, &source->buffer, source->samples);
	if (is_edge && !err)
		err = gpu_call_ends_send(&source->ends, &maps, now_ns, &source->buffer);
	session_add_records(source->session, &source->buffer);
	choose_share(source, control, now_ns);
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

/* Not before they may be needed: the last calls of a process are sent after its end. */
static void forget_names(struct source *source)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);
	uint32_t kept = __atomic_load_n(&skeleton->bss->gpu_kept_names, __ATOMIC_RELAXED);

	if (kept - source->names_forgotten < PKBPF_GPU_KERNELS / 2)
		return;
	source->names_forgotten = kept;
	gpu_call_ends_forget_names(bpf_map__fd(skeleton->maps.gpu_kernels));
}

static int gpu_calls_poll(struct source *source)
{
	struct gpu_call_maps maps = maps_of(source);
	int err;

	gpu_call_files_look(&source->files);
	read_names(source);
	forget_names(source);
	err = gpu_call_ends_send(&source->ends, &maps, clock_now_ns(), &source->buffer);
	session_add_records(source->session, &source->buffer);
	if (err)
		return err;
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

	const struct gpu_call_stacks of = {bpf_map__fd(skeleton->maps.gpu_rows),
					   bpf_map__fd(skeleton->maps.gpu_blocks),
					   bpf_map__fd(skeleton->maps.gpu_launches)};

	gpu_call_rows_each_stack(&of, take, context);
}

static void gpu_calls_detach(struct source *source)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);

	if (!source->is_attached)
		return;
	source->is_attached = false;
	if (!skeleton->bss->gpu_control.end_ns)
		gpu_calls_end(source, clock_now_ns());
	gpu_call_files_end(&source->files);
	/* The stream counts records that are missing for lack of memory. */
	drain(source, true);
	kernel_counters_add(skeleton->maps.counters, PKBPF_COUNTER_GPU_CALLS_OPEN,
			    gpu_call_ends_open_calls(bpf_map__fd(skeleton->maps.gpu_threads)));
}

static void gpu_calls_free(struct source *source)
{
	gpu_call_files_done(&source->files);
	bpf_link__destroy(source->exit_link);
	bpf_link__destroy(source->exec_link);
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
