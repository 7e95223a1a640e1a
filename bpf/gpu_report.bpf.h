/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of kernels, and what a library in the program reports of their time on the device. */
#ifndef PKBPF_GPU_REPORT_BPF_H
#define PKBPF_GPU_REPORT_BPF_H

#include "function_exit.bpf.h"
#include "gpu_call_rows.bpf.h"
#include "task_filter.bpf.h"

#if defined(__TARGET_ARCH_x86)

static __noinline int name_kernel(__u32 pid, __u64 address, __u64 name)
{
	struct pkbpf_gpu_kernel_key key = {.address = address, .pid = pid};
	struct pkbpf_gpu_kernel kernel = {};

	long length = bpf_probe_read_user_str(kernel.name, sizeof(kernel.name), (void *)name);

	/* The page is not in memory yet, and this program must not wait for it. */
	if (length < 0) {
		kernel.unread = name;
		gpu_unread_names++;
	}
	if (length >= 0 && length <= 1)
		return 0;
	if (bpf_map_update_elem(&gpu_kernels, &key, &kernel, BPF_ANY))
		counter_add(PKBPF_COUNTER_GPU_NAMES_FULL, 1);
	else
		gpu_kept_names++;
	return 0;
}

/* The thread's launch gets the number by which its kernel is reported. Each has one: a call that is
 * not watched does not get that of the launch before. */
static __always_inline void number_launch(struct pt_regs *ctx,
					  const struct pkbpf_gpu_report *report, __u32 pid,
					  struct pkbpf_gpu_thread *call)
{
	struct pkbpf_gpu_launch_key key = {.pid = pid};
	struct pkbpf_gpu_launch launch = {};
	__u32 group = call ? PKBPF_GPU_GROUP_OF(call->counted_pair) : 0;

	if (!call || call->is_numbered || (group != PKBPF_GPU_LAUNCH && group != PKBPF_GPU_GRAPH) ||
	    !read_operand(ctx, &report->correlation, &key.correlation))
		return;
	call->is_numbered = 1;
	launch.stack_id = call->stack_id;
	launch.detail = call->detail;
	launch.pair = call->counted_pair;
	launch.weight = call->weight;
	bpf_map_update_elem(&gpu_launches, &key, &launch, BPF_ANY);
}

static __noinline int add_run(__u32 pid, const struct pkbpf_gpu_launch *launch, __u64 run_ns)
{
	struct pkbpf_gpu_row_key key = {
		.detail = launch->detail, .pid = pid, .pair = launch->pair, .what = PKBPF_GPU_SUM};
	struct gpu_sums sums = {.runs = 1, .run_ns = run_ns, .weight = launch->weight};

	row_add(&key, &sums);
	if (!sums.weight)
		return 0;
	key.detail = launch->detail;
	key.stack_id = launch->stack_id;
	key.what = PKBPF_GPU_STACK;
	row_add(&key, &sums);
	return 0;
}

static __noinline bool find_launch(const struct pkbpf_gpu_launch_key *key,
				   struct pkbpf_gpu_launch *launch)
{
	const struct pkbpf_gpu_launch *known = bpf_map_lookup_elem(&gpu_launches, key);

	if (known)
		*launch = *known;
	return known;
}

/* A kernel of a graph has the stack of the graph's launch, which others of the graph need, too.
 * Kernels with a row of their own are distinguished by where their name is. */
static __noinline int name_run(const struct pkbpf_gpu_launch_key *key,
			       struct pkbpf_gpu_launch *launch, __u32 own_pair, __u64 name)
{
	if (own_pair) {
		launch->pair = own_pair;
		launch->detail = name;
		name_kernel(key->pid, name, name);
	} else {
		bpf_map_delete_elem(&gpu_launches, key);
	}
	return 0;
}

/* Handles that were given out before there were probes have no name. */
static __noinline int name_handle(__u32 pid, const struct pkbpf_gpu_launch *launch, __u64 name)
{
	struct pkbpf_gpu_kernel_key key = {.address = launch->detail, .pid = pid};

	if (PKBPF_GPU_GROUP_OF(launch->pair) == PKBPF_GPU_LAUNCH &&
	    PKBPF_GPU_WAY_OF(launch->pair) & PKBPF_GPU_OF_DRIVER &&
	    !bpf_map_lookup_elem(&gpu_kernels, &key))
		name_kernel(pid, launch->detail, name);
	return 0;
}

static __always_inline void count_run(struct pt_regs *ctx, const struct pkbpf_gpu_report *report,
				      __u64 pid_tgid)
{
	struct pkbpf_gpu_launch_key key = {.pid = pid_tgid >> 32};
	struct pkbpf_gpu_launch launch = {};
	__u64 start_ns = 0, end_ns = 0, graph = 0, name = 0;
	bool is_seen;

	if (!read_operand(ctx, &report->correlation, &key.correlation) ||
	    !read_operand(ctx, &report->start, &start_ns) ||
	    !read_operand(ctx, &report->end, &end_ns) || !read_operand(ctx, &report->name, &name) ||
	    end_ns < start_ns || end_ns - start_ns > PKBPF_GPU_RUN_MOST_NS)
		return;
	read_operand(ctx, &report->graph, &graph);
	/* Looked for once: another thread may report the same number meanwhile. */
	is_seen = find_launch(&key, &launch);
	/* Libraries report from threads of their own, which need not be targets. */
	if (!is_seen && !filter_current(key.pid, (__u32)pid_tgid))
		return;
	name_run(&key, &launch,
		 !is_seen	? report->unseen_pair
		 : (__u32)graph ? report->graph_pair
				: 0,
		 name);
	name_handle(key.pid, &launch, name);
	add_run(key.pid, &launch, end_ns - start_ns);
}

#endif

#endif
