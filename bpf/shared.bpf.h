/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Common to all BPF program files: configuration, counters, scratch memory and output (emit_*). */
#ifndef PKBPF_SHARED_BPF_H
#define PKBPF_SHARED_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include <pkbpf/config.h>
#include <pkbpf/counter.h>
#include <pkbpf/event.h>

#include "span_region.bpf.h"
#include "unwind.bpf.h"

/* include/linux/sched.h; unchanged since tracepoints exist */
#define PF_EXITING 0x00000004
#define PF_KTHREAD 0x00200000

extern const volatile struct pkbpf_bpf_config config;

/* Changes whenever the entry of a process changes in target_pids, target_tids or unwind_processes;
 * user space increments it as well. Each lookup in these maps takes 0.1 us or more of a CPU sample,
 * and consecutive samples mostly hit the same process. */
extern __u32 process_generation;

static __always_inline void process_changed(void)
{
	__sync_fetch_and_add(&process_generation, 1);
}

/* Whether an entry with this start (struct pkbpf_target) is of another task that got the number of
 * this one, which has ended. */
static __always_inline bool entry_is_of_another(__u64 start_ns, const struct task_struct *ended)
{
	__u64 own_ns = ended->start_boottime;

	if (!start_ns || start_ns == own_ns)
		return false;
	return start_ns % PKBPF_TICK_NS || own_ns - start_ns >= PKBPF_TICK_NS;
}

/* A lookup result for a process stays valid within one moment. Take the moment before the lookup. A
 * moment is at most a second: on processors that read ahead (arm64), the entry may be older than
 * the generation. */
static __always_inline __u64 process_moment(__u64 now_ns)
{
	return (__u64)process_generation << 32 | (__u32)(now_ns >> 30);
}

struct counter_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PKBPF_COUNTER_COUNT);
	__type(key, __u32);
	__type(value, __u64);
};
extern struct counter_map counters SEC(".maps");

struct sample_ring_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20); /* set by the loader */
};
extern struct sample_ring_map sample_ring SEC(".maps");

static __always_inline void counter_add(enum pkbpf_counter counter, __u64 amount)
{
	__u32 key = counter;
	__u64 *value = bpf_map_lookup_elem(&counters, &key);

	/* The counter is per CPU, but a nested program on this CPU could race with the increment.
	 * The addition is therefore atomic. */
	if (value)
		__sync_fetch_and_add(value, amount);
}

struct sample_scratch {
	struct pkbpf_event_sample sample;
	__u64 ips[PKBPF_MAX_KERNEL_FRAMES + 1 + PKBPF_MAX_USER_FRAMES];
	__u64 sent_bytes; /* bytes sent since the last check of how much waits in the ring */
	struct unwind_scratch unwind;
};

struct scratch_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_SLOTS);
	__type(key, __u32);
	__type(value, struct sample_scratch);
};
extern struct scratch_map sample_scratch SEC(".maps");

static __always_inline struct sample_scratch *scratch_get(enum scratch_slot slot)
{
	__u32 key = slot;

	return bpf_map_lookup_elem(&sample_scratch, &key);
}

/* The current task as a pointer with fields that are plain loads: since 5.11. */
static __always_inline bool typed_task_exists(void)
{
	return bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf);
}

/* The helper for a task's saved user registers: since 5.15, later than typed_task_exists(). */
static __always_inline bool task_pt_regs_exists(void)
{
	return bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs);
}

/* Reads the current thread's comm. The helper that copies it takes 0.2 of the 4 to 6 us of a CPU
 * sample when it is called a thousand times a second. */
static __always_inline void current_comm(__u64 *comm)
{
	if (typed_task_exists()) {
		const __u64 *name = (const void *)&bpf_get_current_task_btf()->comm;

		comm[0] = name[0];
		comm[1] = name[1];
	} else {
		bpf_get_current_comm(comm, PKBPF_COMM_SIZE);
	}
}

/* Fills in thread, CPU and time, and leaves the stacks empty. `slot` is the scratch slot of the
 * calling program. */
static __always_inline void sample_begin_at(struct sample_scratch *scratch, enum scratch_slot slot,
					    enum pkbpf_profile_kind kind, __u64 pid_tgid,
					    __u64 time_ns)
{
	struct pkbpf_event_sample *sample = &scratch->sample;

	sample->header.kind = PKBPF_EVENT_SAMPLE;
	sample->header.flags = 0;
	sample->header.time_ns = time_ns;
	sample->pid = pid_tgid >> 32;
	sample->tid = (__u32)pid_tgid;
	sample->cpu = bpf_get_smp_processor_id();
	sample->profile_kind = kind;
	sample->user_end = PKBPF_END_NONE;
	sample->state = 0;
	sample->reserved = 0;
	sample->n_kernel = 0;
	sample->n_user = 0;
	sample->n_guessed = 0;
	sample->region = (__u16)region_of_thread((__u32)pid_tgid);
	/* Reading it in place, through three typed pointers, would cost nothing at run time, but
	 * four milliseconds of verification. */
	sample->cgroup_id = bpf_get_current_cgroup_id();
	sample->count = 1;
	sample->weight = 1;
	scratch->unwind.slot = slot;
	scratch->unwind.want_raw = 0;
	scratch->unwind.raw_stack_id = 0;
	current_comm((__u64 *)sample->comm);
}

static __always_inline void sample_begin(struct sample_scratch *scratch, enum scratch_slot slot,
					 enum pkbpf_profile_kind kind)
{
	sample_begin_at(scratch, slot, kind, bpf_get_current_pid_tgid(), bpf_ktime_get_ns());
}

/* Readers poll their ring a few times a second. A wake-up costs more than a whole sample, so it is
 * sent only when more than `bytes` bytes wait in the ring. */
static __always_inline __u64 ring_wakeup(void *ring, __u32 bytes)
{
	return bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) > bytes ? BPF_RB_FORCE_WAKEUP
								  : BPF_RB_NO_WAKEUP;
}

/* `lost` is the counter for events that find no room. */
static __always_inline bool emit_sample(struct sample_scratch *scratch, enum pkbpf_counter lost)
{
	__u32 words = (__u32)scratch->sample.n_kernel + scratch->sample.n_user;
	__u64 size, wakeup = BPF_RB_NO_WAKEUP;

	if (scratch->unwind.want_raw && emit_raw_stack(scratch->unwind.slot) &&
	    scratch->unwind.want_raw == UNWIND_RAW_INSTEAD)
		return true;
	if (words > PKBPF_MAX_KERNEL_FRAMES + PKBPF_MAX_USER_FRAMES)
		words = PKBPF_MAX_KERNEL_FRAMES + PKBPF_MAX_USER_FRAMES;
	size = sizeof(struct pkbpf_event_sample) + words * 8ULL;
	scratch->sample.header.size = size;
	scratch->sent_bytes += size;
	if (scratch->sent_bytes > config.ring_look_bytes) {
		scratch->sent_bytes = 0;
		wakeup = ring_wakeup(&sample_ring, config.ring_wakeup_bytes);
	}
	if (bpf_ringbuf_output(&sample_ring, scratch, size, wakeup)) {
		counter_add(lost, scratch->sample.count);
		return false;
	}
	return true;
}

#endif
