/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* State of the CPU sampling program from the previous sample: its time, its task, and whether the
 * task was a target. */
#ifndef PKBPF_CPU_SAMPLER_BPF_H
#define PKBPF_CPU_SAMPLER_BPF_H

#include "shared.bpf.h"
#include "task_filter.bpf.h"

#include <pkbpf/missed_periods.h>

struct cpu_sampler {   /* one per CPU */
	__u64 last_ns; /* time of the timer's last sample, of any task; 0: none yet */
	__u64 task;    /* task of the last sample, and its number of context switches */
	__u64 switches;
	__u64 moment; /* process_moment() in which the fields below were found */
	__u32 number; /* pid or tid, as targets are chosen */
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

/* Minimum time for which the current thread has been on this CPU: the kernel updates its sums only
 * now and then. Only the fair class records the start of a turn. For real-time and deadline threads
 * it is known only whether they are still in the turn of the last sample. */
static __always_inline __u64 current_run_ns(struct task_struct *task, bool has_stayed, __u64 gap_ns)
{
	__u64 total, before;

	if (!BPF_CORE_READ(task, se.on_rq))
		return has_stayed && BPF_CORE_READ(task, pid) ? gap_ns : 0;
	total = BPF_CORE_READ(task, se.sum_exec_runtime);
	before = BPF_CORE_READ(task, se.prev_sum_exec_runtime);
	return total > before ? total - before : 0;
}

/* Number of context switches of the current thread. */
static __always_inline __u64 current_switches(struct task_struct *task)
{
	if (typed_task_exists()) {
		const struct task_struct *typed = bpf_get_current_task_btf();

		return typed->nvcsw + typed->nivcsw;
	}
	return BPF_CORE_READ(task, nvcsw) + BPF_CORE_READ(task, nivcsw);
}

/* Counts periods without a sample, which the kernel does not report. */
static __always_inline void explain_gap(struct bpf_perf_event_data *ctx, __u64 last_ns,
					__u64 now_ns, __u64 run_ns,
					struct pkbpf_missed_periods *missed)
{
	struct bpf_perf_event_data_kern *context = (void *)ctx;
	struct bpf_perf_event_value value = {};
	__u64 expires_ns = BPF_CORE_READ(context, event, hw.hrtimer._softexpires),
	      start_ns = cpu_control.start_ns;

	/* The event's counter is the time it has run. The event may have been opened after the last
	 * sample, for a CPU that was offline. */
	if (bpf_perf_prog_read_value(ctx, &value, sizeof(value)) ||
	    value.counter < now_ns - last_ns)
		last_ns = 0;
	/* Periods before the interval do not count. */
	if (expires_ns && expires_ns < start_ns)
		expires_ns = start_ns;
	*missed = pkbpf_missed_periods(cpu_control.period_ns, last_ns, expires_ns, now_ns, run_ns);
}

/* Call it for every sample of the CPU, including those of the idle task. *missed is written only if
 * periods are missing. */
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
	/* Samples come a little early or late. After missing samples, the next one comes more than
	 * a period after the last. */
	if (now_ns - last_ns > period_ns + period_ns / 16)
		explain_gap(ctx, last_ns, now_ns,
			    current_run_ns(task, has_stayed, now_ns - last_ns), missed);
}

#endif
