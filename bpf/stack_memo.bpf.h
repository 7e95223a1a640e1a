/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recognizes a stack that was unwound before, without unwinding it again.
 *
 * User part: an unwinding depends on the registers it starts from and on the words it reads. If all
 * of them are equal, it would find the same frames.
 *
 * Kernel part: the context of a raw tracepoint program lies on the kernel stack, below all frames.
 * The distance between two return addresses depends on the function returned to. So if all return
 * addresses are equal, at equal distances from the context, the frames are equal. It is unknown
 * which words are return addresses, only which may be; all of those are compared. If an
 * unrecognized stack turns out to be equal after unwinding, the words that differ are not its
 * return addresses. They are no longer compared, unless a return address would then be missing.
 *
 * Values are compared, not hashes. More words are compared than needed: that costs an unwinding now
 * and then, but never a wrong frame.
 */
#ifndef PKBPF_STACK_MEMO_BPF_H
#define PKBPF_STACK_MEMO_BPF_H

#include "shared.bpf.h"
#include "stack.bpf.h"

#include <pkbpf/stack_memo.h>

/* Kernel stacks at a context switch are 300 to 1,500 bytes deep, under file systems 3,000. */
#define MEMO_KERNEL_WINDOW 512 /* words */
#define MEMO_USER_WINDOW   128
/* words above the stack pointer that one copy reads: 30 frames without large arrays */
#define MEMO_USER_NEAR 512

/* How long an entry counts as verified if a new unwinding may find a better stack: powers of two of
 * the clock. */
#define MEMO_INCOMPLETE_NS (1ULL << 30)
#define MEMO_DOUBTFUL_NS   (1ULL << 27)

/* Long loops are done in parts, by a function that the verifier follows for one part, at the start
 * of each program that recognizes stacks. Shorter parts are verified faster, and calls cost little
 * compared to the reads. */
#define MEMO_PART_WORDS 8

/* Functions from the entry of a system call to the one that opens the random gap. They lie above
 * the gap. */
#if defined(__TARGET_ARCH_x86)
#define MEMO_ENTRY_FRAMES 2
#else
#define MEMO_ENTRY_FRAMES 6
#endif

struct memo_scratch {
	__u64 anchor, regs_address;
	__u32 kernel_words;	     /* from the context up to the saved registers */
	__u32 scratch_slot;	     /* scratch slot in which the stack was unwound */
	__u32 user_first, user_have; /* first word in user[], and number of words */
	/* Registers of the leaf; ip 0: no user stack, or one that is not cached. */
	__u64 ip, sp, fp, bx;
	__u64 mm, born_ns;
	__u64 comm[2]; /* of the current task */
	/* further distinction of stacks of one leaf, so that the first entry compared is likely the
	 * right one */
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

/* Returns whether a word may be a return address: kernel text, modules, BPF programs. Pointers to
 * kernel data pass as well, which does no harm: they are compared, too. */
static __always_inline bool memo_may_be_code(__u64 word)
{
	/* Constants, because libbpf reads all of /proc/kallsyms at each start to resolve a symbol:
	 * 70 ms. */
#if defined(__TARGET_ARCH_x86)
	const __u64 start = 0xffffffff80000000ULL; /* the kernel image, modules above it */
#else
	const __u64 start = 0xffff800000000000ULL; /* modules, the kernel image */
#endif

	return word >= start && word < 0xffffffffff000000ULL;
}

/* Fills in the input of a search; false: such a stack is not cached. */
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
	/* Deeper than the window, or not on this stack at all. */
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
	/* Outside of a system call the unwinding may depend on any register, and such places hardly
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

/* Returns whether the unwinding may have used this register: only if it pointed into the stack.
 * Otherwise it would have read nonsense. */
static __always_inline bool memo_register_matters(__u64 value, __u64 sp)
{
	return value - sp < PKBPF_UNWIND_MAX_GUESS_BYTES;
}

static __always_inline bool memo_same_register(__u64 then, __u64 now, __u64 sp)
{
	return then == now || (!memo_register_matters(then, sp) && !memo_register_matters(now, sp));
}

/* Returns whether the entry is for a stack of this thread with this leaf. */
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
 * Global functions: the verifier follows each once, not for every path that leads to it. Both work
 * on this CPU's memo scratch and return the number of an entry in stack_memos, or PKBPF_MEMO_NONE.
 * memo_find() finds the entry of the current stack. memo_store() caches the stack that was just
 * unwound, in place of the least recently used entry.
 */
__u32 memo_find(__u32 tid, __u64 now_ns);
__u32 memo_store(__u32 tid, __u64 stack_id, __u64 now_ns);

static __always_inline struct pkbpf_stack_memo *memo_at(__u32 slot)
{
	return bpf_map_lookup_elem(&stack_memos, &slot);
}

#endif
