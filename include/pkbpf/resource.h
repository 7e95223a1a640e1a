/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kernel counters of each thread, read at both ends of the interval and at thread exit. Numbers are
 * running totals over the thread's life: the usage of an interval is the difference of two
 * records. */
#ifndef PKBPF_RESOURCE_H
#define PKBPF_RESOURCE_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include <pkbpf/config.h>
#include <pkbpf/event.h>

enum pkbpf_resource_event {
	PKBPF_EVENT_RESOURCE = 48, /* struct pkbpf_event_resource: one thread */
	PKBPF_EVENT_MACHINE = 49,  /* struct pkbpf_event_machine */
	PKBPF_EVENT_CGROUP = 50,   /* struct pkbpf_event_cgroup: the path behind an id */
	/* struct pkbpf_event_cgroup: the name of the container it belongs to */
	PKBPF_EVENT_CONTAINER = 51,
	/* struct pkbpf_event_cgroup: the parts of a path as the BPF programs read them. The reader
	 * of the ring turns it into a CGROUP when one is requested; a recorded stream never
	 * contains it. */
	PKBPF_EVENT_CGROUP_NAMES = 53,
	/* struct pkbpf_event_relation: another process that delayed a process, or a limit that
	 * did */
	PKBPF_EVENT_RELATION = 54,
	/* struct pkbpf_event_cgroup_limit: a cgroup whose CPU time or memory is limited,
	 * or that is frozen */
	PKBPF_EVENT_CGROUP_LIMIT = 55,
};

/* Relations of a process to another process or to a setting. Part of the recording format. */
enum pkbpf_relation {
	/* The other process ended a wait. The wait began at stack_id and ended at other_stack_id;
	 * count: samples; value: ns waited, including the waits that the samples represent. */
	PKBPF_RELATION_WAKER = 1,
	/* The other process left the CPU for a thread that had waited for it; value: ns waited. */
	PKBPF_RELATION_RIVAL = 2,
	/* The other process holds a file lock that the process waits for; text: the file. */
	PKBPF_RELATION_FILE_LOCK = 3,
	/* The other process has not answered a request sent to it; text: its address; count:
	 * observations of this state among value observations. */
	PKBPF_RELATION_REPLY = 4,
	/* The other process does not receive data sent to it; fields as in REPLY. */
	PKBPF_RELATION_RECEIVER = 5,
	/* The I/O of the cgroup is limited; text: the limit. */
	PKBPF_RELATION_IO_LIMIT = 6,
	/* The OOM killer killed the process; text: the cgroup that reached its limit; value: the
	 * limit in bytes. */
	PKBPF_RELATION_OOM = 7,
	/* text: the script that an interpreter runs */
	PKBPF_RELATION_SCRIPT = 8,
	/* Connections that failed, in the network namespace of the process; count: in the
	 * interval. */
	PKBPF_RELATION_REFUSED = 9,
	/* system calls that read (text "read") or write (other text): count; value: bytes */
	PKBPF_RELATION_CALLS = 10,
	/* The other process, which is no target, used storage in the interval; value: bytes. */
	PKBPF_RELATION_STORAGE = 11,
	/* As REPLY, if a thread is blocked reading; otherwise the connection may be idle. */
	PKBPF_RELATION_REPLY_IF_READING = 12,
	/* A block device ("major:minor"), of no process; value: bytes that it transferred in the
	 * interval, for whomever. */
	PKBPF_RELATION_DEVICE = 13,
};

/* flags of RESOURCE, MACHINE and CGROUP_LIMIT */
enum pkbpf_resource_moment {
	PKBPF_RESOURCE_NEVER = 0,
	PKBPF_RESOURCE_START = 1, /* of the interval */
	PKBPF_RESOURCE_END = 2,	  /* of the interval */
	PKBPF_RESOURCE_EXIT = 3,  /* the thread exited: these are its final numbers */
	/* RESOURCE only. A thread that was not the first of its process had this tid and called
	 * exec. It takes over the tid and start time of the first thread. */
	PKBPF_RESOURCE_EXEC = 4,
	/* RESOURCE only. START of a thread that is no target, but may become one by its comm or
	 * cgroup. */
	PKBPF_RESOURCE_BYSTANDER = 5,
	/* RESOURCE only. As EXIT, for a thread that is no longer a target: it called exec, and has
	 * the new program's comm. */
	PKBPF_RESOURCE_LEFT = 6,
	/* END of one slice and START of the next one */
	PKBPF_RESOURCE_CUT = 7,
};

/* Flag added to EXIT: the OOM killer chose the process. */
#define PKBPF_RESOURCE_OOM_KILLED 0x100

struct pkbpf_event_resource {
	struct pkbpf_event_header header;
	__u32 pid, tid;
	__u32 parent_pid;
	/* part of rss_bytes that is neither file-backed nor shared; kernels count it in batches, so
	 * that 0 may be some 100 KiB */
	__u32 anonymous_rss_kib;
	__u64 process_start_ns; /* CLOCK_MONOTONIC; with pid it identifies a process */
	__u64 thread_start_ns;
	__u64 cgroup_id;
	__u64 user_ns, system_ns; /* from the kernel's ticks: only their ratio is accurate */
	__u64 run_ns;		  /* on a CPU, exact */
	__u64 run_delay_ns;	  /* runnable, waiting for a CPU; complete waits only */
	__u64 voluntary_switches, involuntary_switches;
	__u64 minor_faults, major_faults;
	__u64 read_bytes, written_bytes; /* from and to storage, without cancelled writes */
	__u64 rss_bytes, peak_rss_bytes; /* of the process; rss 0: exited, or kernel thread */
	char comm[PKBPF_COMM_SIZE];	 /* of the thread */
};

_Static_assert(sizeof(struct pkbpf_event_resource) == 16 + 16 + 24 + 32 + 32 + 32 + 16,
	       "wire size");

/* /proc/stat and /proc/meminfo */
struct pkbpf_event_machine {
	struct pkbpf_event_header header;
	__u64 user_ns, nice_ns, system_ns, idle_ns, iowait_ns, irq_ns, softirq_ns,
		steal_ns; /* all CPUs together */
	__u64 memory_bytes, memory_available_bytes;
	/* Time for which the CPUs ran threads, from one counter per CPU; 0: unknown. Missing in
	 * older recordings. */
	__u64 threads_ns;
	__u64 cpu_count; /* online; 0: unknown. Missing in older recordings. */
};

_Static_assert(sizeof(struct pkbpf_event_machine) == 16 + 64 + 16 + 8 + 8, "wire size");

struct pkbpf_event_cgroup {
	struct pkbpf_event_header header;
	__u64 cgroup_id;
	/* NUL-terminated, padded to a multiple of 8. CGROUP: path below the root of the hierarchy;
	 * "/" is the root. CONTAINER: the container's name, not empty. CGROUP_NAMES: names of its
	 * directory, its parent and so on up to the one below the root; each NUL-terminated. */
	char path[];
};

/* Size limit of CGROUP_NAMES, all names with their NULs. A name that begins below
 * PKBPF_CGROUP_NAMES_SIZE is complete. */
#define PKBPF_CGROUP_NAMES_SIZE 1024
#define PKBPF_CGROUP_NAME_SIZE	256 /* one name: NAME_MAX and its NUL */

_Static_assert(sizeof(struct pkbpf_event_cgroup) == 24, "wire size");

struct pkbpf_event_relation {
	struct pkbpf_event_header header;
	__u32 relation; /* enum pkbpf_relation */
	__u32 pid, other_pid;
	__u32 reserved;
	__u64 stack_id, other_stack_id; /* of earlier PKBPF_EVENT_STACK; 0: none */
	__u64 count, value;
	char other_comm[PKBPF_COMM_SIZE];
	char text[]; /* NUL-terminated, padded to a multiple of 8; may be missing */
};

_Static_assert(sizeof(struct pkbpf_event_relation) == 80, "wire size");

/* Figures of a cgroup with a limit: STATE(name) as it is, TOTAL(name) since the cgroup exists.
 * CPU: quota_ns of CPU time in each period, all CPUs together (0: no limit); periods with runnable
 * threads, those of them in which the quota was used up and threads were still runnable, and the
 * throttled time, summed over CPUs. Memory, in bytes: the limits (0: none), what is used and the
 * most that was; how often an allocation found a limit reached, processes killed for it, and the
 * time in which some thread waited for memory (cgroup v2 with pressure accounting). frozen: 1, its
 * threads are stopped, as in a paused container. */
#define PKBPF_CGROUP_LIMIT_FIGURES(STATE, TOTAL)                                                   \
	STATE(quota_ns)                                                                            \
	STATE(period_ns)                                                                           \
	TOTAL(periods)                                                                             \
	TOTAL(throttled_periods)                                                                   \
	TOTAL(throttled_ns)                                                                        \
	STATE(memory_limit)                                                                        \
	STATE(memory_high)                                                                         \
	STATE(memory_used)                                                                         \
	STATE(memory_peak)                                                                         \
	TOTAL(memory_reached)                                                                      \
	TOTAL(memory_kills)                                                                        \
	TOTAL(memory_pressure_ns)                                                                  \
	STATE(frozen)
#define PKBPF_CGROUP_LIMIT_MEMBER(name) __u64 name;

struct pkbpf_event_cgroup_limit {
	struct pkbpf_event_header header;
	/* id in the hierarchy of the controller, which may differ from that of CGROUP */
	__u64 cgroup_id;
	PKBPF_CGROUP_LIMIT_FIGURES(PKBPF_CGROUP_LIMIT_MEMBER, PKBPF_CGROUP_LIMIT_MEMBER)
	char path[]; /* as in pkbpf_event_cgroup */
};

_Static_assert(sizeof(struct pkbpf_event_cgroup_limit) == 24 + 104, "wire size");

#endif
