/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel has counted for each thread, read at both ends of the interval and when a thread
 * exited. Numbers are running totals of the thread's life: what an interval used is the
 * difference of two records.
 */
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
	/* struct pkbpf_event_cpu_limit: a cgroup that may use so much of the CPUs */
	PKBPF_EVENT_CPU_LIMIT = 52,
	/* struct pkbpf_event_cgroup: what the kernel side has read of its path. Whoever reads the
	 * ring makes a CGROUP of it when it is asked for, so there is none in a stream. */
	PKBPF_EVENT_CGROUP_NAMES = 53,
	/* struct pkbpf_event_relation: who held up a process, or what it was limited by */
	PKBPF_EVENT_RELATION = 54,
};

/* What an other process, or a setting, has to do with a process. Part of the recording format. */
enum pkbpf_relation {
	/* ended a wait that began at stack_id, at other_stack_id; count: such samples, value: ns
	 * waited, of all that they stand for */
	PKBPF_RELATION_WAKER = 1,
	/* left the CPU for a thread that had waited for it; value: ns waited */
	PKBPF_RELATION_RIVAL = 2,
	/* holds a file lock that the process waits for; text: the file */
	PKBPF_RELATION_FILE_LOCK = 3,
	/* has been sent a request that is not answered; text: its address; count: times of value
	 * looks at which it was so */
	PKBPF_RELATION_REPLY = 4,
	/* does not take what was sent to it; as REPLY */
	PKBPF_RELATION_RECEIVER = 5,
	/* the cgroup's I/O is limited; text: the limit */
	PKBPF_RELATION_IO_LIMIT = 6,
	/* was killed by the OOM killer; text: the cgroup whose limit was met; value: bytes of the
	 * limit */
	PKBPF_RELATION_OOM = 7,
	/* text: the script that an interpreter runs */
	PKBPF_RELATION_SCRIPT = 8,
	/* connections that could not be made, of its network namespace; count: in the interval */
	PKBPF_RELATION_REFUSED = 9,
	/* system calls that read (text "read") or write: count, value: bytes */
	PKBPF_RELATION_CALLS = 10,
	/* read from or wrote to storage meanwhile, and is no target: value: bytes */
	PKBPF_RELATION_STORAGE = 11,
	/* as REPLY, when a thread is blocked reading; else the connection may as well be idle */
	PKBPF_RELATION_REPLY_IF_READING = 12,
};

/* flags of RESOURCE, MACHINE and CPU_LIMIT */
enum pkbpf_resource_moment {
	PKBPF_RESOURCE_NEVER = 0,
	PKBPF_RESOURCE_START = 1, /* of the interval */
	PKBPF_RESOURCE_END = 2,	  /* of the interval */
	PKBPF_RESOURCE_EXIT = 3,  /* the thread exited: these are its last numbers */
	/* Of RESOURCE only. */
	/* it was not its process's first, had this tid, and takes that one's number and birth: it
	 * called exec */
	PKBPF_RESOURCE_EXEC = 4,
	/* START of one that is no target, but may become one by its name or cgroup */
	PKBPF_RESOURCE_BYSTANDER = 5,
	/* as EXIT, of one that is no target any more: it called exec, and has the new program's
	 * name */
	PKBPF_RESOURCE_LEFT = 6,
	/* Of RESOURCE, MACHINE and CPU_LIMIT: END of one slice and START of the next one */
	PKBPF_RESOURCE_CUT = 7,
};

/* Beside the moment of an EXIT: the OOM killer chose its process. */
#define PKBPF_RESOURCE_OOM_KILLED 0x100

struct pkbpf_event_resource {
	struct pkbpf_event_header header;
	__u32 pid, tid;
	__u32 parent_pid;
	/* of rss_bytes: neither of files nor shared; kernels count it in batches: 0 may be some 100
	 * KiB */
	__u32 anonymous_rss_kib;
	__u64 process_start_ns; /* CLOCK_MONOTONIC; with pid what tells processes apart */
	__u64 thread_start_ns;
	__u64 cgroup_id;
	__u64 user_ns, system_ns; /* by the kernel's ticks: only their ratio is good */
	__u64 run_ns;		  /* on a CPU, exact */
	__u64 run_delay_ns;	  /* able to run, waiting for a CPU; complete waits */
	__u64 voluntary_switches, involuntary_switches;
	__u64 minor_faults, major_faults;
	__u64 read_bytes, written_bytes; /* from and to storage, without what was cancelled */
	__u64 rss_bytes, peak_rss_bytes; /* of the process; rss 0: ended, kernel thread */
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
	/* What the CPUs ran any thread, by a counter per CPU; 0 unknown. Not in older
	 * recordings. */
	__u64 threads_ns;
};

_Static_assert(sizeof(struct pkbpf_event_machine) == 16 + 64 + 16 + 8, "wire size");

struct pkbpf_event_cgroup {
	struct pkbpf_event_header header;
	__u64 cgroup_id;
	/* NUL-terminated, padded to a multiple of 8. CGROUP: below the root of the hierarchy, "/"
	 * is the root. CONTAINER: what people call it, not empty. CGROUP_NAMES: of its folder, of
	 * the one above and so on, the last one below the root; each NUL-terminated. */
	char path[];
};

/* Of CGROUP_NAMES, all together with their NULs at most; names that begin before the first are
 * still whole. */
#define PKBPF_CGROUP_NAMES_SIZE 1024
#define PKBPF_CGROUP_NAME_SIZE	256 /* of one: NAME_MAX and its NUL */

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

/* Of CFS bandwidth control, which the kernel counts since the cgroup is there. */
struct pkbpf_event_cpu_limit {
	struct pkbpf_event_header header;
	/* in the hierarchy of the cpu controller, which need not be that of CGROUP */
	__u64 cgroup_id;
	__u64 quota_ns, period_ns; /* it may run so long in each period, all CPUs together */
	__u64 periods;		   /* in which it had something to run */
	__u64 throttled_periods;   /* of those, in which it had used its quota and wanted more */
	__u64 throttled_ns;	   /* each CPU that it was throttled on for itself */
	char path[];		   /* as in pkbpf_event_cgroup */
};

_Static_assert(sizeof(struct pkbpf_event_cpu_limit) == 64, "wire size");

#endif
