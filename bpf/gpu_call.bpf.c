// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Calls of the CUDA and HIP libraries. What a library calls in another one, or in itself, belongs
 * to the call of the program: of nested calls the outermost counts. Launches have a probe at their
 * entry only. A held call goes on while its return address is in its place; where its code is alone
 * in a library, return addresses of inner calls show it.
 */
#include "alloc_regs.bpf.h"
#include "function_exit.bpf.h"
#include "gpu_block.bpf.h"
#include "gpu_report.bpf.h"
#include "scratch_user.bpf.h"
#include "stack_id.bpf.h"
#include "task_filter.bpf.h"

/* 0: this one is left out. Random numbers of the thread's own: the helper costs more than a launch
 * has to spare. */
static __always_inline __u32 choose_weight(struct pkbpf_gpu_thread *call)
{
	__u32 mask = gpu_control.masks[PKBPF_GPU_GROUP_OF(call->pair) & 7];

	call->random = call->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return mask && call->random >> 40 & mask ? 0 : mask + 1;
}

/* The number of the thread's stack; 0: unknown. */
static __always_inline __u64 read_stack(struct pt_regs *ctx, __u64 pid_tgid)
{
	struct sample_scratch *scratch = scratch_get(SCRATCH_GPU);
	__u32 zero = 0, *users = bpf_map_lookup_elem(&gpu_users, &zero);
	__u64 stack_id = 0;

	if (!scratch || !users || !scratch_enter(users))
		return 0;
	sample_begin_at(scratch, SCRATCH_GPU, PKBPF_PROFILE_ALLOC, pid_tgid, bpf_ktime_get_ns());
	alloc_read_stack(ctx, scratch);
	stack_id = stack_send(scratch, SCRATCH_GPU);
	scratch_leave(users);
	return stack_id;
}

#if defined(__TARGET_ARCH_x86)

static __always_inline bool is_alive(const struct pkbpf_gpu_thread *call, __u64 stack_pointer)
{
	return call->return_address && stack_pointer < call->stack_pointer &&
	       user_word(call->stack_pointer) == call->return_address;
}

/* Does the current call return into this code? */
static __always_inline bool returns_into(__u64 code, __u64 bytes, __u64 stack_pointer)
{
	return bytes && user_word(stack_pointer) - code < bytes;
}

/* Is a call of this function, with its return address at the top of the stack, inside of `outer`?
 * Of the same library only what that one calls itself is inside, and no driver calls a run-time. A
 * run-time in a library of its own calls the driver from its code; of one that is linked into the
 * program the return address of a call that has ended may still stand there, where the stack has
 * not been written to since. */
static __always_inline bool is_inside(const struct pkbpf_gpu_thread *outer, __u32 pair,
				      __u64 stack_pointer)
{
	if (outer->state == PKBPF_GPU_OPEN)
		return is_alive(outer, stack_pointer);
	if (stack_pointer >= outer->stack_pointer)
		return false;
	if (PKBPF_GPU_LAYER_OF(pair) == PKBPF_GPU_LAYER_OF(outer->pair))
		return returns_into(outer->code, outer->code_bytes, stack_pointer);
	if (PKBPF_GPU_LAYER_OF(pair) == PKBPF_GPU_RUNTIME)
		return false;
	if (!outer->library_bytes)
		return is_alive(outer, stack_pointer);
	/* A launch that has not launched yet has not ended. */
	return returns_into(outer->library, outer->library_bytes, stack_pointer) &&
	       (outer->state == PKBPF_GPU_ONCE || is_alive(outer, stack_pointer));
}

/* A launch launches once: what follows is inside of that. */
static __always_inline void follow_launch(struct pkbpf_gpu_thread *outer,
					  const struct pkbpf_span_site *site, struct pt_regs *ctx)
{
	if (outer->state != PKBPF_GPU_ONCE || PKBPF_GPU_GROUP_OF(site->pair) != PKBPF_GPU_LAUNCH)
		return;
	outer->pair = site->pair;
	outer->stack_pointer = PT_REGS_SP(ctx);
	outer->return_address = 0;
	outer->library_bytes = 0;
	outer->code = PT_REGS_IP(ctx) - site->from_start;
	outer->code_bytes = site->function_size;
}

/* A call whose end is not seen. A function of its own: see row_add(). */
static __noinline int count_now(__u32 pid, struct pkbpf_gpu_thread *call)
{
	struct gpu_sums sums = {.count = 1};

	/* Of launches the time is never known. */
	if (PKBPF_GPU_GROUP_OF(call->pair) == PKBPF_GPU_LAUNCH) {
		sums.blocks = call->bytes;
	} else {
		sums.bytes = call->bytes;
		sums.unmeasured = 1;
	}
	count_call(pid, call, &sums);
	return 0;
}

static __noinline int add_thread(__u32 tid)
{
	struct pkbpf_gpu_thread first = {.random = (__u64)bpf_get_prandom_u32() << 32 | tid};

	bpf_map_update_elem(&gpu_threads, &tid, &first, BPF_ANY);
	return 0;
}

/* The thread's entry, if what begins is no part of another call; NULL: it is, or no room. */
static __always_inline struct pkbpf_gpu_thread *begin_call(struct pt_regs *ctx,
							   const struct pkbpf_span_site *site,
							   __u32 tid, struct pkbpf_gpu_thread *call)
{
	if (call) {
		if (!is_inside(call, site->pair, PT_REGS_SP(ctx)))
			return call;
		follow_launch(call, site, ctx);
		return NULL;
	}
	add_thread(tid);
	call = bpf_map_lookup_elem(&gpu_threads, &tid);
	if (!call)
		counter_add(PKBPF_COUNTER_GPU_CALLS_LOST, 1);
	return call;
}

/* See is_inside(). A read of a program's memory takes a fifth of a probe's time. */
static __always_inline bool needs_return_address(const struct pkbpf_gpu_thread *call)
{
	if (call->state != PKBPF_GPU_ONCE)
		return true;
	return PKBPF_GPU_LAYER_OF(call->pair) == PKBPF_GPU_RUNTIME && !call->library_bytes;
}

/* Writes in place: the stack above that of unwinding has no room. */
static __always_inline void enter(struct pt_regs *ctx, const struct pkbpf_span_site *site,
				  __u64 pid_tgid, struct pkbpf_gpu_thread *call)
{
	__u32 pair = site->pair, group = PKBPF_GPU_GROUP_OF(pair);

	if (PKBPF_GPU_SHAPE_OF(pair) == PKBPF_GPU_REGISTER) {
		name_kernel(pid_tgid >> 32, PT_REGS_PARM2(ctx), ctx->cx);
		return;
	}
	call = begin_call(ctx, site, (__u32)pid_tgid, call);
	if (!call)
		return;
	call->pair = pair;
	call->code = PT_REGS_IP(ctx) - site->from_start;
	call->code_bytes = site->function_size;
	call->library = call->code - site->library.before;
	call->library_bytes = site->library.bytes;
	call->detail = 0;
	call->bytes = 0;
	call->weight = 0;
	call->stack_id = 0;
	call->is_numbered = 0;
	call->counted_pair = pair;
	call->state = site->role == PKBPF_SITE_CALL ? PKBPF_GPU_OPEN
		      : group == PKBPF_GPU_LAUNCH   ? PKBPF_GPU_ONCE
						    : PKBPF_GPU_HELD;
	read_arguments(ctx, call);
	call->stack_pointer = PT_REGS_SP(ctx);
	call->return_address = needs_return_address(call) ? user_word(call->stack_pointer) : 0;
	if (group != PKBPF_GPU_NAME) {
		call->weight = choose_weight(call);
		if (call->weight)
			call->stack_id = read_stack(ctx, pid_tgid);
		if (call->weight && group == PKBPF_GPU_LAUNCH)
			call->stream = read_stream(call->stack_pointer, call->first,
						   PKBPF_GPU_SHAPE_OF(pair));
	}
	if (group == PKBPF_GPU_FREE)
		take_block(pid_tgid >> 32, call);
	if (call->state == PKBPF_GPU_OPEN) {
		call->start_ns = bpf_ktime_get_ns();
	} else if (group != PKBPF_GPU_NAME) {
		count_now(pid_tgid >> 32, call);
		if (group == PKBPF_GPU_FREE)
			end_free(pid_tgid >> 32, call, 0);
	}
}

/* A function of its own: see row_add(). */
static __noinline int end_call(struct pkbpf_gpu_thread *call, __u32 pid, __u32 result)
{
	struct gpu_sums sums = {.bytes = result ? 0 : call->bytes, .count = 1};

	sums.ns = bpf_ktime_get_ns() - call->start_ns;
	count_call(pid, call, &sums);
	return 0;
}

static __noinline int leave(struct pt_regs *ctx, __u32 pair, __u64 pid_tgid)
{
	__u32 tid = (__u32)pid_tgid, pid = pid_tgid >> 32, result = (__u32)PT_REGS_RC(ctx);
	struct pkbpf_gpu_thread *call = bpf_map_lookup_elem(&gpu_threads, &tid);

	if (!call || call->state != PKBPF_GPU_OPEN || call->pair != pair ||
	    call->stack_pointer != PT_REGS_SP(ctx) || !call->return_address) {
		/* What ends inside of another call is a part of that. */
		if (PKBPF_GPU_GROUP_OF(pair) != PKBPF_GPU_NAME &&
		    (!call || !is_inside(call, pair, PT_REGS_SP(ctx))))
			counter_add(PKBPF_COUNTER_GPU_CALLS_BEFORE, 1);
		return 0;
	}
	call->return_address = 0;
	if (PKBPF_GPU_GROUP_OF(pair) == PKBPF_GPU_NAME) {
		if (!result)
			name_kernel(pid, user_word(call->first), call->name);
		return 0;
	}
	end_call(call, pid, result);
	/* Nothing was copied or allocated. */
	if (result)
		count_error(pid, pair, result);
	else if (PKBPF_GPU_GROUP_OF(pair) == PKBPF_GPU_ALLOC)
		keep_block(pid, call);
	if (PKBPF_GPU_GROUP_OF(pair) == PKBPF_GPU_FREE)
		end_free(pid, call, result);
	return 0;
}

/* Threads of chosen processes that have an entry stay targets until they exit. */
static __always_inline bool is_target(const struct pkbpf_gpu_thread *call, __u64 pid_tgid)
{
	if (call && config.target_mode == PKBPF_TARGET_PROCESS && !config.match_comm)
		return true;
	return filter_current(pid_tgid >> 32, (__u32)pid_tgid);
}

SEC("?uprobe")
int gpu_call(struct pt_regs *ctx)
{
	__u32 number = (__u32)bpf_get_attach_cookie(ctx);
	struct pkbpf_span_site *site = bpf_map_lookup_elem(&gpu_sites, &number);
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	__u32 tid = (__u32)pid_tgid;
	struct pkbpf_gpu_thread *call = bpf_map_lookup_elem(&gpu_threads, &tid);
	bool is_named;

	if (!site || !is_target(call, pid_tgid))
		return 0;
	/* Kernels are registered when a program starts, perhaps before the interval. */
	is_named = PKBPF_GPU_GROUP_OF(site->pair) == PKBPF_GPU_NAME;
	if ((!gpu_control.start_ns || gpu_control.end_ns) && !is_named)
		return 0;
	if (site->role != PKBPF_SITE_RETURN)
		enter(ctx, site, pid_tgid, call);
	else if (is_exit(ctx, site))
		leave(ctx, site->pair, pid_tgid);
	return 0;
}

SEC("?uprobe")
int gpu_reported(struct pt_regs *ctx)
{
	__u32 number = (__u32)bpf_get_attach_cookie(ctx);
	struct pkbpf_gpu_report *report = bpf_map_lookup_elem(&gpu_reports, &number);
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	__u32 tid = (__u32)pid_tgid;

	if (!report || !gpu_control.start_ns || gpu_control.end_ns)
		return 0;
	if (report->what == PKBPF_GPU_NUMBERED)
		number_launch(ctx, report, pid_tgid >> 32, bpf_map_lookup_elem(&gpu_threads, &tid));
	else
		count_run(ctx, report, pid_tgid);
	return 0;
}

/* The driver takes back what a process has. */
SEC("?tp_btf/sched_process_exit")
int gpu_exit(__u64 *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	__u32 tid = (__u32)pid_tgid;
	struct task_struct *task = (void *)bpf_get_current_task();

	bpf_map_delete_elem(&gpu_threads, &tid);
	if (!BPF_CORE_READ(task, signal, live.counter))
		forget_blocks(pid_tgid >> 32, true);
	return 0;
}

SEC("?tp_btf/sched_process_exec")
int gpu_exec(__u64 *ctx)
{
	forget_blocks(bpf_get_current_pid_tgid() >> 32, false);
	return 0;
}

#else

SEC("?uprobe")
int gpu_call(struct pt_regs *ctx)
{
	(void)ctx;
	return 0;
}

SEC("?uprobe")
int gpu_reported(struct pt_regs *ctx)
{
	(void)ctx;
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int gpu_exit(__u64 *ctx)
{
	return 0;
}

SEC("?tp_btf/sched_process_exec")
int gpu_exec(__u64 *ctx)
{
	return 0;
}

#endif
