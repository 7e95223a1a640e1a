/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the program that samples a CPU remembers of the sample before: when it came, and whether its
 * task was a target. */
#ifndef PKBPF_CPU_SAMPLER_BPF_H
#define PKBPF_CPU_SAMPLER_BPF_H

#include "shared.bpf.h"
#include "task_filter.bpf.h"

#include <pkbpf/missed_periods.h>

struct cpu_sampler {   /* of one CPU */
	__u64 last_ns; /* when the timer last brought a sample, of whatever ran; 0: not yet */
	__u64 task;    /* whom that one hit, and how often it had left a CPU */
	__u64 switches;
	__u64 moment; /* process_moment() in which what follows was found */
	__u32 number; /* pid or tid, whichever targets are chosen by */
	__u32 is_target;
};

struct cpu_samplers_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_sampler);
};
extern struct cpu_samplers_map cpu_samplers SEC(".maps");
extern struct pkbpf_cpu_control cpu_control;

static __always_inline struct cpu_sampler *cpu_sampler_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&cpu_samplers, &zero);
}

/*
 * How long the current thread has been on this CPU at least: the kernel adds up only now and then.
 * Only the fair class notes where a turn began; of real-time and deadline threads is known whether
 * they are still in that in which the last sample came.
 */
static __always_inline __u64 current_run_ns(struct task_struct *task, bool has_stayed, __u64 gap_ns)
{
	__u64 total, before;

	if (!BPF_CORE_READ(task, se.on_rq))
		return has_stayed && BPF_CORE_READ(task, pid) ? gap_ns : 0;
	total = BPF_CORE_READ(task, se.sum_exec_runtime);
	before = BPF_CORE_READ(task, se.prev_sum_exec_runtime);
	return total > before ? total - before : 0;
}

/* How often the current thread has left a CPU. */
static __always_inline __u64 current_switches(struct task_struct *task)
{
	if (typed_task_exists()) {
		const struct task_struct *typed = bpf_get_current_task_btf();

		return typed->nvcsw + typed->nivcsw;
	}
	return BPF_CORE_READ(task, nvcsw) + BPF_CORE_READ(task, nivcsw);
}

/* The kernel tells nobody of periods that passed without a sample. */
static __always_inline void explain_gap(struct bpf_perf_event_data *ctx, __u64 last_ns,
					__u64 now_ns, __u64 run_ns,
					struct pkbpf_missed_periods *missed)
{
	struct bpf_perf_event_data_kern *context = (void *)ctx;
	struct bpf_perf_event_value value = {};
	__u64 expires_ns = BPF_CORE_READ(context, event, hw.hrtimer._softexpires),
	      start_ns = cpu_control.start_ns;

	/* The event's counter is how long it has run: it may have been opened after the last
	 * sample, for a CPU that was offline. */
	if (bpf_perf_prog_read_value(ctx, &value, sizeof(value)) ||
	    value.counter < now_ns - last_ns)
		last_ns = 0;
	/* Periods before the interval are none of it. */
	if (expires_ns && expires_ns < start_ns)
		expires_ns = start_ns;
	*missed = pkbpf_missed_periods(cpu_control.period_ns, last_ns, expires_ns, now_ns, run_ns);
}

/* To be called for every sample of the CPU, also of the idle task. *missed is written where periods
 * are missing. */
static __always_inline void cpu_sampler_note(struct bpf_perf_event_data *ctx,
					     struct cpu_sampler *sampler, __u64 now_ns,
					     struct pkbpf_missed_periods *missed)
{
	__u64 period_ns = cpu_control.period_ns;
	__u64 last_ns = sampler->last_ns, switches;
	struct task_struct *task;
	bool has_stayed;

	if (!period_ns)
		return;
	task = (void *)bpf_get_current_task();
	switches = current_switches(task);
	has_stayed = sampler->task == (__u64)task && sampler->switches == switches;
	sampler->last_ns = now_ns;
	sampler->task = (__u64)task;
	sampler->switches = switches;
	/* Samples come a little early or late; one that others are missing before comes more than a
	 * period after the last. */
	if (now_ns - last_ns > period_ns + period_ns / 16)
		explain_gap(ctx, last_ns, now_ns,
			    current_run_ns(task, has_stayed, now_ns - last_ns), missed);
}

#endif
