// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Resident memory: the stack that first writes to each page of the chosen regions, mappings that
 * are filled or moved without page faults, and the kernel's counters of each process.
 */
#include "kernel_compat.bpf.h"
#include "rss.bpf.h"
#include "shared.bpf.h"
#include "stack.bpf.h"
#include "stack_id.bpf.h"
#include "task_filter.bpf.h"
#include "task_regs.bpf.h"
#include "vmlinux_memory.h"

#include <pkbpf/memory.h>

/* Bits of the error code of a page fault (x86). */
#define FAULT_PROTECTION 1
#define FAULT_WRITE	 2

/* A process may take this many stacks at once, and then 1,900 in a second: more make it choose half
 * of its regions from then on. 65,536 pages are 256 MiB. */
#define FIRST_STACKS	65536
#define FURTHER_STACKS	16384
#define STACK_PER_SHIFT 19 /* one in 2^19 ns */

#define USER_ADDRESSES (1ULL << 56)

#if defined(__TARGET_ARCH_x86)
#define NR_MMAP	  9
#define NR_MREMAP 25
#else
#define NR_MMAP	  222
#define NR_MREMAP 216
#endif
#define MAP_LOCKED   0x2000
#define MAP_POPULATE 0x8000

/* of struct vm_unmapped_area_info; stable since it exists */
#define FROM_TOP 1

#define HUGE_BYTES (1ULL << PKBPF_MEMORY_REGION_SHIFT)

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, PKBPF_MEMORY_PROCESSES);
	__type(key, __u32);
	__type(value, struct pkbpf_memory_process);
} memory_processes SEC(".maps");

struct pkbpf_memory_control memory_control = {};

static __always_inline bool is_inside(void)
{
	return memory_control.start_ns && !memory_control.end_ns;
}

/* The entry of the current process; NULL: it is no target. */
static __always_inline struct pkbpf_memory_process *find_process(__u64 pid_tgid)
{
	struct pkbpf_memory_process fresh = {.stacks = FIRST_STACKS}, *process;
	__u32 pid = pid_tgid >> 32;

	process = bpf_map_lookup_elem(&memory_processes, &pid);
	if (process || !filter_current(pid, (__u32)pid_tgid))
		return process;
	fresh.refilled_ns = bpf_ktime_get_ns();
	bpf_map_update_elem(&memory_processes, &pid, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&memory_processes, &pid);
}

/* Takes one of the stacks that the process may take. Its threads may do so at once: a few more are
 * no harm. */
static __always_inline void spend_stack(struct pkbpf_memory_process *process, __u64 now_ns)
{
	__u64 passed = now_ns - process->refilled_ns;

	if ((__s64)passed > 0 && passed >> STACK_PER_SHIFT) {
		__u64 more = passed >> STACK_PER_SHIFT;

		process->refilled_ns += more << STACK_PER_SHIFT;
		more += process->stacks > 0 ? process->stacks : 0;
		process->stacks = more < FIRST_STACKS ? more : FIRST_STACKS;
	}
	if (--process->stacks > 0)
		return;
	process->stacks = FURTHER_STACKS;
	if (process->mask < PKBPF_MEMORY_MAX_MASK)
		process->mask = process->mask << 1 | 1;
}

static __always_inline struct sample_scratch *read_stack(void *ctx, __u64 now_ns, __u64 *stack_id)
{
	struct sample_scratch *scratch = scratch_get(SCRATCH_MEMORY);

	if (!scratch) {
		counter_add(PKBPF_COUNTER_EVENTS_NO_SCRATCH, 1);
		return NULL;
	}
	sample_begin_at(scratch, SCRATCH_MEMORY, PKBPF_PROFILE_MEMORY, bpf_get_current_pid_tgid(),
			now_ns);
	if (config.want_user_stack)
		stack_read_user(ctx, scratch);
	*stack_id = stack_send(scratch, SCRATCH_MEMORY);
	return scratch;
}

static __always_inline void send_page(const struct sample_scratch *scratch, __u64 stack_id,
				      __u64 address, __u32 mask, bool was_shared)
{
	struct pkbpf_event_page event = {};

	event.header.kind = PKBPF_EVENT_PAGE;
	event.header.size = sizeof(event);
	event.header.flags = was_shared ? PKBPF_PAGE_WAS_SHARED : 0;
	/* Behind its stack. */
	event.header.time_ns = scratch->sample.header.time_ns + 1;
	event.stack_id = stack_id;
	event.pid = scratch->sample.pid;
	event.mask = mask;
	event.cgroup_id = scratch->sample.cgroup_id;
	event.address = address;
	__builtin_memcpy(event.comm, scratch->sample.comm, sizeof(event.comm));
	if (bpf_ringbuf_output(&sample_ring, &event, sizeof(event),
			       ring_wakeup(&sample_ring, config.ring_wakeup_bytes)))
		counter_add(PKBPF_COUNTER_MEMORY_LOST, 1);
}

static __always_inline int take_page(void *ctx, __u64 address, bool was_shared)
{
	struct pkbpf_memory_process *process = find_process(bpf_get_current_pid_tgid());
	struct sample_scratch *scratch;
	__u64 now_ns, stack_id;
	__u32 mask;

	if (!process)
		return 0;
	mask = process->mask;
	if (!pkbpf_memory_is_chosen(address, mask))
		return 0;
	now_ns = bpf_ktime_get_ns();
	spend_stack(process, now_ns);
	scratch = read_stack(ctx, now_ns, &stack_id);
	if (scratch)
		send_page(scratch, stack_id, address, mask, was_shared);
	return 0;
}

/* Mostly only writes bring a page: who reads gets the page of zeros that all share. */
static __always_inline bool brings_page(__u64 error)
{
	return error & FAULT_WRITE || memory_control.takes_reads;
}

SEC("?tp_btf/page_fault_user")
int memory_fault_user(__u64 *ctx)
{
	if (!is_inside() || !brings_page(ctx[2]))
		return 0;
	return take_page(ctx, ctx[0], ctx[2] & FAULT_PROTECTION);
}

/* True while memory is accessed in a way that brings no page, as BPF programs do. The helper that
 * reads the kernel's memory is such an access, too. */
static __always_inline bool faults_are_off(void)
{
	if (typed_task_exists())
		return bpf_get_current_task_btf()->pagefault_disabled;
	return BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), pagefault_disabled) > 1;
}

/* System calls that use memory of their caller. */
SEC("?tp_btf/page_fault_kernel")
int memory_fault_kernel(__u64 *ctx)
{
	if (!is_inside() || !brings_page(ctx[2]) || ctx[0] >= USER_ADDRESSES || faults_are_off())
		return 0;
	return take_page(ctx, ctx[0], ctx[2] & FAULT_PROTECTION);
}

/* Where those tracepoints do not exist. Reads and writes look the same: the last one counts. */
SEC("?perf_event")
int memory_fault_event(struct bpf_perf_event_data *ctx)
{
	if (!is_inside() || ctx->addr >= USER_ADDRESSES)
		return 0;
	return take_page(ctx, ctx->addr, false);
}

struct syscall_words {
	__s64 number;
	__u64 arguments[4];
};

static __always_inline bool read_syscall(struct syscall_words *call)
{
	struct sample_scratch *scratch = scratch_get(SCRATCH_MEMORY);
	__u64 address = task_regs_address();
	__u64 *words;

	if (!scratch || !address)
		return false;
	words = scratch->unwind.pt_regs;
	if (bpf_probe_read_kernel(words, PT_REGS_WORDS * 8, (void *)address))
		return false;
#if defined(__TARGET_ARCH_x86)
	call->number = (__s64)words[AT_ORIG_AX];
	call->arguments[0] = words[AT_DI];
	call->arguments[1] = words[AT_SI];
	call->arguments[2] = words[AT_DX];
	call->arguments[3] = words[AT_R10];
#else
	call->number = (__s32)words[AT_SYSCALL];
	call->arguments[0] = words[0];
	call->arguments[1] = words[1];
	call->arguments[2] = words[2];
	call->arguments[3] = words[3];
#endif
	return true;
}

static __always_inline void send_mapped(void *ctx, __u64 start, __u64 length, __u64 from)
{
	struct pkbpf_event_mapped event = {};
	struct sample_scratch *scratch;

	scratch = read_stack(ctx, bpf_ktime_get_ns(), &event.stack_id);
	if (!scratch)
		return;
	event.header.kind = PKBPF_EVENT_MAPPED;
	event.header.size = sizeof(event);
	event.header.flags = from ? PKBPF_MAPPED_MOVED : 0;
	event.header.time_ns = scratch->sample.header.time_ns + 1;
	event.pid = scratch->sample.pid;
	event.cgroup_id = scratch->sample.cgroup_id;
	event.start = start;
	event.length = length;
	event.from = from;
	__builtin_memcpy(event.comm, scratch->sample.comm, sizeof(event.comm));
	if (bpf_ringbuf_output(&sample_ring, &event, sizeof(event),
			       ring_wakeup(&sample_ring, config.ring_wakeup_bytes)))
		counter_add(PKBPF_COUNTER_MEMORY_LOST, 1);
}

/* A place was found for a new or a moved mapping. Large ones are asked for with 2 MiB more, and
 * then begin where they are aligned: like zero, or like the place they come from. */
SEC("?tp_btf/vm_unmapped_area")
int memory_mapped(__u64 *ctx)
{
	const struct vm_unmapped_area_info *info = (const void *)ctx[1];
	__u64 start = ctx[0], from = 0, like, length, asked;
	struct syscall_words call;

	if (!is_inside() || (__s64)start < 0 || !find_process(bpf_get_current_pid_tgid()) ||
	    !read_syscall(&call))
		return 0;
	if (call.number == NR_MREMAP) {
		from = call.arguments[0];
		length = call.arguments[1] < call.arguments[2] ? call.arguments[1]
							       : call.arguments[2];
		asked = call.arguments[2];
	} else if (call.number == NR_MMAP && call.arguments[3] & (MAP_POPULATE | MAP_LOCKED)) {
		length = asked = call.arguments[1];
	} else {
		return 0;
	}
	if (BPF_CORE_READ(info, length) >= asked + HUGE_BYTES) {
		like = (from - start) & (HUGE_BYTES - 1);
		start += like || !(BPF_CORE_READ(info, flags) & FROM_TOP) ? like : HUGE_BYTES;
	}
	send_mapped(ctx, start, length, from);
	return 0;
}

static __always_inline __u64 rss_bytes(struct mm_struct *mm, enum rss_kind kind)
{
	__s64 pages = rss_pages_of(mm, kind);

	return pages > 0 ? (__u64)pages * memory_control.page_bytes : 0;
}

/* Each target process now: its entry, and its counters. */
SEC("?iter/task")
int memory_look(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct pkbpf_memory_process fresh = {.stacks = FIRST_STACKS};
	struct pkbpf_event_resident event = {};
	struct mm_struct *mm;

	if (!task || (task->flags & PF_KTHREAD) || task->pid != task->tgid)
		return 0;
	mm = BPF_CORE_READ(task, mm);
	if (!mm || !filter_task(task))
		return 0;
	event.pid = task->tgid;
	fresh.refilled_ns = bpf_ktime_get_ns();
	bpf_map_update_elem(&memory_processes, &event.pid, &fresh, BPF_NOEXIST);
	event.header.kind = PKBPF_EVENT_RESIDENT;
	event.header.size = sizeof(event);
	event.header.time_ns = fresh.refilled_ns;
	event.cgroup_id = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
	event.anonymous = rss_bytes(mm, RSS_ANONYMOUS);
	event.file = rss_bytes(mm, RSS_FILE);
	event.shared = rss_bytes(mm, RSS_SHARED);
	event.swap = rss_bytes(mm, RSS_SWAP);
	event.peak = BPF_CORE_READ(mm, hiwater_rss) * memory_control.page_bytes;
	if (event.peak < event.anonymous + event.file + event.shared)
		event.peak = event.anonymous + event.file + event.shared;
	BPF_CORE_READ_INTO(&event.comm, task, comm);
	if (bpf_ringbuf_output(&sample_ring, &event, sizeof(event), BPF_RB_NO_WAKEUP))
		counter_add(PKBPF_COUNTER_MEMORY_LOST, 1);
	return 0;
}
