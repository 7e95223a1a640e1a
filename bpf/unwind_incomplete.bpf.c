// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Handles unwindings without a complete stack: decides whether the stack is complete all the same,
 * and whether user space is to be asked. */
#include "shared.bpf.h"

/* Returns whether a report about a complete stack wakes user space. Code is to be read twice soon
 * after its first report. A process that continues with such reports wakes nobody. */
static __always_inline bool whole_stack_wakes(__u32 key, __u64 now_ns, __u64 last_ns)
{
	__u64 *since_ns;

	key += UNWIND_MISS_SLOTS;
	since_ns = bpf_map_lookup_elem(&unwind_miss_times, &key);
	if (!since_ns)
		return false;
	if (now_ns - last_ns >= UNWIND_WHOLE_WAKE_NS)
		*since_ns = now_ns;
	return now_ns - *since_ns < UNWIND_WHOLE_WAKE_NS;
}

/* Asks user space to read the process again, at most once per interval. */
static __always_inline void report_miss(const struct sample_scratch *scratch, __u32 end,
					__u64 address)
{
	__u64 now_ns = scratch->sample.header.time_ns, flags = 0, *last_ns;
	__u64 interval_ns =
		end == PKBPF_END_NO_TABLE ? UNWIND_TABLE_MISS_INTERVAL_NS : UNWIND_MISS_INTERVAL_NS;
	__u32 pid = scratch->sample.pid, key = pid & (UNWIND_MISS_SLOTS - 1);
	bool was_whole = end <= PKBPF_END_LAST_COMPLETE;
	struct pkbpf_unwind_miss *miss;

	if (was_whole)
		key += UNWIND_MISS_SLOTS;
	last_ns = bpf_map_lookup_elem(&unwind_miss_times, &key);
	if (!last_ns || now_ns - *last_ns < interval_ns)
		return;
	if (was_whole && !whole_stack_wakes(key, now_ns, *last_ns))
		flags = BPF_RB_NO_WAKEUP;
	*last_ns = now_ns;
	miss = bpf_ringbuf_reserve(&unwind_misses, sizeof(*miss), 0);
	if (!miss)
		return;
	miss->pid = pid;
	miss->end = end;
	miss->address = address;
	miss->time_ns = now_ns;
	bpf_ringbuf_submit(miss, flags);
}

static __always_inline bool memory_is_gone(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return !BPF_CORE_READ(task, mm);
}

/* Handles a stack that is truncated, has few frames, or leads through generated code. */
__attribute__((noinline)) int unwind_note_incomplete(__u32 slot)
{
	struct sample_scratch *scratch = scratch_get(slot);
	struct unwind_scratch *unwind;

	if (!scratch)
		return 0;
	unwind = &scratch->unwind;
	if (unwind->state.depth <= UNWIND_THREAD_START_FRAMES && unwind_is_thread_start(slot)) {
		unwind->end = PKBPF_END_ZERO_RA;
		unwind->state.depth = 1;
		return 0;
	}
	if (unwind->end <= PKBPF_END_LAST_COMPLETE) {
		/* Generated code without frame pointers may leave the frame pointer of an outer
		 * frame in the register. */
		if (!PKBPF_UNWIND_ARM64 && unwind->state.generated_ip)
			report_miss(scratch, unwind->end, unwind->state.generated_ip);
		return 0;
	}
	unwind->end = pkbpf_unwind_reason(&unwind->state, unwind->end);
	switch (unwind->end) {
	case PKBPF_END_NO_PROCESS:
	case PKBPF_END_NO_MAPPING:
	case PKBPF_END_NO_TABLE:
		unwind->want_raw = UNWIND_RAW_INSTEAD;
		/* fall through */
	case PKBPF_END_NO_PROGRESS:
	case PKBPF_END_NO_FILE:
		report_miss(scratch, unwind->end, unwind->state.ip);
		break;
	case PKBPF_END_NO_ROOM:
		/* There may be room for another file by now. For more rules there is none, and
		 * reading the maps again would make none. */
		if (unwind->state.mapping_flags & PKBPF_MAPPING_NO_ROOM)
			report_miss(scratch, unwind->end, unwind->state.ip);
		break;
	case PKBPF_END_FAULT_FP:
		report_miss(scratch, unwind->end, unwind->state.generated_ip);
		break;
	case PKBPF_END_MAX_DEPTH:
		counter_add(PKBPF_COUNTER_STACK_TRUNCATED, 1);
		break;
	}
	if (memory_is_gone()) {
		/* The task is exiting: it has no user stack any more. */
		unwind->end = PKBPF_END_NONE;
		unwind->state.depth = 0;
		unwind->want_raw = 0;
	}
	return 0;
}
