// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What threads have used: of all that live, when user space asks, and of each that exited. */
#include "resource.bpf.h"
#include "resource_cgroup.bpf.h"
#include "task_filter.bpf.h"
#include "vmlinux_resource.h"

#define RSS_FILE	 0
#define RSS_ANONYMOUS	 1
#define RSS_SHARED	 3
#define CGROUP_DEPTH_MAX 16

struct pkbpf_resource_control resource_control = {};

/* A slot for each program that needs one: any of them may interrupt another. */
enum record_slot { SLOT_READ = 0, SLOT_EXITING = 1, SLOTS = 2 };

struct resource_record_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct pkbpf_event_resource);
};
struct resource_record_map resource_record SEC(".maps");

static __always_inline __u64 pages_to_bytes(__s64 pages)
{
	return pages > 0 ? (__u64)pages * resource_control.page_bytes : 0;
}

static __always_inline __s64 rss_pages(struct mm_struct *mm)
{
	struct mm_struct___before_6_2 *old = (void *)mm;

	if (bpf_core_field_exists(old->rss_stat.count))
		return BPF_CORE_READ(old, rss_stat.count[RSS_FILE].counter) +
		       BPF_CORE_READ(old, rss_stat.count[RSS_ANONYMOUS].counter) +
		       BPF_CORE_READ(old, rss_stat.count[RSS_SHARED].counter);
	return BPF_CORE_READ(mm, rss_stat[RSS_FILE].count) +
	       BPF_CORE_READ(mm, rss_stat[RSS_ANONYMOUS].count) +
	       BPF_CORE_READ(mm, rss_stat[RSS_SHARED].count);
}

/* The process's own: what files and other processes share is not its growth. */
static __always_inline __u32 anonymous_rss_kib(struct mm_struct *mm)
{
	struct mm_struct___before_6_2 *old = (void *)mm;
	__u64 kib;

	if (bpf_core_field_exists(old->rss_stat.count))
		kib = pages_to_bytes(BPF_CORE_READ(old, rss_stat.count[RSS_ANONYMOUS].counter)) >>
		      10;
	else
		kib = pages_to_bytes(BPF_CORE_READ(mm, rss_stat[RSS_ANONYMOUS].count)) >> 10;
	return kib < 0xffffffff ? kib : 0xffffffff;
}

static __always_inline void take_memory(struct pkbpf_event_resource *record,
					struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	__u64 peak = pages_to_bytes(BPF_CORE_READ(task, signal, maxrss));

	record->rss_bytes = 0;
	record->anonymous_rss_kib = 0;
	/* A kernel thread that borrows a process's memory (io_uring, vhost) does not own it. */
	if (mm && !(task->flags & PF_KTHREAD)) {
		__u64 high = pages_to_bytes(BPF_CORE_READ(mm, hiwater_rss));

		record->rss_bytes = pages_to_bytes(rss_pages(mm));
		record->anonymous_rss_kib = anonymous_rss_kib(mm);
		/* The kernel notes the peak when memory shrinks: until then now is the peak. */
		if (high < record->rss_bytes)
			high = record->rss_bytes;
		if (high > peak)
			peak = high;
	}
	record->peak_rss_bytes = peak;
}

static __always_inline void take_record(struct pkbpf_event_resource *record,
					struct task_struct *task, __u16 moment)
{
	record->header.size = sizeof(*record);
	record->header.kind = PKBPF_EVENT_RESOURCE;
	record->header.flags = moment;
	record->header.time_ns = bpf_ktime_get_ns();
	record->pid = task->tgid;
	record->tid = task->pid;
	record->parent_pid = BPF_CORE_READ(task, real_parent, tgid);
	record->process_start_ns = BPF_CORE_READ(task, group_leader, start_time);
	record->thread_start_ns = BPF_CORE_READ(task, start_time);
	record->cgroup_id = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
	record->user_ns = BPF_CORE_READ(task, utime);
	record->system_ns = BPF_CORE_READ(task, stime);
	record->run_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
	record->run_delay_ns = BPF_CORE_READ(task, sched_info.run_delay);
	record->voluntary_switches = BPF_CORE_READ(task, nvcsw);
	record->involuntary_switches = BPF_CORE_READ(task, nivcsw);
	record->minor_faults = BPF_CORE_READ(task, min_flt);
	record->major_faults = BPF_CORE_READ(task, maj_flt);
	record->read_bytes = record->written_bytes = 0;
	if (bpf_core_field_exists(task->ioac.read_bytes)) {
		__u64 written = BPF_CORE_READ(task, ioac.write_bytes);
		__u64 cancelled = BPF_CORE_READ(task, ioac.cancelled_write_bytes);

		record->read_bytes = BPF_CORE_READ(task, ioac.read_bytes);
		record->written_bytes = written > cancelled ? written - cancelled : 0;
	}
	take_memory(record, task);
	BPF_CORE_READ_STR_INTO(&record->comm, task, comm);
}

/* What a controller keeps for the root of its hierarchy; 0: there is none. */
static __always_inline __u64 root_css(struct task_struct *task, __u32 controller)
{
	struct cgroup_subsys_state *css = NULL, *parent;

	bpf_probe_read_kernel(&css, sizeof(css),
			      (void *)BPF_CORE_READ(task, cgroups) +
				      bpf_core_field_offset(struct css_set, subsys) +
				      8 * controller);
	for (int i = 0; css && i < CGROUP_DEPTH_MAX; i++) {
		parent = BPF_CORE_READ(css, parent);
		if (!parent)
			return (__u64)css;
		css = parent;
	}
	return 0;
}

#define ROOT_CSS(task, name)                                                                       \
	(bpf_core_enum_value_exists(enum cgroup_subsys_id, name)                                   \
		 ? root_css(task, bpf_core_enum_value(enum cgroup_subsys_id, name))                \
		 : 0)

/* The run queues of two CPUs are as far apart as all that the kernel keeps per CPU. */
static __always_inline __u64 run_queue(struct task_group *group, __u32 cpu)
{
	__u64 queue = 0;

	bpf_probe_read_kernel(&queue, sizeof(queue),
			      (void *)BPF_CORE_READ(group, cfs_rq) + cpu * 8ULL);
	return queue;
}

/*
 * Adds what a CPU ran threads, by the root of the kernel's account of CPU time by cgroup
 * (CONFIG_CGROUP_CPUACCT), which counts all of them. The kernel's table of where each CPU's
 * variables are is not to be found without the symbols of its data; but an element of a per-CPU
 * array is known by both addresses, `here` being the one of this CPU, not yet filled in.
 */
static __always_inline void add_cpu(struct task_struct *task, __u32 cpu,
				    struct pkbpf_event_resource *here)
{
	struct cpuacct *account = (void *)ROOT_CSS(task, cpuacct_cgrp_id);
	struct task_group *group = (void *)ROOT_CSS(task, cpu_cgrp_id);
	__u64 element = 0, used[2] = {}, own_queue, queue, at;
	/* Through memory, other than the program's stack, both become numbers. */
	volatile __u64 *here_at = &here->user_ns, *map_at = &here->system_ns;

	if (!account || !group)
		return;
	*here_at = (__u64)here;
	*map_at = (__u64)&resource_record;
	own_queue = run_queue(group, bpf_get_smp_processor_id());
	queue = run_queue(group, cpu);
	bpf_probe_read_kernel(&element, sizeof(element),
			      (void *)*map_at + bpf_core_field_offset(struct bpf_array, pptrs));
	if (!own_queue || !element)
		return;
	at = (__u64)BPF_CORE_READ(account, cpuusage) + *here_at - element + queue - own_queue;
	if (queue && bpf_probe_read_kernel(
			     used, bpf_core_type_exists(struct cpuacct_usage) ? 16 : 8, (void *)at))
		return;
	/* A CPU that cannot exist has no run queue. */
	resource_control.threads_ns += used[0] + used[1];
	resource_control.cpus_read = cpu + 1;
}

/* The kernel keeps the memory of a process that it kills for want of some. */
static __always_inline __u16 exit_flags(struct task_struct *task)
{
	return PKBPF_RESOURCE_EXIT |
	       (BPF_CORE_READ(task, signal, oom_mm) ? PKBPF_RESOURCE_OOM_KILLED : 0);
}

static __always_inline void note_exiting(__u32 tid, struct pkbpf_event_resource *record)
{
	if (bpf_map_update_elem(&resource_exiting_threads, &tid, record, BPF_ANY))
		counter_add(PKBPF_COUNTER_RESOURCE_LOST, 1);
}

/* A thread that exited and that nobody has waited for yet: what it used until it was really
 * over, at the time of its exit. */
static __always_inline void take_ended(struct pkbpf_event_resource *record,
				       struct task_struct *task)
{
	struct pkbpf_event_resource *exiting;
	__u32 tid = task->pid;

	if (!BPF_CORE_READ(task, exit_state))
		return;
	exiting = bpf_map_lookup_elem(&resource_exiting_threads, &tid);
	if (!exiting || exiting->thread_start_ns != record->thread_start_ns)
		return;
	record->header.flags = exiting->header.flags;
	record->header.time_ns = exiting->header.time_ns;
	record->rss_bytes = 0;
}

SEC("iter/task")
int resource_read(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct pkbpf_event_resource *record;
	__u32 slot = SLOT_READ;

	record = bpf_map_lookup_elem(&resource_record, &slot);
	if (!task || !record)
		return 0;
	/*
	 * One CPU with each task: there are more of these, and no run of this program has to look
	 * at all CPUs of a large machine. A task that found no room in the reader's memory is shown
	 * again.
	 */
	if (resource_control.cpus_read < resource_control.cpu_count &&
	    ctx->meta->seq_num == resource_control.cpus_read)
		add_cpu(task, resource_control.cpus_read, record);
	if (!filter_task(task)) {
		/* By comm and cgroup it may become a target later. */
		if (resource_control.moment == PKBPF_RESOURCE_END ||
		    !filter_number(task->tgid, task->pid))
			return 0;
		take_record(record, task, PKBPF_RESOURCE_BYSTANDER);
		bpf_seq_write(ctx->meta->seq, record, sizeof(*record));
		return 0;
	}
	/* Its last record comes when its parent has waited for it, and is the only one then. */
	if (resource_control.moment == PKBPF_RESOURCE_CUT && BPF_CORE_READ(task, exit_state))
		return 0;
	take_record(record, task, resource_control.moment);
	if (resource_control.moment == PKBPF_RESOURCE_END)
		take_ended(record, task);
	/*
	 * Its exit may have been announced before there was anybody to see it, and nobody would
	 * know it when it goes. Or a moment ago: then it is taken to end now, since its last record
	 * must not be older than this one.
	 */
	if (resource_control.moment == PKBPF_RESOURCE_START && (task->flags & PF_EXITING)) {
		__u32 tid = task->pid;

		record->header.flags = PKBPF_RESOURCE_EXIT;
		note_exiting(tid, record);
		record->header.flags = PKBPF_RESOURCE_START;
	}
	bpf_seq_write(ctx->meta->seq, record, sizeof(*record));
	return 0;
}

/* What it had used when it began to exit is what will ever be known of a thread that nobody saw
 * go. */
static __always_inline void hand_over_unfreed(struct pkbpf_event_resource *left)
{
	if (bpf_ringbuf_output(&sample_ring, left, sizeof(*left),
			       ring_wakeup(&sample_ring, config.ring_wakeup_bytes)))
		counter_add(PKBPF_COUNTER_RESOURCE_LOST, 1);
	else
		counter_add(PKBPF_COUNTER_RESOURCE_UNFREED, 1);
}

/*
 * A thread's numbers are final only when it is gone for good: freeing its memory is work of its own
 * and comes after the announcement of its exit. But who the targets are is known only now, and not
 * every free is seen (one that comes after the end, or in a place where programs do not run): until
 * then, these numbers stand.
 */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(resource_exiting, struct task_struct *task)
{
	struct pkbpf_event_resource *record, *left;
	__u32 tid = task->pid, slot = SLOT_EXITING;

	if (!filter_current(task->tgid, tid))
		return 0;
	record = bpf_map_lookup_elem(&resource_record, &slot);
	if (!record)
		return 0;
	take_record(record, task, exit_flags(task));
	resource_tell_cgroup(record->cgroup_id);
	/* Gone in a moment: its process has no memory at the end of the interval, and it will leave
	 * the CPU for the last time. */
	record->rss_bytes = 0;
	record->voluntary_switches++;
	left = bpf_map_lookup_elem(&resource_exiting_threads, &tid);
	/* The number belongs to another thread now, so the one that had it is gone. */
	if (left && left->thread_start_ns != record->thread_start_ns)
		hand_over_unfreed(left);
	note_exiting(tid, record);
	return 0;
}

static __always_inline void send_executed(struct task_struct *task, __u16 moment, __u32 tid)
{
	struct pkbpf_event_resource *record = bpf_ringbuf_reserve(&sample_ring, sizeof(*record), 0);

	if (!record) {
		counter_add(PKBPF_COUNTER_RESOURCE_LOST, 1);
		return;
	}
	take_record(record, task, moment);
	record->tid = tid;
	if (moment == PKBPF_RESOURCE_LEFT)
		record->rss_bytes = 0;
	bpf_ringbuf_submit(record, ring_wakeup(&sample_ring, config.ring_wakeup_bytes));
}

/*
 * A thread that is not its process's first takes that one's number when it calls exec, and will not
 * be known by its own again. Nobody will ask what a worker uses that goes on as another program.
 * Before it is forgotten.
 */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(resource_executed, struct task_struct *task, __u32 old_tid)
{
	struct pkbpf_event_resource *first;
	__u32 tid = task->pid;

	if (resource_control.moment == PKBPF_RESOURCE_NEVER || !filter_number(task->tgid, tid))
		return 0;
	if (old_tid != tid) {
		first = bpf_map_lookup_elem(&resource_exiting_threads, &tid);
		if (first) {
			hand_over_unfreed(first);
			bpf_map_delete_elem(&resource_exiting_threads, &tid);
		}
		send_executed(task, PKBPF_RESOURCE_EXEC, old_tid);
	}
	if (filter_is_leaving_worker(tid, false)) {
		resource_tell_cgroup(BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id));
		send_executed(task, PKBPF_RESOURCE_LEFT, tid);
	}
	return 0;
}

SEC("tp_btf/sched_process_free")
int BPF_PROG(resource_freed, struct task_struct *task)
{
	struct pkbpf_event_resource *record, *exiting;
	__u32 tid = task->pid;

	/* What is not in there is no target, or began to exit before there was anybody to see
	 * it. */
	exiting = bpf_map_lookup_elem(&resource_exiting_threads, &tid);
	if (!exiting)
		return 0;
	record = bpf_ringbuf_reserve(&sample_ring, sizeof(*record), 0);
	if (!record) {
		counter_add(PKBPF_COUNTER_RESOURCE_LATE, 1);
		return 0;
	}
	take_record(record, task, exit_flags(task));
	/* It is freed when its parent has asked for it and nobody can be reading it any more: tens
	 * of milliseconds later. */
	record->header.time_ns = exiting->header.time_ns;
	/* The other one to take it is user space, when it has waited for too long. */
	if (bpf_map_delete_elem(&resource_exiting_threads, &tid)) {
		bpf_ringbuf_discard(record, 0);
		return 0;
	}
	bpf_ringbuf_submit(record, ring_wakeup(&sample_ring, config.ring_wakeup_bytes));
	return 0;
}
