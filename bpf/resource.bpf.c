// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Resource usage of threads: of all living ones when user space asks, and of each thread that
 * exited. */
#include "resource.bpf.h"
#include "resource_cgroup.bpf.h"
#include "rss.bpf.h"
#include "task_filter.bpf.h"

#define CGROUP_DEPTH_MAX 16

struct pkbpf_resource_control resource_control = {};

/* One slot per program that needs one: any of them may interrupt another. */
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

/* Anonymous RSS of the process: memory shared with files and other processes is not its growth. */
static __always_inline __u32 anonymous_rss_kib(struct mm_struct *mm)
{
	__u64 kib = pages_to_bytes(rss_pages_of(mm, RSS_ANONYMOUS)) >> 10;

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
		/* The kernel updates the peak only when memory shrinks; until then the current RSS
		 * is the peak. */
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

/* Returns the address of a controller's state for the root of its hierarchy; 0: none. */
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

/* Returns the run queue of a CPU. The distance between two CPUs' run queues is that of all per-CPU
 * variables. */
static __always_inline __u64 run_queue(struct task_group *group, __u32 cpu)
{
	__u64 queue = 0;

	bpf_probe_read_kernel(&queue, sizeof(queue),
			      (void *)BPF_CORE_READ(group, cfs_rq) + cpu * 8ULL);
	return queue;
}

/*
 * Adds the time for which a CPU ran threads, from the root of the kernel's CPU time accounting by
 * cgroup (CONFIG_CGROUP_CPUACCT), which counts all threads. The kernel's table of per-CPU offsets
 * cannot be found without its data symbols. But both addresses of an element of a per-CPU array are
 * known: `here` is this CPU's, not yet filled in.
 */
static __always_inline void add_cpu(struct task_struct *task, __u32 cpu,
				    struct pkbpf_event_resource *here)
{
	struct cpuacct *account = (void *)ROOT_CSS(task, cpuacct_cgrp_id);
	struct task_group *group = (void *)ROOT_CSS(task, cpu_cgrp_id);
	__u64 element = 0, used[2] = {}, own_queue, queue, at;
	/* Through memory other than the program's stack, both become numbers. */
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

/* The kernel keeps a reference to the memory of a process that the OOM killer chose. */
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

/* For an exited thread that was not yet waited for: its final numbers, with the time of its
 * exit. */
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
	/* One CPU is read with each task: there are more tasks than CPUs, and no single run has to
	 * read all CPUs of a large machine. A task whose record found no room in the reader's
	 * memory is shown again. */
	if (resource_control.cpus_read < resource_control.cpu_count &&
	    ctx->meta->seq_num == resource_control.cpus_read)
		add_cpu(task, resource_control.cpus_read, record);
	if (!filter_task(task)) {
		/* With comm and cgroup filters the thread may become a target later. */
		if (resource_control.moment == PKBPF_RESOURCE_END ||
		    !filter_number(task->tgid, task->pid))
			return 0;
		take_record(record, task, PKBPF_RESOURCE_BYSTANDER);
		bpf_seq_write(ctx->meta->seq, record, sizeof(*record));
		return 0;
	}
	/* Its final record comes when its parent has waited for it, and is then the only one. */
	if (resource_control.moment == PKBPF_RESOURCE_CUT && BPF_CORE_READ(task, exit_state))
		return 0;
	take_record(record, task, resource_control.moment);
	if (resource_control.moment == PKBPF_RESOURCE_END)
		take_ended(record, task);
	/* The exit event of the thread may have come before this program was attached; its free
	 * would then find no entry. Or it came a moment ago. In both cases its exit is taken to be
	 * now, because its final record must not be older than this one. */
	if (resource_control.moment == PKBPF_RESOURCE_START && (task->flags & PF_EXITING)) {
		__u32 tid = task->pid;

		record->header.flags = PKBPF_RESOURCE_EXIT;
		note_exiting(tid, record);
		record->header.flags = PKBPF_RESOURCE_START;
	}
	bpf_seq_write(ctx->meta->seq, record, sizeof(*record));
	return 0;
}

/* Sends the numbers from the start of a thread's exit. They are final for a thread whose free was
 * not seen. */
static __always_inline void hand_over_unfreed(struct pkbpf_event_resource *left)
{
	if (bpf_ringbuf_output(&sample_ring, left, sizeof(*left),
			       ring_wakeup(&sample_ring, config.ring_wakeup_bytes)))
		counter_add(PKBPF_COUNTER_RESOURCE_LOST, 1);
	else
		counter_add(PKBPF_COUNTER_RESOURCE_UNFREED, 1);
}

/* A thread's numbers are final only when it is freed: freeing its memory is work of its own, after
 * the exit event. But targets can be recognized only now, and not every free is seen (after the
 * end, or where programs do not run). Until then these numbers stand. */
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
	/* The thread will be freed in a moment: its process has no memory at the end of the
	 * interval, and the thread will leave the CPU for the last time. */
	record->rss_bytes = 0;
	record->voluntary_switches++;
	left = bpf_map_lookup_elem(&resource_exiting_threads, &tid);
	/* The tid belongs to another thread now, so the previous one was freed. */
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

/* A thread that calls exec and is not the first of its process takes over the tid of the first
 * thread. Its own tid is never seen again. A worker that executes another program stops being a
 * target, so its numbers are not read later. They are sent here, before its entry is deleted. */
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

	/* A thread without an entry is no target, or began to exit before this program was
	 * attached. */
	exiting = bpf_map_lookup_elem(&resource_exiting_threads, &tid);
	if (!exiting)
		return 0;
	record = bpf_ringbuf_reserve(&sample_ring, sizeof(*record), 0);
	if (!record) {
		counter_add(PKBPF_COUNTER_RESOURCE_LATE, 1);
		return 0;
	}
	take_record(record, task, exit_flags(task));
	/* The free comes tens of milliseconds after the exit: the parent has waited for the thread,
	 * and no reader uses it any more. */
	record->header.time_ns = exiting->header.time_ns;
	/* User space also takes the entry if it has waited too long. */
	if (bpf_map_delete_elem(&resource_exiting_threads, &tid)) {
		bpf_ringbuf_discard(record, 0);
		return 0;
	}
	bpf_ringbuf_submit(record, ring_wakeup(&sample_ring, config.ring_wakeup_bytes));
	return 0;
}
