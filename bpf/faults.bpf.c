// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Page faults: samples with stacks and the kind of memory, and the exact number of faults of every
 * thread. */
#include "kernel_compat.bpf.h"
#include "shed.bpf.h"
#include "shared.bpf.h"
#include "stack.bpf.h"
#include "task_filter.bpf.h"
#include "vmlinux_memory.h"

#include <pkbpf/faults.h>

/* include/linux/mm.h; unchanged since these exist */
#define VM_SHARED    0x00000008
#define VM_MAYSHARE  0x00000080
#define VM_GROWSDOWN 0x00000100

/* Per CPU, about 32 stacks at most are unwound in each window, see struct pkbpf_faults_config.
 * Beyond that, one fault in 2^shift is chosen at random and represents 2^shift faults. Each fault
 * has a known probability of being chosen, independent of its process and of earlier faults. */
#define STACKS_PER_WINDOW  32
#define MAX_THINNING_SHIFT 10
/* A stack sent as memory, to be unwound later, costs as much as this many stacks unwound here. */
#define RAW_STACK_COST 8
/*
 * A lookup of a mapping costs as much, too: the kernel releases the mapping lock through an
 * interrupt to itself, 20 us on a virtual machine. Most faults hit one of a few mappings, so a
 * result is cached for two seconds; on kernels that can tell (since 6.4), only as long as the
 * mapping exists.
 */
#define MAPPING_COST 8
#define MAPPINGS     16
#define MAPPING_NS   2000000000ULL

struct fault_mapping {
	__u64 mm, start, end, flags, file;
	__u64 vma;
	__u64 found_ns; /* time of the lookup */
	__u32 kind;
	__u32 reserved;
};

struct fault_rate {
	__u64 seen[2];	/* the event's count of faults at its last call: minor, major */
	__u32 owner[2]; /* process of that call */
	__u64 now_ns;	/* of the last fault */
	__u64 window;
	__u32 stacks; /* stacks in this window */
	__u32 shift;
	struct fault_mapping mappings[MAPPINGS];
	__u32 next_mapping;
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct fault_rate);
} fault_rates SEC(".maps");

/* The source sets the sizes. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_fault_thread);
} fault_threads SEC(".maps"); /* tid -> counters before the interval */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_fault_process);
} fault_processes SEC(".maps");

/* tid -> start time of a thread that started in the interval and was accounted for before it was
 * freed */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} fault_accounted SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_fault_announced);
	/* pid -> faults that raised a perf event, so that a sample could hit them */
} fault_announced SEC(".maps");

const volatile struct pkbpf_faults_config faults_config = {};
struct pkbpf_faults_control faults_control = {};

/* Returns the number of faults since the last call. */
static __always_inline __u64 fault_span(struct bpf_perf_event_data *ctx, struct fault_rate *rate,
					__u32 which)
{
	struct bpf_perf_event_value value = {};
	__u64 span = ctx->sample_period;

	if (bpf_perf_prog_read_value(ctx, &value, sizeof(value)) == 0) {
		/* The difference is the period, unless the kernel throttled the event or a closed
		 * event truncated it. */
		span = value.counter >= rate->seen[which] ? value.counter - rate->seen[which]
							  : value.counter;
		rate->seen[which] = value.counter;
	}
	return span;
}

/* Returns the entry of a thread. The entry under its tid may belong to another thread, for example
 * a zombie of the beginning. */
static __always_inline struct pkbpf_fault_thread *find_noted(__u32 tid, __u64 born_ns)
{
	struct pkbpf_fault_thread *noted = bpf_map_lookup_elem(&fault_threads, &tid);

	return noted && noted->born_ns == born_ns ? noted : NULL;
}

/* Returns whether the thread's current counters will be part of its process's exact number. Either
 * its earlier counters are in the map, or it started in the interval; and it has not been accounted
 * for. */
static __always_inline bool is_counted(__u32 tid)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u64 start_ns = BPF_CORE_READ(task, start_time), *accounted;

	if (start_ns < faults_control.start_ns)
		return find_noted(tid, start_ns);
	accounted = bpf_map_lookup_elem(&fault_accounted, &tid);
	return (!accounted || *accounted != start_ns) &&
	       (!faults_control.end_ns || start_ns <= faults_control.end_ns);
}

/*
 * The kernel adds pages that it maps itself (mlock(), MAP_POPULATE) to a thread's counters, but
 * raises no perf event for them. To tell them from faults that stacks represent, this function
 * counts all faults with an event, at the cost of one map lookup per period. For a process that has
 * a CPU to itself for many periods the count is exact except for the first and last period, which
 * other processes share.
 *
 * With comm and cgroup filters a process may become a target later, but its own counters count from
 * its birth.
 */
static __always_inline void count_announced(struct fault_rate *rate, __u32 which, __u64 pid_tgid,
					    __u64 span)
{
	struct pkbpf_fault_announced fresh = {}, *announced;
	__u32 pid = pid_tgid >> 32, tid = (__u32)pid_tgid;
	bool is_shared = rate->owner[which] != pid;

	rate->owner[which] = pid;
	if (!faults_control.start_ns || !filter_number(pid, tid) || !is_counted(tid))
		return;
	announced = bpf_map_lookup_elem(&fault_announced, &pid);
	/* An entry made after the exit would never be deleted. */
	if (!announced &&
	    !(BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), flags) & PF_EXITING)) {
		bpf_map_update_elem(&fault_announced, &pid, &fresh, BPF_NOEXIST);
		announced = bpf_map_lookup_elem(&fault_announced, &pid);
		if (!announced)
			faults_control.announced_is_full = 1;
	}
	if (!announced)
		return;
	__sync_fetch_and_add(&announced->count[which], span);
	if (is_shared)
		__sync_fetch_and_add(&announced->squares[which], span * span);
}

/* Returns the number of faults that this stack represents; 0: not chosen. */
static __always_inline __u64 fault_weight(struct fault_rate *rate, __u64 span)
{
	__u64 now_ns = bpf_ktime_get_ns(), window = now_ns >> (faults_config.window_shift & 63);

	rate->now_ns = now_ns;
	if (window != rate->window) {
		if (rate->shift &&
		    (rate->stacks < STACKS_PER_WINDOW / 2 || window - rate->window > 1))
			rate->shift--;
		rate->window = window;
		rate->stacks = 0;
	}
	if (rate->shift < shed_control.fault_shift)
		rate->shift = shed_control.fault_shift;
	if (rate->shift && (bpf_get_prandom_u32() & ((1U << (rate->shift & 31)) - 1))) {
		if (shed_control.fault_shift)
			counter_add(PKBPF_COUNTER_OVERHEAD_FAULTS, span);
		return 0;
	}
	/* A changed shift is for the next fault: this one was chosen with the old shift. */
	span <<= rate->shift & 31;
	if (++rate->stacks > STACKS_PER_WINDOW) {
		rate->stacks = 0;
		if (rate->shift < MAX_THINNING_SHIFT)
			rate->shift++;
	}
	return span;
}

/* A callback belongs to no program. Its relocations against kernel types would be resolved at every
 * start, even without page faults. The program therefore passes it the offsets. */
enum mapping_word { MAPPING_START, MAPPING_END, MAPPING_FLAGS, MAPPING_FILE, MAPPING_WORDS };

struct mapping_search {
	__u64 at[MAPPING_WORDS]; /* offsets in vm_area_struct */
	__u64 word[MAPPING_WORDS];
	__u64 vma;
};

static long read_mapping(struct task_struct *task, struct vm_area_struct *vma,
			 struct mapping_search *search)
{
#pragma unroll
	for (int i = 0; i < MAPPING_WORDS; i++)
		bpf_probe_read_kernel(&search->word[i], sizeof(search->word[i]),
				      (char *)vma + search->at[i]);
	search->vma = (__u64)vma;
	return 0;
}

static __always_inline bool find_mapping(__u64 address, struct mapping_search *search)
{
	search->at[MAPPING_START] = bpf_core_field_offset(struct vm_area_struct, vm_start);
	search->at[MAPPING_END] = bpf_core_field_offset(struct vm_area_struct, vm_end);
	search->at[MAPPING_FLAGS] = bpf_core_field_offset(struct vm_area_struct, vm_flags);
	search->at[MAPPING_FILE] = bpf_core_field_offset(struct vm_area_struct, vm_file);
	return bpf_find_vma((void *)bpf_get_current_task_btf(), address, read_mapping, search, 0) ==
	       0;
}

static __always_inline __u32 judge_memory(const struct mapping_search *search, struct mm_struct *mm)
{
	__u64 flags = search->word[MAPPING_FLAGS], start = search->word[MAPPING_START],
	      end = search->word[MAPPING_END];
	__u64 stack = BPF_CORE_READ(mm, start_stack);

	if (flags & (VM_SHARED | VM_MAYSHARE))
		return PKBPF_FAULT_MEMORY_SHARED;
	if (search->word[MAPPING_FILE])
		return PKBPF_FAULT_MEMORY_FILE;
	if ((flags & VM_GROWSDOWN) || (start <= stack && stack < end))
		return PKBPF_FAULT_MEMORY_STACK;
	if (start < BPF_CORE_READ(mm, brk) && end > BPF_CORE_READ(mm, start_brk))
		return PKBPF_FAULT_MEMORY_HEAP;
	return PKBPF_FAULT_MEMORY_ANONYMOUS;
}

/* Returns whether the mapping still holds this address, even if its size has changed. Freed memory
 * of a mapping may belong to another mapping, or to none yet. */
static __always_inline bool mapping_is_there(struct fault_mapping *mapping, __u64 address)
{
	struct vm_area_struct *vma = (void *)mapping->vma;
	struct vm_area_struct___since_6_15 *counted = (void *)vma;
	struct vm_area_struct___since_6_4 *marked = (void *)vma;

	if (bpf_core_field_exists(counted->vm_refcnt)) {
		if (!BPF_CORE_READ(counted, vm_refcnt.refs.counter))
			return false;
	} else if (bpf_core_field_exists(marked->detached)) {
		if (BPF_CORE_READ(marked, detached))
			return false;
	} else {
		return true;
	}
	mapping->start = BPF_CORE_READ(vma, vm_start);
	mapping->end = BPF_CORE_READ(vma, vm_end);
	return address - mapping->start < mapping->end - mapping->start &&
	       (__u64)BPF_CORE_READ(vma, vm_mm) == mapping->mm &&
	       (__u64)BPF_CORE_READ(vma, vm_file) == mapping->file &&
	       !((BPF_CORE_READ(vma, vm_flags) ^ mapping->flags) &
		 (VM_SHARED | VM_MAYSHARE | VM_GROWSDOWN));
}

/* Needs 5.17. The lookup fails while another thread waits to change the mappings; the kind is then
 * unknown. */
static __always_inline __u32 memory_kind(struct fault_rate *rate, __u64 address)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct mapping_search search = {};
	struct fault_mapping *mapping;
	__u32 number;

	for (number = 0; number < MAPPINGS; number++) {
		mapping = &rate->mappings[number];
		if (mapping->mm == (__u64)mm &&
		    address - mapping->start < mapping->end - mapping->start &&
		    rate->now_ns - mapping->found_ns < MAPPING_NS)
			break;
	}
	if (number < MAPPINGS) {
		mapping = &rate->mappings[number];
		if (mapping_is_there(mapping, address))
			return mapping->kind;
		mapping->mm = 0;
	}
	rate->stacks += MAPPING_COST;
	if (!find_mapping(address, &search))
		return PKBPF_FAULT_MEMORY_UNKNOWN;
	mapping = &rate->mappings[rate->next_mapping++ % MAPPINGS];
	mapping->mm = (__u64)mm;
	mapping->start = search.word[MAPPING_START];
	mapping->end = search.word[MAPPING_END];
	mapping->flags = search.word[MAPPING_FLAGS];
	mapping->file = search.word[MAPPING_FILE];
	mapping->vma = search.vma;
	mapping->found_ns = rate->now_ns;
	mapping->kind = judge_memory(&search, mm);
	return mapping->kind;
}

/* One program for both events, which differ in their period: verification of the unwinder takes
 * milliseconds. */
static __always_inline int take_fault(struct bpf_perf_event_data *ctx, bool find_memory)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid(), span, weight;
	__u32 zero = 0, which = ctx->sample_period == PKBPF_FAULT_MAJOR_PERIOD;
	struct sample_scratch *scratch;
	struct fault_rate *rate;

	rate = bpf_map_lookup_elem(&fault_rates, &zero);
	if (!rate)
		return 0;
	span = fault_span(ctx, rate, which);
	count_announced(rate, which, pid_tgid, span);
	weight = fault_weight(rate, span);
	if (!weight || !faults_control.start_ns || faults_control.end_ns ||
	    !filter_current(pid_tgid >> 32, (__u32)pid_tgid))
		return 0;
	scratch = scratch_get(SCRATCH_FAULTS);
	if (!scratch) {
		counter_add(PKBPF_COUNTER_EVENTS_NO_SCRATCH, 1);
		return 0;
	}
	sample_begin(scratch, SCRATCH_FAULTS, PKBPF_PROFILE_FAULTS);
	scratch->sample.count = weight;
	scratch->sample.weight = weight;
	scratch->sample.state = which ? PKBPF_FAULT_MAJOR : PKBPF_FAULT_MINOR;
	if (find_memory)
		scratch->sample.state |= memory_kind(rate, ctx->addr) << PKBPF_FAULT_MEMORY_SHIFT;
	if (config.want_kernel_stack && perf_regs_in_kernel(ctx))
		stack_read_kernel(ctx, scratch);
	if (config.want_user_stack && !current_is_kernel_thread())
		stack_read_user_of_perf_event(ctx, scratch);
	if (scratch->unwind.want_raw)
		rate->stacks += RAW_STACK_COST;
	emit_sample(scratch, PKBPF_COUNTER_FAULTS_RING_FULL);
	return 0;
}

SEC("?perf_event")
int sample_fault(struct bpf_perf_event_data *ctx)
{
	return take_fault(ctx, true);
}

/* Before 5.17 no helper finds a mapping, and kernels before 5.13 reject programs that refer to a
 * callback. */
SEC("?perf_event")
int sample_fault_anywhere(struct bpf_perf_event_data *ctx)
{
	return take_fault(ctx, false);
}

/*
 * Returns whether a thread's faults are to be added now, and in `before` what to subtract. Each
 * thread is added once. Its exit event adds it. A process with much memory then needs seconds to
 * free it, and the iterator at the end of the interval must not add it again. Nor must an exit add
 * it after the end, before the program is detached.
 */
static __always_inline bool take_before(struct task_struct *task, __u32 tid,
					struct pkbpf_fault_thread *before)
{
	__u64 start_ns = BPF_CORE_READ(task, start_time), *accounted;
	struct pkbpf_fault_thread *noted;

	if (faults_control.end_ns && start_ns > faults_control.end_ns)
		return false;
	noted = find_noted(tid, start_ns);
	if (!noted && start_ns >= faults_control.start_ns) {
		accounted = bpf_map_lookup_elem(&fault_accounted, &tid);
		if (accounted && *accounted == start_ns)
			return false;
		if (!faults_control.cutting)
			bpf_map_update_elem(&fault_accounted, &tid, &start_ns, BPF_ANY);
		return true;
	}
	if (!noted)
		return false; /* the entry found no room, which was counted */
	*before = *noted;
	if (!faults_control.cutting)
		bpf_map_delete_elem(&fault_threads, &tid);
	return true;
}

/* Adds a thread's faults since the start of the interval, or since its own start, to its
 * process. */
static __always_inline void account_thread(struct task_struct *task, __u64 cgroup_id)
{
	__u64 minor = BPF_CORE_READ(task, min_flt), major = BPF_CORE_READ(task, maj_flt);
	__u32 tid = BPF_CORE_READ(task, pid), pid = BPF_CORE_READ(task, tgid);
	struct pkbpf_fault_process fresh = {}, *process;
	struct pkbpf_fault_thread before = {};

	if (!take_before(task, tid, &before) || before.minor > minor || before.major > major)
		return;
	minor -= before.minor;
	major -= before.major;
	if (!minor && !major)
		return;
	process = bpf_map_lookup_elem(&fault_processes, &pid);
	if (!process) {
		fresh.cgroup_id = cgroup_id;
		BPF_CORE_READ_INTO(&fresh.comm, task, group_leader, comm);
		bpf_map_update_elem(&fault_processes, &pid, &fresh, BPF_NOEXIST);
		process = bpf_map_lookup_elem(&fault_processes, &pid);
	}
	if (!process) {
		counter_add(PKBPF_COUNTER_FAULTS_TABLE_FULL, 1);
		return;
	}
	__sync_fetch_and_add(&process->minor, minor);
	__sync_fetch_and_add(&process->major, major);
}

/* The counts of a non-target are not needed. */
static __always_inline void forget_thread(__u32 pid, __u32 tid)
{
	bpf_map_delete_elem(&fault_threads, &tid);
	if (pid == tid)
		bpf_map_delete_elem(&fault_announced, &pid);
}

SEC("?tp_btf/sched_process_exit")
int faults_exit(__u64 *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	__u32 tid = (__u32)pid_tgid;

	if (!faults_control.start_ns)
		return 0;
	/* Also after the end, if the thread exits before the iterator has reached it. */
	if (filter_current(pid_tgid >> 32, tid))
		account_thread((void *)bpf_get_current_task(), bpf_get_current_cgroup_id());
	else
		forget_thread(pid_tgid >> 32, tid);
	return 0;
}

/* A thread that calls exec and is not the first of its process takes the tid and start time of the
 * first thread, which exited. */
SEC("?tp_btf/sched_process_exec")
int BPF_PROG(faults_exec, struct task_struct *task, __u32 old_tid)
{
	struct pkbpf_fault_thread *noted, before = {};
	__u32 tid = task->pid;

	if (old_tid == tid || !faults_control.start_ns || faults_control.end_ns)
		return 0;
	noted = bpf_map_lookup_elem(&fault_threads, &old_tid);
	/* Without an entry the thread started in the interval. */
	if (noted)
		before = *noted;
	before.born_ns = BPF_CORE_READ(task, start_time);
	if (bpf_map_update_elem(&fault_threads, &tid, &before, BPF_ANY))
		counter_add(PKBPF_COUNTER_FAULTS_TABLE_FULL, 1);
	bpf_map_delete_elem(&fault_threads, &old_tid);
	return 0;
}

SEC("?iter/task")
int faults_edge(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct pkbpf_fault_thread before;
	__u32 tid;

	if (!task || (task->flags & PF_KTHREAD))
		return 0;
	tid = task->pid;
	if (faults_control.end_ns || faults_control.cutting) {
		/* Zombies were accounted for at their exit. */
		if (!BPF_CORE_READ(task, exit_state) && filter_task(task))
			account_thread(task, BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id));
		if (faults_control.end_ns || BPF_CORE_READ(task, exit_state))
			return 0;
	}
	/* With comm and cgroup filters a thread may become a target later. */
	if (!filter_number(task->tgid, tid))
		return 0;
	before.minor = BPF_CORE_READ(task, min_flt);
	before.major = BPF_CORE_READ(task, maj_flt);
	before.born_ns = BPF_CORE_READ(task, start_time);
	if (bpf_map_update_elem(&fault_threads, &tid, &before,
				faults_control.cutting ? BPF_ANY : BPF_NOEXIST))
		counter_add(PKBPF_COUNTER_FAULTS_TABLE_FULL, 1);
	return 0;
}
