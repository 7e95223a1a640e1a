/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the originator of a block request and the row it counts in, while the submitter runs.
 * Included by one file. */
#ifndef PKBPF_BLOCKIO_OWNER_BPF_H
#define PKBPF_BLOCKIO_OWNER_BPF_H

#include "block_compat.bpf.h"
#include "blockio.bpf.h"
#include "kernel_compat.bpf.h"
#include "kernel_word.bpf.h"
#include "scratch_user.bpf.h"
#include "shed.bpf.h"
#include "stack_id.bpf.h"
#include "python.bpf.h"
#include "stack_memo.bpf.h"
#include "task_filter.bpf.h"

/* include/linux/sched.h; unchanged since 5.8 */
#define PF_WQ_WORKER 0x00000020
#define PF_MEMALLOC  0x00000800
#define PF_KSWAPD    0x00020000
/* MEMALLOC_NOIO and LOCAL_THROTTLE: the worker of a loop device */
#define PF_LOOP (0x00080000 | 0x00100000)

/* Frames of tracing between the tracepoint's call and the program. */
#define TRACEPOINT_FRAMES 3

/* One in this many recognized stacks is unwound all the same, to verify the recognition. */
#define MEMO_CHECK_EVERY 1024

__u32 blockio_row_number(__u64 stack_id, __u64 pid_tgid, __u64 cgroup_id, __u32 device,
			 __u32 state);

/* The current thread. */
struct submitter {
	__u32 pid, tid, flags;
	__u64 mm, born_ns;
};

/* The process and thread that a request is counted for. */
struct owner {
	__u32 pid, tid;
	__u64 cgroup_id; /* write-back only; for others the cgroup is read when a row is made */
	bool lower, writeback, is_kernel_thread;
};

/* Scratch of one search for an originator. Kept in a register or on the stack, it would make the
 * verifier follow each possible originator to the end of the program. */
struct blockio_scratch {
	__u32 users;
	__u32 reserved;
	struct owner owner;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct blockio_scratch);
} blockio_scratch SEC(".maps");

/* Each helper costs a call and several returns; since 5.11 one helper is enough. */
static __always_inline void submitter_read(struct submitter *submitter)
{
	__u64 pid_tgid;

	if (typed_task_exists()) {
		struct task_struct *task = bpf_get_current_task_btf();

		submitter->pid = task->tgid;
		submitter->tid = task->pid;
		submitter->flags = task->flags;
		submitter->mm = kernel_pointer(task, mm);
		submitter->born_ns = task->start_time;
	} else {
		struct task_struct *task = (void *)bpf_get_current_task();

		pid_tgid = bpf_get_current_pid_tgid();
		submitter->pid = pid_tgid >> 32;
		submitter->tid = (__u32)pid_tgid;
		submitter->flags = BPF_CORE_READ(task, flags);
		submitter->mm = (__u64)BPF_CORE_READ(task, mm);
		submitter->born_ns = BPF_CORE_READ(task, start_time);
	}
}

static __always_inline __u8 state_of(__u32 opf)
{
	__u8 flags = opf & REQUEST_FLAG(RAHEAD) ? PKBPF_BLOCKIO_AHEAD : 0;

	switch (opf & REQUEST_OP_MASK) {
	case REQUEST_READ:
		return PKBPF_BLOCKIO_READ | flags;
	case REQUEST_WRITE:
	case REQUEST_ZONE_APPEND:
		/* A thread waits for a write that includes a cache flush. */
		if (opf & (REQUEST_FLAG(SYNC) | REQUEST_FLAG(FUA) | REQUEST_FLAG(PREFLUSH)))
			flags |= PKBPF_BLOCKIO_SYNC;
		return PKBPF_BLOCKIO_WRITE | flags;
	case REQUEST_FLUSH:
		return PKBPF_BLOCKIO_FLUSH;
	case REQUEST_DISCARD:
	case REQUEST_SECURE_ERASE:
	case REQUEST_WRITE_ZEROES:
		return PKBPF_BLOCKIO_DISCARD;
	}
	return PKBPF_BLOCKIO_OTHER;
}

/* Returns the cgroup (version 2) of the pages or of the I/O. NULL: unknown, or the root cgroup,
 * which says nothing. */
static __always_inline struct cgroup *cgroup_of_bio(struct bio *bio)
{
	struct cgroup *cgroup = BPF_CORE_READ(bio, bi_blkg, blkcg, css.cgroup);
	struct kernfs_node *node;

	if (!bio || !cgroup || BPF_CORE_READ(cgroup, root, hierarchy_id) != 0)
		return NULL;
	node = BPF_CORE_READ(cgroup, kn);
	return node && kernfs_parent(node) ? cgroup : NULL;
}

/* Returns whether this is a direct write: a thread waits for it, it is no journal write, and it
 * writes no previously dirtied pages. */
static __always_inline bool is_direct_write(__u32 opf)
{
	return bpf_core_enum_value_exists(enum req_flag_bits, __REQ_IDLE) &&
	       (opf & REQUEST_FLAG(IDLE)) && !(opf & REQUEST_FLAG(META));
}

/*
 * Fills in the originator of a request; false: no target.
 *
 * A kernel worker writes pages that other processes have dirtied. So does a process short of memory
 * that writes pages while it looks for free ones. In both cases the kernel knows the cgroup of the
 * pages at most.
 */
static __always_inline bool owner_find(struct owner *owner, const struct submitter *submitter,
				       struct bio *bio, __u32 opf, __u8 state)
{
	__u32 flags = submitter->flags;
	bool host = config.target_mode == PKBPF_TARGET_HOST && !config.match_comm;

	owner->pid = submitter->pid;
	owner->tid = submitter->tid;
	owner->is_kernel_thread = flags & PF_KTHREAD;
	owner->lower = owner->is_kernel_thread && (flags & PF_LOOP) == PF_LOOP;
	owner->writeback = !owner->lower &&
			   (state & PKBPF_BLOCKIO_OPERATION_MASK) == PKBPF_BLOCKIO_WRITE &&
			   (owner->is_kernel_thread ? flags & (PF_WQ_WORKER | PF_KSWAPD)
						    : flags & PF_MEMALLOC) &&
			   !(owner->is_kernel_thread && is_direct_write(opf));
	if (owner->writeback) {
		struct cgroup *cgroup = bio ? cgroup_of_bio(bio) : NULL;

		owner->cgroup_id = cgroup ? BPF_CORE_READ(cgroup, kn, id) : 0;
		owner->pid = PKBPF_PID_WRITEBACK | (owner->cgroup_id & ~PKBPF_PID_WRITEBACK);
		owner->tid = owner->pid;
		if (config.target_mode == PKBPF_TARGET_CGROUP && !config.match_comm)
			return cgroup && filter_below_cgroup((__u64)BPF_CORE_READ(cgroup, kn));
		return host;
	}
	/* A worker may issue the request of another process: after a cgroup's limit throttled it,
	 * or for decryption. No tracepoint fires at the submission. The cgroup is known. */
	if (owner->is_kernel_thread && !owner->lower && (flags & PF_WQ_WORKER)) {
		struct cgroup *cgroup;

		if (config.target_mode == PKBPF_TARGET_CGROUP && !config.match_comm) {
			cgroup = bio ? cgroup_of_bio(bio) : NULL;
			if (cgroup)
				return filter_below_cgroup((__u64)BPF_CORE_READ(cgroup, kn));
		}
		counter_add(PKBPF_COUNTER_BLOCKIO_BY_WORKER, 1);
	}
	if (owner->is_kernel_thread || owner->tid == 0 || host)
		return host;
	return filter_current(owner->pid, owner->tid);
}

static __always_inline __u64 stack_walk(void *ctx, struct sample_scratch *scratch,
					const struct owner *owner)
{
	long size;

	sample_begin(scratch, SCRATCH_BLOCKIO, PKBPF_PROFILE_BLOCKIO);
	scratch->sample.pid = owner->pid;
	if (owner->writeback)
		__builtin_memcpy(scratch->sample.comm, PKBPF_WRITEBACK_COMM,
				 sizeof(PKBPF_WRITEBACK_COMM));
	scratch->unwind.log_wanted = 1;
	scratch->unwind.log_count = 0;
	if (config.want_kernel_stack) {
		size = bpf_get_stack(ctx, scratch->ips, PKBPF_MAX_KERNEL_FRAMES * 8,
				     TRACEPOINT_FRAMES);
		if (size < 0)
			counter_add(PKBPF_COUNTER_KERNEL_STACK_FAILED, 1);
		else
			scratch->sample.n_kernel = size / 8;
	}
	if (config.want_user_stack && !owner->is_kernel_thread && !owner->writeback)
		stack_read_user(ctx, scratch);
	return stack_send(scratch, SCRATCH_BLOCKIO);
}

/* Part of a row's key, packed so that two registers hold the key. */
#define ROW_LOWER 0x100 /* flag beside the state */

/* Returns the number of the row of a stack; creates the row if it is the first. The submitter's
 * comm is in the scratch memory. A global function: the verifier follows it once, not for every
 * path that leads to it. */
__attribute__((noinline)) __u32 blockio_row_number(__u64 stack_id, __u64 pid_tgid, __u64 cgroup_id,
						   __u32 device, __u32 state)
{
	struct pkbpf_blockio_row_key key = {
		.stack_id = stack_id,
		.pid = pid_tgid >> 32,
		.tid = blockio_config.per_thread ? (__u32)pid_tgid : 0,
		.device = device,
		.state = (__u8)state,
		.lower = !!(state & ROW_LOWER),
	};
	struct sample_scratch *scratch = scratch_get(SCRATCH_BLOCKIO);
	__u32 row;

	if (!scratch)
		return PKBPF_BLOCKIO_NO_ROW;
	key.comm = (__u16)pkbpf_comm_hash(((__u64 *)scratch->sample.comm)[0],
					  ((__u64 *)scratch->sample.comm)[1]);
	row = row_of(&key, cgroup_id, scratch->sample.comm);
	if (row != PKBPF_BLOCKIO_NO_ROW)
		return row;
	/* No room for more stacks: the request is counted for its process without a stack. */
	counter_add(PKBPF_COUNTER_ROW_TABLE_FULL, 1);
	if (!stack_id)
		return row;
	key.stack_id = 0;
	return row_of(&key, cgroup_id, scratch->sample.comm);
}

static __always_inline __u32 row_of_stack(const struct owner *owner, __u64 stack_id, __u32 device,
					  __u8 state)
{
	return blockio_row_number(stack_id, (__u64)owner->pid << 32 | owner->tid,
				  owner->writeback ? owner->cgroup_id : bpf_get_current_cgroup_id(),
				  device, owner->lower ? state | ROW_LOWER : state);
}

/* Returns the row of a recognized stack if the row is for this device and operation and the
 * thread's comm is the same. */
static __always_inline __u32 row_remembered(struct pkbpf_stack_memo *entry,
					    const struct memo_scratch *memo, __u32 slot,
					    __u32 device, __u8 state)
{
	__u32 index = slot < PKBPF_MEMO_ROWS ? entry->rows[slot] : PKBPF_BLOCKIO_NO_ROW;
	struct pkbpf_blockio_row *row = bpf_map_lookup_elem(&blockio_rows, &index);

	return row && row->key.device == device && row->key.state == state &&
			       ((__u64 *)row->comm)[0] == memo->comm[0] &&
			       ((__u64 *)row->comm)[1] == memo->comm[1]
		       ? index
		       : PKBPF_BLOCKIO_NO_ROW;
}

/* As in offcpu.bpf.c. A global function: its callers have no stack left. */
__attribute__((noinline)) int blockio_tell_python_apart(__u32 pid, __u64 now_ns)
{
	__u64 hash = python_stack_hash(SCRATCH_BLOCKIO, pid, now_ns);
	struct memo_scratch *memo;
	__u32 zero = 0;

	memo = bpf_map_lookup_elem(&memo_scratch, &zero);
	if (!memo || hash == PYTHON_NOT_HERE)
		return 0;
	memo->born_ns ^= hash;
	memo->salt ^= hash & 0xff;
	return 0;
}

/* Returns the row for the current task's activity. */
static __always_inline __u32 row_of_current(void *ctx, struct sample_scratch *scratch,
					    struct owner *owner, __u32 opf, struct bio *bio,
					    __u32 device, __u64 now_ns, __u32 *ret_tid)
{
	__u32 zero = 0, slot, row;
	struct pkbpf_stack_memo *entry = NULL;
	struct memo_scratch *memo;
	struct submitter submitter;
	__u64 id, expected = 0;
	bool memorable = false;
	__u8 state;

	/* Through memory: otherwise the verifier follows each possible value to the end. */
	*(volatile __u8 *)&scratch->sample.state = state_of(opf);
	state = *(volatile __u8 *)&scratch->sample.state;
	submitter_read(&submitter);
	if (!owner_find(owner, &submitter, bio, opf, state))
		return PKBPF_BLOCKIO_NO_ROW;
	barrier();
	*ret_tid = owner->tid;
	if (owner->lower) {
		/* Reported for the device only. */
		sample_begin(scratch, SCRATCH_BLOCKIO, PKBPF_PROFILE_BLOCKIO);
		return row_of_stack(owner, 0, device, state);
	}
	slot = state & PKBPF_BLOCKIO_OPERATION_MASK;
	memo = bpf_map_lookup_elem(&memo_scratch, &zero);
	if (!memo)
		return PKBPF_BLOCKIO_NO_ROW;
	if (!owner->is_kernel_thread && !owner->writeback &&
	    config.unwind_mode != PKBPF_UNWIND_FP && task_pt_regs_exists())
		memorable = memo_begin(memo, ctx, bpf_get_current_task_btf());
	if (memorable) {
		memo->mm = submitter.mm;
		memo->born_ns = submitter.born_ns ^
				region_hash(region_of_thread((__u32)bpf_get_current_pid_tgid()));
		if (!config.want_user_stack)
			memo->ip = 0;
		else if (config.want_python)
			blockio_tell_python_apart(owner->pid, now_ns);
		entry = memo_at(memo_find(owner->tid, now_ns));
		if (entry) {
			entry->hits++;
			entry->used_ns = now_ns;
			bpf_get_current_comm(memo->comm, sizeof(memo->comm));
			row = row_remembered(entry, memo, slot, device, state);
			/* An entry that counts as verified only for a time needs no check: a new
			 * unwinding may find a more complete stack. */
			if (row != PKBPF_BLOCKIO_NO_ROW &&
			    (entry->until_ns || entry->hits % MEMO_CHECK_EVERY))
				return row;
			if (!entry->until_ns)
				expected = entry->stack_id;
		}
	}
	if (shed_by(shed_control.blockio_mask)) {
		sample_begin(scratch, SCRATCH_BLOCKIO, PKBPF_PROFILE_BLOCKIO);
		counter_add(PKBPF_COUNTER_OVERHEAD_BLOCKIO, 1);
		return row_of_stack(owner, 0, device, state);
	}
	id = stack_walk(ctx, scratch, owner);
	counter_add(PKBPF_COUNTER_BLOCKIO_STACKS_WALKED, 1);
	if (expected && id && id != expected)
		counter_add(PKBPF_COUNTER_OFFCPU_MEMO_WRONG, 1);
	row = row_of_stack(owner, id, device, state);
	if (!memorable || !id)
		return row;
	if (id != expected) {
		memo->scratch_slot = SCRATCH_BLOCKIO;
		entry = memo_at(memo_store(owner->tid, id, now_ns));
	}
	if (entry && slot < PKBPF_MEMO_ROWS)
		entry->rows[slot] = row;
	return row;
}

/* Like row_of_current(), unless an interrupt arrived in the middle of it. In that case the scratch
 * memory is in use, and the current task has nothing to do with the request. */
static __always_inline struct submission submission_find(void *ctx, __u32 opf, struct bio *bio,
							 __u32 device, __u64 now_ns)
{
	struct submission submission = {.row = PKBPF_BLOCKIO_NO_ROW};
	struct sample_scratch *scratch = scratch_get(SCRATCH_BLOCKIO);
	__u32 zero = 0;
	struct blockio_scratch *work = bpf_map_lookup_elem(&blockio_scratch, &zero);

	if (!scratch || !work) {
		counter_add(PKBPF_COUNTER_EVENTS_NO_SCRATCH, 1);
		return submission;
	}
	if (!scratch_enter(&work->users)) {
		counter_add(PKBPF_COUNTER_BLOCKIO_LOST, 1);
		return submission;
	}
	submission.row = row_of_current(ctx, scratch, &work->owner, opf, bio, device, now_ns,
					&submission.tid);
	scratch_leave(&work->users);
	return submission;
}

#endif
