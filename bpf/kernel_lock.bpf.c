// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Waits for locks of the kernel, between two tracepoints that fire only where a lock is taken
 * (5.19). Spinning counts as well as sleeping. A mutex begins twice: it spins, then it sleeps.
 */
#include "kernel_compat.bpf.h"
#include "offcpu.bpf.h"
#include "slot.bpf.h"
#include "task_filter.bpf.h"

#include <pkbpf/kernel_lock.h>
#include <pkbpf/lock.h>

/* Frames of the program and its caller. */
#define TRACEPOINT_FRAMES 2

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct pkbpf_kernel_lock_wait);
	__type(value, __u64); /* since when; the flags in the lowest bits */
} kernel_lock_waits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_lock_row);
} kernel_lock_rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct pkbpf_kernel_lock_key);
	__type(value, __u32);
} kernel_lock_index SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, __u32);
} kernel_lock_free SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, PKBPF_KERNEL_LOCK_FRAMES * sizeof(__u64));
} kernel_lock_stacks SEC(".maps");

/* Is one of the programs at work on this CPU? The maps have locks, too: of these nothing is
 * followed, or a program would wait for what it holds itself (kernels before 6.1 do not prevent
 * it). */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} kernel_lock_busy SEC(".maps");

static __u32 kernel_lock_next;

/* NULL: it is. Else to be set to 0. */
static __always_inline __u32 *enter(void)
{
	__u32 zero = 0, *busy = bpf_map_lookup_elem(&kernel_lock_busy, &zero);

	if (!busy || *busy)
		return NULL;
	*busy = 1;
	return busy;
}

struct rw_semaphore___lock {
	long owner;
};

struct mm_struct___lock {
	struct rw_semaphore___lock mmap_lock;
};

/* Is it the lock of the current process's mappings? */
static __always_inline bool is_mmap_lock(__u64 lock)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u64 mm = (__u64)BPF_CORE_READ(task, mm);

	return mm && bpf_core_field_exists(struct mm_struct___lock, mmap_lock) &&
	       lock == mm + bpf_core_field_offset(struct mm_struct___lock, mmap_lock);
}

static __always_inline __u32 row_of(const struct pkbpf_kernel_lock_key *key, __u32 flags)
{
	__u32 *known = bpf_map_lookup_elem(&kernel_lock_index, key), index = 0;
	struct pkbpf_lock_row *row;

	if (known)
		return *known;
	if (!slot_take(&kernel_lock_rows, offsetof(struct pkbpf_lock_row, claims),
		       &kernel_lock_next, &kernel_lock_free, &index))
		return PKBPF_NO_ROW;
	row = bpf_map_lookup_elem(&kernel_lock_rows, &index);
	if (!row)
		return PKBPF_NO_ROW;
	if (bpf_map_update_elem(&kernel_lock_index, key, &index, BPF_NOEXIST)) {
		/* Another CPU was faster. */
		bpf_map_push_elem(&kernel_lock_free, &index, 0);
		known = bpf_map_lookup_elem(&kernel_lock_index, key);
		return known ? *known : PKBPF_NO_ROW;
	}
	row->address = key->lock;
	row->class = pkbpf_kernel_lock_class(flags);
	row->holder_slot = key->stack;
	row->hand_over = is_mmap_lock(key->lock);
	row->pid = key->pid; /* last: user space reads only rows with a pid */
	return index;
}

SEC("?tp_btf/contention_begin")
int BPF_PROG(kernel_lock_begin, void *lock, unsigned int flags)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid(), begun;
	struct pkbpf_kernel_lock_wait wait = {.lock = (__u64)lock, .tid = (__u32)pid_tgid};
	__u32 *busy;

	/* Idle tasks are not accounted. */
	if (!pid_tgid || !offcpu_control.start_ns || offcpu_control.end_ns ||
	    !filter_current(pid_tgid >> 32, (__u32)pid_tgid))
		return 0;
	busy = enter();
	if (!busy)
		return 0;
	begun = (bpf_ktime_get_ns() & ~(__u64)PKBPF_KERNEL_LOCK_FLAGS) |
		(flags & PKBPF_KERNEL_LOCK_FLAGS);
	/* Of a wait with an end that was not seen, the start is of no use. */
	if (bpf_map_update_elem(&kernel_lock_waits, &wait, &begun,
				flags & PKBPF_KERNEL_LOCK_MUTEX ? BPF_NOEXIST : BPF_ANY) &&
	    !(flags & PKBPF_KERNEL_LOCK_MUTEX))
		counter_add(PKBPF_COUNTER_LOCK_TABLE_FULL, 1);
	*busy = 0;
	return 0;
}

static __always_inline void add_wait(struct pkbpf_lock_row *row, __u64 ns)
{
	__u32 bucket = pkbpf_histogram_index(ns) >> PKBPF_LOCK_BUCKET_SHIFT;

	__sync_fetch_and_add(&row->waits, 1);
	__sync_fetch_and_add(&row->wait_ns, ns);
	if (ns > row->max_ns)
		row->max_ns = ns;
	if (bucket < PKBPF_LOCK_BUCKETS)
		__sync_fetch_and_add(&row->buckets[bucket], 1);
}

static __always_inline void end_wait(void *ctx, const struct pkbpf_kernel_lock_wait *wait,
				     __u64 pid_tgid)
{
	__u64 *begun = bpf_map_lookup_elem(&kernel_lock_waits, wait), since_ns, now_ns;
	struct pkbpf_kernel_lock_key key = {};
	struct pkbpf_lock_row *row;
	__u32 flags, index;
	long stack;

	if (!begun)
		return;
	since_ns = *begun;
	flags = since_ns & PKBPF_KERNEL_LOCK_FLAGS;
	bpf_map_delete_elem(&kernel_lock_waits, wait);
	now_ns = bpf_ktime_get_ns();
	if (offcpu_control.end_ns && now_ns > offcpu_control.end_ns)
		now_ns = offcpu_control.end_ns;
	stack = bpf_get_stackid(ctx, &kernel_lock_stacks, TRACEPOINT_FRAMES);
	key.lock = wait->lock;
	key.pid = pid_tgid >> 32;
	key.stack = stack < 0 ? PKBPF_KERNEL_LOCK_NO_STACK : (__u32)stack;
	index = row_of(&key, flags);
	row = bpf_map_lookup_elem(&kernel_lock_rows, &index);
	if (row)
		add_wait(row, now_ns > since_ns ? now_ns - since_ns : 0);
	else
		counter_add(PKBPF_COUNTER_LOCK_TABLE_FULL, 1);
}

SEC("?tp_btf/contention_end")
int BPF_PROG(kernel_lock_end, void *lock, int result)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct pkbpf_kernel_lock_wait wait = {.lock = (__u64)lock, .tid = (__u32)pid_tgid};
	__u32 *busy = enter();

	if (!busy)
		return 0;
	end_wait(ctx, &wait, pid_tgid);
	*busy = 0;
	return 0;
}
