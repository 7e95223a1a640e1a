// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Calls of the CUDA and HIP libraries. What a library calls in another one, or in itself, belongs
 * to the call of the program: of nested calls the outermost counts. Launches have a probe at their
 * entry only: whether a call that was held goes on is told by its return address, which is in its
 * place until then.
 */
#include "alloc_regs.bpf.h"
#include "function_exit.bpf.h"
#include "gpu_block.bpf.h"
#include "scratch_user.bpf.h"
#include "stack_id.bpf.h"
#include "task_filter.bpf.h"

/* 0: this one is left out. */
static __always_inline __u32 choose_weight(__u32 pair)
{
	__u32 mask = gpu_control.masks[PKBPF_GPU_GROUP_OF(pair) & 7];

	return mask && bpf_get_prandom_u32() & mask ? 0 : mask + 1;
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

static __noinline int name_kernel(__u32 pid, __u64 address, __u64 name)
{
	struct pkbpf_gpu_kernel_key key = {.address = address, .pid = pid};
	struct pkbpf_gpu_kernel kernel = {};

	long length = bpf_probe_read_user_str(kernel.name, sizeof(kernel.name), (void *)name);

	/* Nobody has touched that page yet, and this program must not wait for it. */
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

static __always_inline bool is_alive(const struct pkbpf_gpu_thread *call, __u64 stack_pointer)
{
	return call->return_address && stack_pointer < call->stack_pointer &&
	       user_word(call->stack_pointer) == call->return_address;
}

/* Does the current call return into the code of another one? */
static __always_inline bool returns_into(const struct pkbpf_gpu_thread *outer, __u64 stack_pointer)
{
	return user_word(stack_pointer) - outer->code < outer->code_bytes;
}

/* Is the current call inside of one that was seen? The return address of one that is held may stand
 * there from before, where the stack has not been written to since. Of the same library only what
 * that one calls itself is inside, and no driver calls a run-time. */
static __always_inline bool is_inside(struct pkbpf_gpu_thread *outer,
				      const struct pkbpf_span_site *site, struct pt_regs *ctx)
{
	__u64 stack_pointer = PT_REGS_SP(ctx);
	__u32 pair = site->pair;

	if (!is_alive(outer, stack_pointer))
		return false;
	if (outer->state == PKBPF_GPU_OPEN)
		return true;
	if (PKBPF_GPU_LAYER_OF(pair) == PKBPF_GPU_LAYER_OF(outer->pair)) {
		if (!returns_into(outer, stack_pointer))
			return false;
	} else if (PKBPF_GPU_LAYER_OF(pair) == PKBPF_GPU_RUNTIME) {
		return false;
	}
	/* A launch launches once: what follows is inside of that. */
	if (outer->state == PKBPF_GPU_ONCE && PKBPF_GPU_GROUP_OF(pair) == PKBPF_GPU_LAUNCH) {
		outer->pair = pair;
		outer->stack_pointer = stack_pointer;
		outer->return_address = user_word(stack_pointer);
		outer->code = PT_REGS_IP(ctx) - site->from_start;
		outer->code_bytes = site->function_size;
	}
	return true;
}

/* A call whose end is not seen. A function of its own: see row_add(). */
static __noinline int count_now(__u32 pid, struct pkbpf_gpu_thread *call)
{
	struct gpu_sums sums = {.bytes = call->bytes, .count = 1, .unmeasured = 1};
	__u32 group = PKBPF_GPU_GROUP_OF(call->pair);

	if (group == PKBPF_GPU_LAUNCH) {
		sums.blocks = call->bytes;
		sums.bytes = 0;
	}
	count_call(pid, call, &sums);
	return 0;
}

static __noinline int add_thread(__u32 tid)
{
	struct pkbpf_gpu_thread none = {};

	bpf_map_update_elem(&gpu_threads, &tid, &none, BPF_ANY);
	return 0;
}

/* The thread's entry, if what begins is no part of another call; NULL: it is, or no room. */
static __always_inline struct pkbpf_gpu_thread *
begin_call(struct pt_regs *ctx, const struct pkbpf_span_site *site, __u32 tid)
{
	struct pkbpf_gpu_thread *call = bpf_map_lookup_elem(&gpu_threads, &tid);

	if (call)
		return is_inside(call, site, ctx) ? NULL : call;
	add_thread(tid);
	call = bpf_map_lookup_elem(&gpu_threads, &tid);
	if (!call)
		counter_add(PKBPF_COUNTER_GPU_CALLS_LOST, 1);
	return call;
}

/* Writes in place: the stack above that of unwinding has no room. */
static __always_inline void enter(struct pt_regs *ctx, const struct pkbpf_span_site *site,
				  __u64 pid_tgid)
{
	__u32 pair = site->pair, group = PKBPF_GPU_GROUP_OF(pair);
	struct pkbpf_gpu_thread *call;

	if (PKBPF_GPU_SHAPE_OF(pair) == PKBPF_GPU_REGISTER) {
		name_kernel(pid_tgid >> 32, PT_REGS_PARM2(ctx), ctx->cx);
		return;
	}
	call = begin_call(ctx, site, (__u32)pid_tgid);
	if (!call)
		return;
	call->pair = pair;
	call->code = PT_REGS_IP(ctx) - site->from_start;
	call->code_bytes = site->function_size;
	call->detail = 0;
	call->bytes = 0;
	call->weight = 0;
	call->stack_id = 0;
	call->state = site->role == PKBPF_SITE_CALL ? PKBPF_GPU_OPEN
		      : group == PKBPF_GPU_LAUNCH   ? PKBPF_GPU_ONCE
						    : PKBPF_GPU_HELD;
	read_arguments(ctx, call);
	call->stack_pointer = PT_REGS_SP(ctx);
	call->return_address = user_word(call->stack_pointer);
	if (group != PKBPF_GPU_NAME) {
		call->weight = choose_weight(pair);
		if (call->weight)
			call->stack_id = read_stack(ctx, pid_tgid);
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
		    (!call || !is_alive(call, PT_REGS_SP(ctx))))
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

SEC("?uprobe")
int gpu_call(struct pt_regs *ctx)
{
	__u32 number = (__u32)bpf_get_attach_cookie(ctx);
	struct pkbpf_span_site *site = bpf_map_lookup_elem(&gpu_sites, &number);
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	bool is_named;

	if (!site || !filter_current(pid_tgid >> 32, (__u32)pid_tgid))
		return 0;
	/* Kernels are registered when a program starts, perhaps before the interval. */
	is_named = PKBPF_GPU_GROUP_OF(site->pair) == PKBPF_GPU_NAME;
	if ((!gpu_control.start_ns || gpu_control.end_ns) && !is_named)
		return 0;
	if (site->role != PKBPF_SITE_RETURN)
		enter(ctx, site, pid_tgid);
	else if (is_exit(ctx, site))
		leave(ctx, site->pair, pid_tgid);
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
