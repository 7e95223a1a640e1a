/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of resource usage of threads and the machine, of cgroup names, and of CPU limits. They
 * reach sinks through on_other(): only resource accounting uses them. */
#ifndef PKBPF_EVENT_RESOURCE_EVENT_H
#define PKBPF_EVENT_RESOURCE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/resource.h>

#include "event/encoder.h"

/* Running totals since the start of the thread. */
struct resource_counters {
	uint64_t user_ns, system_ns; /* from timer ticks: only their ratio is used, to divide
				      * run_ns */
	uint64_t run_ns, run_delay_ns;
	uint64_t voluntary_switches, involuntary_switches;
	uint64_t minor_faults, major_faults;
	uint64_t read_bytes, written_bytes;
};

struct resource_view {
	uint64_t time_ns;
	enum pkbpf_resource_moment moment;
	bool oom_killed; /* set at exit: the OOM killer killed the process */
	uint32_t pid, tid, parent_pid;
	uint64_t process_start_ns, thread_start_ns;
	uint64_t cgroup_id;
	struct resource_counters counters;
	uint64_t rss_bytes, peak_rss_bytes;
	uint64_t anonymous_rss_bytes;	/* of rss_bytes */
	char comm[PKBPF_COMM_SIZE + 1]; /* not escaped */
};

struct machine_view {
	uint64_t time_ns;
	enum pkbpf_resource_moment moment;
	uint64_t busy_ns;   /* all CPUs together, running anything */
	uint64_t idle_ns;   /* idle, including I/O wait */
	uint64_t steal_ns;  /* runnable, but the hypervisor ran other guests */
	uint64_t iowait_ns; /* included in idle_ns */
	uint64_t irq_ns;    /* included in busy_ns: hard and soft interrupts */
	uint64_t memory_bytes, memory_available_bytes;
	uint64_t threads_ns; /* the CPUs ran any thread; 0: unknown */
	uint64_t cpu_count;  /* online; 0: unknown */
};

struct cgroup_view {
	uint64_t cgroup_id;
	bool is_container;
	const char *text; /* path, or name of the container; borrowed from the record */
};

struct cgroup_limit_view {
	uint64_t time_ns;
	enum pkbpf_resource_moment moment;
	uint64_t cgroup_id;
	PKBPF_CGROUP_LIMIT_FIGURES(PKBPF_CGROUP_LIMIT_MEMBER, PKBPF_CGROUP_LIMIT_MEMBER)
	const char *path; /* borrowed from the record */
};

struct relation_view {
	uint64_t time_ns;
	enum pkbpf_relation relation;
	uint32_t pid, other_pid;
	uint64_t stack_id, other_stack_id;
	uint64_t count, value;
	char other_comm[PKBPF_COMM_SIZE + 1];
	const char *text; /* borrowed from the record; "" none */
};

/* Each returns 0, or -EBADMSG when the record (checked by event_check_header()) is not of its
 * kind. */
int resource_event_decode(const struct pkbpf_event_header *record, struct resource_view *ret_view);
int machine_event_decode(const struct pkbpf_event_header *record, struct machine_view *ret_view);
int cgroup_event_decode(const struct pkbpf_event_header *record, struct cgroup_view *ret_view);
int cgroup_limit_event_decode(const struct pkbpf_event_header *record,
			      struct cgroup_limit_view *ret_view);
int relation_event_decode(const struct pkbpf_event_header *record, struct relation_view *ret_view);
/* Builds the path from the names of a CGROUP_NAMES record, as in a CGROUP record. Also -EBADMSG
 * when there is no name, a name is invalid, or the path does not fit into size (at least 1);
 * then ret_path is undefined. */
int cgroup_names_event_decode(const struct pkbpf_event_header *record, uint64_t *ret_cgroup_id,
			      char *ret_path, size_t size);

/* Each appends one record. -ENOMEM; -EINVAL when a path or name is empty or has PATH_MAX bytes
 * or more. */
int resource_event_encode(struct event_buffer *buffer, const struct resource_view *view);
int machine_event_encode(struct event_buffer *buffer, const struct pkbpf_event_machine *machine);
int cgroup_event_encode(struct event_buffer *buffer, uint64_t time_ns, uint64_t cgroup_id,
			const char *path);
int container_event_encode(struct event_buffer *buffer, uint64_t time_ns, uint64_t cgroup_id,
			   const char *name);
/* Truncates a text that is too long. */
int relation_event_encode(struct event_buffer *buffer, const struct relation_view *view);
int cgroup_limit_event_encode(struct event_buffer *buffer, const struct cgroup_limit_view *limit);

#endif
