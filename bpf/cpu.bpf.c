// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* CPU samples: one perf event per CPU runs this program on the current task. */
#include "kernel_stack.bpf.h"
#include "shared.bpf.h"
#include "shed.bpf.h"
#include "context_request.bpf.h"
#include "cpu_sampler.bpf.h"
#include "stack.bpf.h"

struct pkbpf_cpu_control cpu_control = {};

/* For a thread that is a target. What is left out on purpose, at random, is neither expected nor
 * lost: others stand for it. Missing periods are as rare as the reasons for them. */
static __always_inline void count_expected(const struct pkbpf_missed_periods *missed,
					   bool is_left_out)
{
	__u64 expected = !is_left_out + missed->late + missed->own;

	if (is_left_out)
		counter_add(PKBPF_COUNTER_SAMPLES_LEFT_OUT, 1);
	if (expected)
		counter_add(PKBPF_COUNTER_CPU_EXPECTED, expected);
	if (missed->late)
		counter_add(PKBPF_COUNTER_LOST_TIMER_LATE, missed->late);
	if (missed->own)
		counter_add(PKBPF_COUNTER_LOST_NOT_CALLED, missed->own);
}

/* A separate function because it is rare: the verifier does not continue from each of its ends. */
__attribute__((noinline)) int cpu_sampler_look_up(__u32 number, __u64 moment)
{
	struct cpu_sampler *sampler = cpu_sampler_get();

	if (!sampler)
		return 0;
	/* The number is a pid or a tid, depending on the target mode. */
	sampler->is_target = filter_number(number, number);
	sampler->number = number;
	sampler->moment = moment;
	return 0;
}

/* filter_current(), with a cache: consecutive samples mostly hit the same task. */
static __always_inline bool cpu_sampler_wants(struct cpu_sampler *sampler, __u32 pid, __u32 tid,
					      __u64 now_ns)
{
	__u32 number = config.target_mode == PKBPF_TARGET_THREAD ? tid : pid;
	__u64 moment = process_moment(now_ns);

	if (config.target_mode != PKBPF_TARGET_PROCESS && config.target_mode != PKBPF_TARGET_THREAD)
		return filter_current(pid, tid);
	if (sampler->number != number || sampler->moment != moment)
		cpu_sampler_look_up(number, moment);
	return sampler->is_target && filter_current_group();
}

SEC("?perf_event")
int sample_cpu(struct bpf_perf_event_data *ctx)
{
	__u64 now_ns = bpf_ktime_get_ns(), pid_tgid = bpf_get_current_pid_tgid();
	struct pkbpf_missed_periods missed = {};
	struct sample_scratch *scratch;
	struct cpu_sampler *sampler = cpu_sampler_get();
	__u32 mask = shed_control.cpu_mask;
	bool is_left_out;

	if (!sampler || !cpu_control.start_ns)
		return 0;
	cpu_sampler_note(ctx, sampler, now_ns, &missed);
	if (missed.of_unknown)
		counter_add(PKBPF_COUNTER_CPU_NOT_CALLED, missed.of_unknown);
	if ((__u32)pid_tgid == 0) {
		counter_add(PKBPF_COUNTER_CPU_IDLE, 1);
		return 0;
	}
	if (!cpu_sampler_wants(sampler, pid_tgid >> 32, (__u32)pid_tgid, now_ns))
		return 0;
	is_left_out = shed_by(mask);
	count_expected(&missed, is_left_out);
	if (is_left_out)
		return 0;
	scratch = scratch_get(SCRATCH_CPU);
	if (!scratch) {
		counter_add(PKBPF_COUNTER_LOST_NO_SCRATCH, 1);
		return 0;
	}
	if (context_config.requests)
		context_look_at_sample((__u32)pid_tgid, now_ns);
	sample_begin_at(scratch, SCRATCH_CPU, PKBPF_PROFILE_CPU, pid_tgid, now_ns);
	scratch->sample.weight = (__u64)mask + 1;
	if (config.want_kernel_stack && perf_regs_in_kernel(ctx))
		stack_read_kernel_of_perf_event(ctx, scratch);
	if (config.want_user_stack && !current_is_kernel_thread())
		stack_read_user_of_perf_event(ctx, scratch);
	if (emit_sample(scratch, PKBPF_COUNTER_LOST_RING_FULL))
		counter_add(PKBPF_COUNTER_CPU_RECORDED, 1);
	return 0;
}
