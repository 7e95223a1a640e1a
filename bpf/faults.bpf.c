// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Page faults: a sample of them with stacks and the kind of memory, and every thread's exact
 * number. */
#include "kernel_compat.bpf.h"
#include "shared.bpf.h"
#include "stack.bpf.h"
#include "task_filter.bpf.h"
#include "vmlinux_memory.h"

#include <pkbpf/faults.h>

/* include/linux/mm.h; unchanged for as long as these have existed */
#define VM_SHARED    0x00000008
#define VM_MAYSHARE  0x00000080
#define VM_GROWSDOWN 0x00000100

/*
 * Of each CPU, at most about this many stacks are unwound in each window of 2^24 ns (17 ms), 1,900
 * a second. When there are more, one in 2^shift is chosen by chance and stands for so many: each
 * fault has a known probability of being chosen, whoever it belongs to and whatever came before.
 */
#define WINDOW_SHIFT	   24
#define STACKS_PER_WINDOW  32
#define MAX_THINNING_SHIFT 10
/* A stack whose memory is sent, to be unwound later, costs as much as so many that are unwound
 * here. */
#define RAW_STACK_COST 8
/*
 * So does looking a mapping up: the kernel gives its lock back through an interrupt to itself, 20
 * us on a virtual machine. Most faults hit one of a few mappings, so what was found is believed for
 * two seconds, where kernels can say so (since 6.4) as long as it is still there.
 */
#define MAPPING_COST	8
#define MAPPINGS	16
#define MAPPING_WINDOWS 128

struct fault_mapping {
	__u64 mm, start, end, flags, file;
	__u64 vma;
	__u64 window; /* when it was looked up */
	__u32 kind;
	__u32 reserved;
};

struct fault_rate {
	__u64 seen[2];	/* faults counted by the event when it last came here: minor, major */
	__u32 owner[2]; /* process it came to */
	__u64 window;
	__u32 stacks; /* in this window */
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

/* Sizes are set by the source. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_fault_thread);
} fault_threads SEC(".maps"); /* tid -> what it had before the interval */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_fault_process);
} fault_processes SEC(".maps");

/* tid -> start time of a thread that was started inside and accounted for before it was gone */
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
} fault_announced SEC(".maps"); /* pid -> faults that a sample could have hit */

struct pkbpf_faults_control faults_control = {};

/* How many faults have come since the last time. */
static __always_inline __u64 fault_span(struct bpf_perf_event_data *ctx, struct fault_rate *rate,
					__u32 which)
{
	struct bpf_perf_event_value value = {};
	__u64 span = ctx->sample_period;

	if (bpf_perf_prog_read_value(ctx, &value, sizeof(value)) == 0) {
		/* What has come since the last time: the period, but for what the kernel throttled
		 * or a closed event cut. */
		span = value.counter >= rate->seen[which] ? value.counter - rate->seen[which]
							  : value.counter;
		rate->seen[which] = value.counter;
	}
	return span;
}

/* What is noted of a thread; what is noted under its number may be of another one, a zombie of the
 * beginning for example. */
static __always_inline struct pkbpf_fault_thread *find_noted(__u32 tid, __u64 born_ns)
{
	struct pkbpf_fault_thread *noted = bpf_map_lookup_elem(&fault_threads, &tid);

	return noted && noted->born_ns == born_ns ? noted : NULL;
}

/* Whether what the thread has now will be part of its process's exact number: it is noted what it
 * had before, or was started inside, and it has not been accounted for. */
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
 * The kernel counts pages for a thread that it fetches itself (mlock(), MAP_POPULATE), but
 * announces them to nobody. So that they can be told from those that stacks stand for, all that is
 * announced is counted, at the cost of a look at a table once in a period. A process that has a CPU
 * to itself for many periods is told right but for the first and the last, which others have had a
 * part in. By comm and cgroup a process may become a target later, and its own counters count from
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
	/* An entry made after the exit would stay. */
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

/* How many faults this stack stands for; 0: it was not chosen. */
static __always_inline __u64 fault_weight(struct fault_rate *rate, __u64 span)
{
	__u64 now_ns = bpf_ktime_get_ns(), window = now_ns >> WINDOW_SHIFT;

	if (window != rate->window) {
		if (rate->shift &&
		    (rate->stacks < STACKS_PER_WINDOW / 2 || window - rate->window > 1))
			rate->shift--;
		rate->window = window;
		rate->stacks = 0;
	}
	if (rate->shift && (bpf_get_prandom_u32() & ((1U << (rate->shift & 31)) - 1)))
		return 0;
	/* The decision about this one is made; a changed shift is for the next. */
	span <<= rate->shift & 31;
	if (++rate->stacks > STACKS_PER_WINDOW) {
		rate->stacks = 0;
		if (rate->shift < MAX_THINNING_SHIFT)
			rate->shift++;
	}
	return span;
}

/*
 * A function that is called back belongs to no program, so what it says of the kernel's types is
 * looked up at every start, page faults or not: it is told where the words are.
 */
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

/*
 * Is it still the mapping of this address, even if others have taken parts of it? Memory that has
 * been freed may have been given to another mapping, or to nobody yet.
 */
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

/* Since 5.17. Fails while somebody waits to change the mappings: then the kind stays unknown. */
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
		    rate->window - mapping->window < MAPPING_WINDOWS)
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
	mapping->window = rate->window;
	mapping->kind = judge_memory(&search, mm);
	return mapping->kind;
}

/* One program for both events, which differ in their period: what walks stacks takes the verifier
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

/*
 * Before 5.17 nothing finds a mapping, and kernels before 5.13 refuse programs that so much as name
 * a function to be called back.
 */
SEC("?perf_event")
int sample_fault_anywhere(struct bpf_perf_event_data *ctx)
{
	return take_fault(ctx, false);
}

/*
 * Whether a thread's faults are to be added now, and `before` to be taken from them. Once: from the
 * announcement of its exit, which accounts for it, to its last moment a process gives its memory
 * back, seconds when it has much, and the look at the end of the interval must not account for it
 * again, nor an exit between the end and the link's.
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
		return false; /* it did not fit, and has been counted for that */
	*before = *noted;
	if (!faults_control.cutting)
		bpf_map_delete_elem(&fault_threads, &tid);
	return true;
}

/* Adds what a thread has had since the interval began, or since it was started, to its process. */
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

/* Of a process that is no target the number is asked for by nobody. */
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
	/* After the end as well, if it goes before it has been looked at. */
	if (filter_current(pid_tgid >> 32, tid))
		account_thread((void *)bpf_get_current_task(), bpf_get_current_cgroup_id());
	else
		forget_thread(pid_tgid >> 32, tid);
	return 0;
}

/* A thread that execs and is not its process's first takes the number, and the time of birth, of
 * the first, which exited. */
SEC("?tp_btf/sched_process_exec")
int BPF_PROG(faults_exec, struct task_struct *task, __u32 old_tid)
{
	struct pkbpf_fault_thread *noted, before = {};
	__u32 tid = task->pid;

	if (old_tid == tid || !faults_control.start_ns || faults_control.end_ns)
		return 0;
	noted = bpf_map_lookup_elem(&fault_threads, &old_tid);
	/* Else it was started inside. */
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
		/* Zombies were accounted for when they exited. */
		if (!BPF_CORE_READ(task, exit_state) && filter_task(task))
			account_thread(task, BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id));
		if (faults_control.end_ns || BPF_CORE_READ(task, exit_state))
			return 0;
	}
	/* By comm and cgroup a thread may become a target later. */
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
