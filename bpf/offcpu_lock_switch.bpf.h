/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Waits for locks that begin at a context switch, and switches of threads that hold locks. */
#ifndef PKBPF_OFFCPU_LOCK_SWITCH_BPF_H
#define PKBPF_OFFCPU_LOCK_SWITCH_BPF_H

#include "offcpu_lock_end.bpf.h"
#include "pt_regs.bpf.h"
#include "stack.bpf.h"
#include "task_regs.bpf.h"

#if defined(__TARGET_ARCH_x86)
#define NR_FUTEX 202
#else
#define NR_FUTEX 98
#endif

struct upid___lock {
	int nr;
	void *ns;
};

struct pid___lock {
	unsigned int level;
	struct upid___lock numbers[1];
};

struct task_struct___lock {
	struct pid___lock *thread_pid;
};

struct lock_call {
	__u64 address;
	__u32 operation, value;
	__u64 timeout; /* address; 0: none */
};

#if defined(__TARGET_ARCH_x86)
/* Layouts of 32-bit programs are not known. */
#define IS_FUTEX(regs, read)                                                                       \
	((read(regs, cs) & 3) == 3 && read(regs, cs) != USER32_CS &&                               \
	 read(regs, orig_ax) == NR_FUTEX)
#define FUTEX_ADDRESS(regs, read)   read(regs, di)
#define FUTEX_OPERATION(regs, read) read(regs, si)
#define FUTEX_VALUE(regs, read)	    read(regs, dx)
#define FUTEX_TIMEOUT(regs, read)   read(regs, r10)
#else
#define IS_FUTEX(regs, read)                                                                       \
	(!(read(regs, user_regs.pstate) & 0x1f) && read(regs, syscallno) == NR_FUTEX)
#define FUTEX_ADDRESS(regs, read)   read(regs, user_regs.regs[0])
#define FUTEX_OPERATION(regs, read) read(regs, user_regs.regs[1])
#define FUTEX_VALUE(regs, read)	    read(regs, user_regs.regs[2])
#define FUTEX_TIMEOUT(regs, read)   read(regs, user_regs.regs[3])
#endif
#define READ_TYPED(regs, field) ((regs)->field)

/* Reads the arguments of the current task's call of futex. false: it is in no such call. */
static __always_inline bool lock_call_read(struct lock_call *call)
{
	struct pt_regs *regs;

	if (task_pt_regs_exists()) {
		regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
		if (!IS_FUTEX(regs, READ_TYPED))
			return false;
		call->address = FUTEX_ADDRESS(regs, READ_TYPED);
		call->operation = (__u32)FUTEX_OPERATION(regs, READ_TYPED);
		call->value = (__u32)FUTEX_VALUE(regs, READ_TYPED);
		call->timeout = FUTEX_TIMEOUT(regs, READ_TYPED);
		return true;
	}
	regs = (void *)task_regs_address();
	if (!IS_FUTEX(regs, BPF_CORE_READ))
		return false;
	call->address = FUTEX_ADDRESS(regs, BPF_CORE_READ);
	call->operation = (__u32)FUTEX_OPERATION(regs, BPF_CORE_READ);
	call->value = (__u32)FUTEX_VALUE(regs, BPF_CORE_READ);
	call->timeout = FUTEX_TIMEOUT(regs, BPF_CORE_READ);
	return true;
}

/* Words of locks have the number that the process itself sees. */
static __always_inline __u64 lock_space_read(__u32 *tid)
{
	struct task_struct___lock *task = (void *)bpf_get_current_task();
	struct pid___lock *pid = BPF_CORE_READ(task, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level);
	struct upid___lock *number;

	if (!level)
		return 0;
	number = (void *)((__u64)pid + bpf_core_field_offset(struct pid___lock, numbers) +
			  level * (__u64)bpf_core_type_size(struct upid___lock));
	*tid = (__u32)BPF_CORE_READ(number, nr);
	return (__u64)BPF_CORE_READ(number, ns);
}

/* The number of the thread in its namespace is no longer its own. */
static __noinline int lock_forget_number(__u32 slot)
{
	struct pkbpf_lock_thread *locks = bpf_map_lookup_elem(&lock_threads, &slot);
	struct pkbpf_lock_tid number = {};
	__u32 *known;

	if (!locks || !locks->space)
		return 0;
	number.space = locks->space;
	number.tid = locks->number;
	known = bpf_map_lookup_elem(&lock_tids, &number);
	/* Another thread may have it by now. */
	if (known && *known == slot)
		bpf_map_delete_elem(&lock_tids, &number);
	locks->space = 0;
	return 0;
}

/* Begins the account of the current thread, in `slot`, unless it has begun. priority: of the
 * kernel. */
static __noinline int lock_thread_begin(__u32 slot, __u32 priority)
{
	struct pkbpf_lock_thread *locks = bpf_map_lookup_elem(&lock_threads, &slot);
	struct pkbpf_thread *thread = thread_at(slot);
	struct pkbpf_lock_tid number = {};

	if (!locks || !thread)
		return 0;
	if (locks->tid == thread->tid) {
		locks->priority = priority + 1;
		return 0;
	}
	lock_forget_number(slot);
	__builtin_memset(locks, 0, sizeof(*locks));
	locks->priority = priority + 1;
	locks->space = number.space = lock_space_read(&number.tid);
	locks->number = number.tid;
	/* Without room its locks have no holder, which is counted. */
	if (number.space)
		bpf_map_update_elem(&lock_tids, &number, &slot, BPF_ANY);
	locks->tid = thread->tid;
	return 0;
}

static __u32 lock_next_row;

/* Returns the number of the row of a lock; creates it if it is the first. PKBPF_NO_ROW: no room. */
static __always_inline __u32 lock_row_number(const struct pkbpf_lock_key *key, __u32 class)
{
	__u32 *known = bpf_map_lookup_elem(&lock_index, key), index = 0;
	struct pkbpf_lock_row *row;

	if (known)
		return *known;
	if (!slot_take(&lock_rows, offsetof(struct pkbpf_lock_row, claims), &lock_next_row,
		       &lock_free_rows, &index))
		return PKBPF_NO_ROW;
	row = bpf_map_lookup_elem(&lock_rows, &index);
	if (!row)
		return PKBPF_NO_ROW;
	if (bpf_map_update_elem(&lock_index, key, &index, BPF_NOEXIST)) {
		bpf_map_push_elem(&lock_free_rows, &index, 0);
		known = bpf_map_lookup_elem(&lock_index, key);
		return known ? *known : PKBPF_NO_ROW;
	}
	row->address = key->address;
	row->class = class;
	row->pid = key->pid; /* last: user space reads only rows with a pid */
	return index;
}

/* The thread in `slot` is about to leave its place: that was the place of the locks it holds. */
static __noinline int lock_step(__u32 slot, __u64 now_ns)
{
	struct pkbpf_lock_thread *locks = bpf_map_lookup_elem(&lock_threads, &slot);
	struct pkbpf_lock_row *row;

	if (!locks)
		return 0;
	for (int i = 0; i < PKBPF_LOCKS_HELD; i++) {
		__u32 index = locks->held[i] - 1;

		if (index == PKBPF_NO_ROW)
			continue;
		row = bpf_map_lookup_elem(&lock_rows, &index);
		if (!row || row->holder != locks->tid || !row->waiters)
			locks->held[i] = 0;
		else
			lock_account(index, now_ns);
	}
	return 0;
}

/* Finds the account of the owner that the words name. PKBPF_NO_ROW: it is no thread of the process.
 */
static __always_inline __u32 lock_owner_slot(const struct pkbpf_lock_thread *locks, __u32 pid,
					     __u32 owner, bool is_private)
{
	struct pkbpf_lock_tid number = {.space = locks->space, .tid = owner};
	struct pkbpf_thread *thread;
	__u32 slot = PKBPF_NO_ROW, *known;

	if (number.space) {
		known = bpf_map_lookup_elem(&lock_tids, &number);
		slot = known ? *known : slot;
		thread = thread_at(slot);
		if (!thread || !lock_thread_at(slot, thread->tid))
			return PKBPF_NO_ROW;
	} else {
		thread = thread_find(owner, &slot);
	}
	if (!thread || thread->place == PKBPF_THREAD_ENDED || (is_private && thread->pid != pid))
		return PKBPF_NO_ROW;
	return slot;
}

/* Sets the holder of a lock from its words. */
static __noinline int lock_set_owner(__u32 index, __u32 slot, __u32 owner, bool is_private)
{
	struct pkbpf_lock_row *row = bpf_map_lookup_elem(&lock_rows, &index);
	struct pkbpf_lock_thread *locks = bpf_map_lookup_elem(&lock_threads, &slot);
	struct pkbpf_thread *thread = thread_at(slot);

	if (!row || !locks || !thread)
		return 0;
	row->hand_over = 0;
	/* Who got such a lock last holds it, as far as is known. */
	if (row->class == PKBPF_LOCK_WORD)
		return 0;
	row->holder = 0;
	if (!owner) {
		row->hand_over = row->class != PKBPF_LOCK_RWLOCK;
		return 0;
	}
	slot = lock_owner_slot(locks, thread->pid, owner, is_private);
	thread = thread_at(slot);
	if (!thread) {
		counter_add(PKBPF_COUNTER_LOCK_OWNER_UNKNOWN, 1);
		return 0;
	}
	row->holder_slot = slot;
	row->holder = thread->tid;
	locks = lock_thread_at(slot, thread->tid);
	if (locks)
		lock_hold(locks, index + 1);
	return 0;
}

/* Until when a call waits at most. */
static __always_inline __u64 lock_call_expiry(const struct lock_call *call, __u64 now_ns)
{
	__u64 time[2];

	if (!call->timeout || bpf_probe_read_user(time, sizeof(time), (void *)call->timeout))
		return ~0ULL;
	return pkbpf_lock_expiry(call->operation, time[0], time[1], now_ns, offcpu_control.wall_ns);
}

/* The current thread, in `slot`, begins to wait. */
static __noinline int lock_begin(__u32 slot, __u64 now_ns)
{
	struct pkbpf_thread *thread = thread_at(slot);
	struct pkbpf_lock_key key = {};
	struct pkbpf_lock_view view = {};
	struct pkbpf_lock_thread *locks;
	__u32 words[PKBPF_LOCK_WORDS], index;
	struct pkbpf_lock_row *row;
	struct lock_call call;

	locks = thread ? lock_thread_at(slot, thread->tid) : NULL;
	if (!locks || current_is_kernel_thread() || !lock_call_read(&call))
		return 0;
	if (bpf_probe_read_user(words, sizeof(words), (void *)call.address)) {
		counter_add(PKBPF_COUNTER_LOCK_UNREADABLE, 1);
		return 0;
	}
	pkbpf_lock_read(call.address, call.operation, call.value, words, &view);
	if (view.class == PKBPF_LOCK_NONE)
		return 0;
	key.address = view.address;
	key.pid = thread->pid;
	key.class = view.class == PKBPF_LOCK_SIGNAL ? PKBPF_LOCK_SIGNAL : 0;
	index = lock_row_number(&key, view.class);
	if (index == PKBPF_NO_ROW) {
		counter_add(PKBPF_COUNTER_LOCK_TABLE_FULL, 1);
		return 0;
	}
	row = bpf_map_lookup_elem(&lock_rows, &index);
	if (!row)
		return 0;
	locks->row = index + 1;
	if (view.class == PKBPF_LOCK_SIGNAL)
		return 0;
	lock_account(index, now_ns);
	/* The words of one lock may look like another class for a moment. */
	if (row->class == PKBPF_LOCK_WORD)
		row->class = view.class;
	if (!row->waiters || !row->priority || locks->priority < row->priority)
		row->priority = locks->priority;
	__sync_fetch_and_add(&row->waiters, 1);
	if (row->waiters > row->max_waiters && row->waiters < WAITERS_MAX)
		row->max_waiters = row->waiters;
	locks->waits = 1;
	locks->expiry_ns = lock_call_expiry(&call, now_ns);
	lock_set_owner(index, slot, view.owner, call.operation & PKBPF_FUTEX_PRIVATE);
	if (offcpu_config.trace_ns)
		cause_set_owner(slot, row);
	return 0;
}

#endif
