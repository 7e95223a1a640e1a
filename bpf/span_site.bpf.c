// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Regions between places that programs did not mark for us: USDT probes, and the calls of
 * functions. A table says what each place is. */
#include "function_exit.bpf.h"
#include "span_site.bpf.h"
#include "span_slow.bpf.h"

/* What tells the regions of sites from those of stubs, whose tokens are addresses. */
#define TOKEN_OF_SITES (1ULL << 62)
/* The most that the stack of a thread has. */
#define MAIN_STACK_BYTES   (64ULL << 20)
#define THREAD_STACK_BYTES (9ULL << 20)
/* The least that coroutines have. */
#define COROUTINE_STACK_BYTES (16ULL << 10)

/* Of the attributes of NVTX, as its headers have them: a text of bytes is read, no other kind. */
#define NVTX_KIND_AT	32
#define NVTX_MESSAGE_AT 40
#define NVTX_ASCII	1

static __always_inline bool read_nvtx_message(__u64 *address)
{
	__u64 record = *address, kind;

	return read_memory(record + NVTX_KIND_AT, 4, &kind) && (__u32)kind == NVTX_ASCII &&
	       read_memory(record + NVTX_MESSAGE_AT, 8, address) && *address;
}

/* A name in the program's memory, or the one of the site. */
static __always_inline void read_site_name(struct pt_regs *ctx, struct pkbpf_span_stack *stack,
					   const struct pkbpf_span_site *site)
{
	__u64 address;

	if (read_operand(ctx, &site->value, &address) && address &&
	    (!site->value_is_record || read_nvtx_message(&address)))
		read_name(stack, address);
	else
		take_name(stack, site);
}

/* Numbers of different pairs do not meet. */
static __always_inline __u64 id_of(const struct pkbpf_span_site *site, __u64 id)
{
	return id ^ (__u64)site->pair << 48 ^ TOKEN_OF_SITES;
}

/* A region that begins again further up the stack, or at the same place, was left by a jump: an
 * error of a query, for one. Then so was what is inside of it. */
static __always_inline void drop_unfinished(struct pkbpf_span_stack *stack,
					    const struct pkbpf_span_site *site, __u64 stack_pointer)
{
	__u32 at = frame_find(stack, TOKEN_OF_SITES | site->pair);
	__u32 depth = stack->depth;

	if (at >= PKBPF_SPAN_DEPTH || frame_at(stack, at)->stack_pointer > stack_pointer)
		return;
	for (__u32 i = 0; i < PKBPF_SPAN_DEPTH; i++) {
		if (at + i >= depth)
			break;
		frame_lose(frame_at(stack, at + i));
	}
	stack->depth = at;
}

/* A function of its own: its stack is not above that of unwinding. Before 6.12 all functions on the
 * way down have 512 bytes. */
static __noinline int site_enter(struct pt_regs *ctx, const struct pkbpf_span_site *site)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u64 pid_tgid = bpf_get_current_pid_tgid(), id;
	struct pkbpf_span_stack *stack = stack_get(pid_tgid >> 32, (__u32)pid_tgid);
	struct pkbpf_span_frame *frame;
	__u64 gap_ns = gap_of(pid_tgid >> 32);
	__u32 row;

	if (!stack)
		return 0;
	if (gap_ns)
		span_forget(gap_ns);
	if (site->role == PKBPF_SITE_BEGIN) {
		read_site_name(ctx, stack, site);
		if (read_operand(ctx, &site->id, &id))
			id_begin(stack, id_of(site, id), 0);
		return 0;
	}
	if (!site->nests)
		drop_unfinished(stack, site, PT_REGS_SP(ctx));
	if (stack->depth >= PKBPF_SPAN_DEPTH) {
		stack->deeper++;
		counter_add(PKBPF_COUNTER_REGION_TOO_DEEP, 1);
		return 0;
	}
	read_site_name(ctx, stack, site);
	row = row_get(stack, row_of_top(stack), 0);
	frame = frame_open(stack, row, TOKEN_OF_SITES | site->pair, PT_REGS_SP(ctx));
	frame->flags = PKBPF_SPAN_UNSCOPED;
	span_read(&frame->at, task, (__u32)pid_tgid);
	return 0;
}

static __always_inline struct pkbpf_span_site *site_of(struct pt_regs *ctx)
{
	__u32 number = (__u32)bpf_get_attach_cookie(ctx);
	struct pkbpf_span_site *site = bpf_map_lookup_elem(&span_sites, &number);

	if (site)
		__sync_fetch_and_add(&site->hits, 1);
	return site && site->role != PKBPF_SITE_OFF && is_target() ? site : NULL;
}

SEC("?uprobe")
int span_site(struct pt_regs *ctx)
{
	struct pkbpf_span_site *site = site_of(ctx);
	__u64 id;

	if (!site)
		return 0;
	switch (site->role) {
	case PKBPF_SITE_ENTER:
	case PKBPF_SITE_BEGIN:
		site_enter(ctx, site);
		break;
	case PKBPF_SITE_LEAVE:
		span_pop(TOKEN_OF_SITES | site->pair, PT_REGS_SP(ctx), SPAN_LEAVE_SITE);
		break;
	case PKBPF_SITE_END:
		if (read_operand(ctx, &site->id, &id))
			span_end_id(id_of(site, id));
		break;
	}
	slow_send(ctx);
	return 0;
}

/* ---- calls of functions ---- */

#if defined(__TARGET_ARCH_x86)

/* Is this the stack that the thread began with? There a higher stack pointer is that of a caller;
 * coroutines and signal handlers have stacks of their own. */
static __always_inline bool is_native(struct task_struct *task, __u64 stack_pointer)
{
	__u64 main_end = BPF_CORE_READ(task, mm, start_stack);
	__u64 thread_end = BPF_CORE_READ(task, thread.fsbase);

	return main_end - stack_pointer < MAIN_STACK_BYTES ||
	       thread_end - stack_pointer < THREAD_STACK_BYTES;
}

/* Has this call ended without its return being seen? Its return address is in its place until
 * then. */
static __always_inline bool has_gone(const struct pkbpf_span_frame *frame, __u64 stack_pointer,
				     bool native)
{
	__u64 address = 0;

	if (native && frame->flags & PKBPF_SPAN_NATIVE)
		return frame->stack_pointer < stack_pointer;
	return bpf_probe_read_user(&address, sizeof(address), (void *)frame->stack_pointer) ||
	       address != frame->return_address;
}

/* Takes calls off the top that have ended without a return: by longjmp, by an exception. false: it
 * is no new call, but the one on top, which has jumped to where it begins. */
static __always_inline bool drop_gone(struct pkbpf_span_stack *stack,
				      const struct pkbpf_span_site *site, __u64 stack_pointer,
				      bool native)
{
	__u64 token = TOKEN_OF_SITES | site->pair;

	for (__u32 i = 0; i < PKBPF_SPAN_DEPTH; i++) {
		__u32 depth = stack->depth;
		struct pkbpf_span_frame *frame;

		if (!depth)
			break;
		frame = frame_at(stack, depth - 1);
		if (!(frame->flags & PKBPF_SPAN_FUNCTION))
			break;
		if (frame->stack_pointer == stack_pointer) {
			if (frame->token == token && site->has_loop)
				return false;
		} else if (!has_gone(frame, stack_pointer, native)) {
			break;
		}
		frame_lose(frame);
		stack->depth = depth - 1;
	}
	return true;
}

/* Row of the call of this function that this one is inside of; PKBPF_NO_ROW: none. Calls of other
 * coroutines are not around it. */
static __always_inline __u32 row_of_caller(struct pkbpf_span_stack *stack, __u64 token,
					   __u64 stack_pointer, bool native)
{
	__u32 at = frame_find(stack, token);
	struct pkbpf_span_frame *frame;

	if (at >= PKBPF_SPAN_DEPTH)
		return PKBPF_NO_ROW;
	frame = frame_at(stack, at);
	if (!native && frame->stack_pointer - stack_pointer > COROUTINE_STACK_BYTES)
		return PKBPF_NO_ROW;
	return frame->row;
}

/* A function begins. A global function; always returns 0. */
__attribute__((noinline)) int span_call(__u32 number, __u64 stack_pointer)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct pkbpf_span_site *site = bpf_map_lookup_elem(&span_sites, &number);
	__u64 pid_tgid = bpf_get_current_pid_tgid(), token;
	struct pkbpf_span_frame *frame;
	struct pkbpf_span_stack *stack;
	bool native, recursive;
	__u32 index;

	stack = stack_get(pid_tgid >> 32, (__u32)pid_tgid);
	if (!site || !stack)
		return 0;
	native = is_native(task, stack_pointer);
	if (!drop_gone(stack, site, stack_pointer, native))
		return 0;
	token = TOKEN_OF_SITES | site->pair;
	index = row_of_caller(stack, token, stack_pointer, native);
	recursive = index != PKBPF_NO_ROW;
	if (!recursive) {
		take_name(stack, site);
		index = row_get(stack, row_of_top(stack), PKBPF_REGION_FUNCTION);
	}
	if (site->role == PKBPF_SITE_COUNT || stack->depth >= PKBPF_SPAN_DEPTH) {
		struct pkbpf_span_row *row = bpf_map_lookup_elem(&span_rows, &index);

		if (row)
			__sync_fetch_and_add(&row->unmeasured, 1);
		if (span_config.want_callers)
			note_called(stack, 0);
		return 0;
	}
	frame = frame_open(stack, index, token, stack_pointer);
	frame->flags = PKBPF_SPAN_FUNCTION | (native ? PKBPF_SPAN_NATIVE : 0) |
		       (recursive ? PKBPF_SPAN_RECURSIVE : 0);
	bpf_probe_read_user(&frame->return_address, sizeof(frame->return_address),
			    (void *)stack_pointer);
	span_read(&frame->at, task, (__u32)pid_tgid);
	return 0;
}

/* Place of the call of this function with this stack pointer; PKBPF_SPAN_DEPTH: none. */
static __always_inline __u32 call_find(struct pkbpf_span_stack *stack, __u64 token,
				       __u64 stack_pointer)
{
	__u32 depth = stack->depth;

	for (__u32 i = 1; i <= PKBPF_SPAN_DEPTH; i++) {
		struct pkbpf_span_frame *frame;

		if (i > depth)
			break;
		frame = frame_at(stack, depth - i);
		if (frame->token == token && frame->stack_pointer == stack_pointer)
			return depth - i;
	}
	return PKBPF_SPAN_DEPTH;
}

/* Takes calls off the top that have ended without a return. Returns whether other calls are above
 * `at` still, as of coroutines. */
static __always_inline bool drop_above(struct pkbpf_span_stack *stack, __u32 at,
				       __u64 stack_pointer, bool native)
{
	for (__u32 i = 0; i < PKBPF_SPAN_DEPTH; i++) {
		__u32 depth = stack->depth;
		struct pkbpf_span_frame *frame;

		if (depth <= at + 1)
			break;
		frame = frame_at(stack, depth - 1);
		if (!(frame->flags & PKBPF_SPAN_FUNCTION))
			break;
		if (!has_gone(frame, stack_pointer, native))
			return true;
		frame_lose(frame);
		stack->depth = depth - 1;
	}
	return false;
}

/* A function returns, or jumps to another one; nothing else has its stack pointer. A global
 * function; always returns 0. */
__attribute__((noinline)) int span_return(__u32 pair, __u64 stack_pointer)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), at;
	struct pkbpf_span_stack *stack = stack_find(tid);
	bool interleaved, native;

	if (!stack)
		return 0;
	at = call_find(stack, TOKEN_OF_SITES | pair, stack_pointer);
	if (at >= PKBPF_SPAN_DEPTH)
		return 0;
	span_read(&stack->now, task, tid);
	native = is_native(task, stack_pointer);
	/* Calls of coroutines are left where they are; their waits are the thread's own, too. */
	interleaved = drop_above(stack, at, stack_pointer, native) && !native;
	if (interleaved)
		frame_at(stack, at)->flags |= PKBPF_SPAN_INTERLEAVED;
	frame_close(stack, at);
	frame_remove(stack, at,
		     interleaved ? PKBPF_SPAN_INTERLEAVED | PKBPF_SPAN_DETACHED
				 : PKBPF_SPAN_DETACHED);
	return 0;
}

SEC("?uprobe")
int span_function(struct pt_regs *ctx)
{
	struct pkbpf_span_site *site = site_of(ctx);
	__u32 number = (__u32)bpf_get_attach_cookie(ctx);

	if (!site)
		return 0;
	if (site->role == PKBPF_SITE_RETURN) {
		if (is_exit(ctx, site)) {
			span_return(site->pair, PT_REGS_SP(ctx));
			slow_send(ctx);
		}
	} else {
		span_call(number, PT_REGS_SP(ctx) + site->stack_bytes);
		if (span_config.want_callers && site->role == PKBPF_SITE_COUNT)
			slow_send(ctx);
	}
	return 0;
}

#else

SEC("?uprobe")
int span_function(struct pt_regs *ctx)
{
	(void)ctx;
	return 0;
}

#endif
