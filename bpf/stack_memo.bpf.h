/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recognises a stack that was unwound before, without walking it again.
 *
 * User part: the unwinding is a function of the registers it began with and of the words it read.
 * If all of them are what they were, it would find the same frames.
 *
 * Kernel part: the context of a raw tracepoint program lies on the kernel stack, below all frames,
 * and the distance from one return address to the next is given by the function it returns to. So
 * if all return addresses are where and what they were, counted from the context, the frames are
 * the same. Which words are return addresses is not known, only which may be; all of those are
 * compared. When a stack that was not recognised turns out to be the same after a walk, the words
 * that differ are not its return addresses, and are compared no more, unless a return address then
 * were missing.
 *
 * Both are comparisons of values, not of hashes; more words are compared than needed, which costs a
 * walk now and then and never a wrong frame.
 */
#ifndef PKBPF_STACK_MEMO_BPF_H
#define PKBPF_STACK_MEMO_BPF_H

#include "shared.bpf.h"
#include "stack.bpf.h"

#include <pkbpf/stack_memo.h>

/* Kernel stacks at a context switch are 300 to 1,500 bytes deep, under file systems 3,000. */
#define MEMO_KERNEL_WINDOW 512 /* words */
#define MEMO_USER_WINDOW   128
/* words above the stack pointer that are read at once: 30 frames without large arrays */
#define MEMO_USER_NEAR 512

/* How long stacks are believed that may get better, on the clock: powers of two. */
#define MEMO_INCOMPLETE_NS (1ULL << 30)
#define MEMO_DOUBTFUL_NS   (1ULL << 27)

/*
 * Long loops are done in parts by a function that the verifier walks for one part, at the start of
 * each program that recognises stacks: the shorter the part, the shorter that takes; calls cost
 * little beside what is read.
 */
#define MEMO_PART_WORDS 8

/* Functions from the entry of a system call to the one that opens the gap, which lie above it. */
#if defined(__TARGET_ARCH_x86)
#define MEMO_ENTRY_FRAMES 2
#else
#define MEMO_ENTRY_FRAMES 6
#endif

struct memo_scratch {
	__u64 anchor, regs_address;
	__u32 kernel_words;	     /* from the context up to the saved registers */
	__u32 scratch_slot;	     /* where the stack was unwound */
	__u32 user_first, user_have; /* words of the user stack that user[] holds */
	/* The leaf's registers; ip 0: no user stack, or one that is not remembered. */
	__u64 ip, sp, fp, bx;
	__u64 mm, born_ns;
	__u64 comm[2]; /* of the current task */
	/* what else tells stacks of one leaf apart, so that the first entry looked at is the right
	 * one */
	__u64 salt;
	__u64 kernel[MEMO_KERNEL_WINDOW];
	__u64 user[MEMO_USER_NEAR];
};

struct stack_memos_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_stack_memo);
};

struct memo_scratch_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct memo_scratch);
};
extern struct stack_memos_map stack_memos SEC(".maps");
extern struct memo_scratch_map memo_scratch SEC(".maps");

extern const volatile struct pkbpf_memo_config memo_config;

/* May this be a return address: kernel text, modules, BPF programs? Pointers to the kernel's own
 * data pass as well, which does no harm: they are compared too. */
static __always_inline bool memo_may_be_code(__u64 word)
{
	/* Constants, because asking libbpf for a symbol makes it read all of /proc/kallsyms before
	 * each start: 70 ms. */
#if defined(__TARGET_ARCH_x86)
	const __u64 start = 0xffffffff80000000ULL; /* the kernel image, modules above it */
#else
	const __u64 start = 0xffff800000000000ULL; /* modules, the kernel image */
#endif

	return word >= start && word < 0xffffffffff000000ULL;
}

/* Takes what the search for a memo begins with; false: a stack like this is not remembered. */
static __always_inline bool memo_begin(struct memo_scratch *memo, void *ctx,
				       struct task_struct *task)
{
	struct pt_regs *regs;
	__u64 bytes;

	if (!task_pt_regs_exists())
		return false;
	regs = (void *)bpf_task_pt_regs(task);
	/* Through memory both become numbers. */
	*(volatile __u64 *)&memo->anchor = (__u64)ctx;
	*(volatile __u64 *)&memo->regs_address = (__u64)regs;
	bytes = *(volatile __u64 *)&memo->regs_address - *(volatile __u64 *)&memo->anchor;
	/* Deeper, or not on this stack at all. */
	if ((bytes & 7) || bytes > MEMO_KERNEL_WINDOW * 8)
		return false;
	memo->kernel_words = bytes / 8;
	memo->ip = 0;
	memo->sp = 0;
	memo->fp = 0;
	memo->bx = 0;
	memo->salt = 0;
	if (task->flags & PF_KTHREAD)
		return true;
#if defined(__TARGET_ARCH_x86)
	if ((regs->cs & 3) != 3)
		return true;
	memo->ip = regs->ip;
	memo->sp = regs->sp;
	memo->fp = regs->bp;
	memo->bx = regs->bx;
	/* Not in a system call: the unwinding may depend on any register, and such places hardly
	 * repeat. */
	return (__s64)regs->orig_ax >= 0;
#else
	if ((regs->user_regs.pstate & 0xf) != 0)
		return true;
	memo->ip = regs->user_regs.pc;
	memo->sp = regs->user_regs.sp;
	memo->fp = regs->user_regs.regs[29];
	return regs->syscallno >= 0;
#endif
}

/* May the unwinding have used this register? Only if it pointed into the stack; else it would have
 * read nonsense. */
static __always_inline bool memo_register_matters(__u64 value, __u64 sp)
{
	return value - sp < PKBPF_UNWIND_MAX_GUESS_BYTES;
}

static __always_inline bool memo_same_register(__u64 then, __u64 now, __u64 sp)
{
	return then == now || (!memo_register_matters(then, sp) && !memo_register_matters(now, sp));
}

/* Is the entry about a stack of this thread with this leaf? */
static __always_inline bool memo_is_about(const struct pkbpf_stack_memo *entry,
					  const struct memo_scratch *memo, __u32 tid)
{
	return entry->tid == tid && entry->sp == memo->sp && entry->ip == memo->ip &&
	       entry->born_ns == memo->born_ns && entry->mm == memo->mm &&
	       memo_same_register(entry->fp, memo->fp, memo->sp) &&
	       memo_same_register(entry->bx, memo->bx, memo->sp);
}

static __always_inline __u32 memo_slot(const struct memo_scratch *memo, __u32 tid)
{
	__u64 hash = (memo->sp ^ ((__u64)tid << 32)) * 0x9E3779B97F4A7C15ULL;

	hash = (hash ^ memo->ip ^ memo->salt << 56) * 0x9E3779B97F4A7C15ULL;
	return (__u32)(hash >> 40) & memo_config.mask & ~(PKBPF_MEMO_WAYS - 1);
}

/*
 * Global functions, so that the verifier walks each once and not for every path that leads to it.
 * Both work on the memo scratch of this CPU and return the number of an entry in stack_memos, or
 * PKBPF_MEMO_NONE. memo_find: the one that is this stack. memo_store: the one that remembers the
 * stack that was just unwound, in place of one that was not used for long.
 */
__u32 memo_find(__u32 tid, __u64 now_ns);
__u32 memo_store(__u32 tid, __u64 stack_id, __u64 now_ns);

static __always_inline struct pkbpf_stack_memo *memo_at(__u32 slot)
{
	return bpf_map_lookup_elem(&stack_memos, &slot);
}

#endif
