/* SPDX-License-Identifier: BSD-2-Clause */
/* Receiver of the record stream. A sink sets the callbacks it needs (NULL: not interested).
 * Views and everything they point to are borrowed until the callback returns. Callbacks run on
 * the decoding thread. */
#ifndef PKBPF_EVENT_EVENT_SINK_H
#define PKBPF_EVENT_EVENT_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/blockio.h>
#include <pkbpf/counter.h>
#include <pkbpf/event.h>

struct sample_view {
	uint64_t time_ns;
	uint32_t pid, tid, cpu;
	enum pkbpf_profile_kind kind;
	enum pkbpf_stack_end user_end;
	uint8_t state;
	/* The first user ip, or the ip in the registers, follows a system call instruction, like
	 * a return address. */
	bool after_syscall;
	uint64_t cgroup_id;
	uint64_t count;
	uint64_t weight;
	char comm[PKBPF_COMM_SIZE + 1]; /* NUL-terminated, not escaped */
	const uint64_t *kernel_ips;	/* leaf first */
	size_t kernel_count;
	const uint64_t *user_ips; /* leaf first, with PKBPF_INTERRUPTED */
	size_t user_count;
	size_t guessed_count;
	uint32_t region; /* 1 + number; 0: none */
};

struct task_view {
	uint64_t time_ns;
	enum pkbpf_event_kind kind; /* FORK, COMM or EXIT */
	uint32_t pid, tid;
	uint32_t parent_pid, parent_tid;
	bool exec;
	bool from_snapshot;
	char comm[PKBPF_COMM_SIZE + 1];
};

struct mapping_view {
	uint64_t time_ns;
	uint32_t pid, tid;
	uint64_t start, end, file_offset;
	uint64_t inode;
	uint32_t device_major, device_minor, inode_generation;
	uint32_t protection;
	bool from_snapshot;
	/* NUL-terminated, at most PATH_MAX; "[vdso]", "//anon", "/x/y (deleted)" … */
	const char *path;
};

struct lost_view {
	uint64_t time_ns;
	enum pkbpf_counter cause;
	uint64_t count;
};

struct raw_stack_view {
	struct sample_view sample; /* user_count is 0, except in checks */
	bool check; /* not an event: sample has the kernel side's unwound frames, for comparison */
	bool cut;   /* the stack continues, but the copy had no more room */
	/* The Python part of the stack: anchors and frames (python.h), not merged yet. */
	const uint64_t *python;
	size_t python_count;
	uint64_t stack_id;    /* not 0: not an event; its frames belong to this stack */
	const uint64_t *regs; /* PKBPF_REGS words */
	uint64_t stack_start;
	const uint8_t *stack;
	size_t stack_size;
	/* Bit mask of pages, from that of stack_start on, that could not be read and are missing
	 * in stack. */
	uint64_t holes;
};

struct stack_view {
	uint64_t stack_id;
	uint32_t pid;
	bool after_syscall; /* as in sample_view */
	enum pkbpf_stack_end user_end;
	const uint64_t *kernel_ips;
	size_t kernel_count;
	const uint64_t *user_ips;
	size_t user_count;
	size_t guessed_count;
	uint32_t region; /* as in sample_view */
};

/* Views the frames of a sample as a numbered stack. */
static inline struct stack_view stack_view_of(uint64_t stack_id, const struct sample_view *sample)
{
	return (struct stack_view){
		.stack_id = stack_id,
		.pid = sample->pid,
		.after_syscall = sample->after_syscall,
		.user_end = sample->user_end,
		.kernel_ips = sample->kernel_ips,
		.kernel_count = sample->kernel_count,
		.user_ips = sample->user_ips,
		.user_count = sample->user_count,
		.guessed_count = sample->guessed_count,
		.region = sample->region,
	};
}

struct totals_view {
	uint64_t time_ns;
	uint64_t stack_id, waker_id;
	uint32_t pid, tid;
	uint64_t cgroup_id;
	uint32_t device;
	enum pkbpf_profile_kind kind;
	uint8_t state, measure;
	bool estimated, open;
	char comm[PKBPF_COMM_SIZE + 1];
	uint64_t count, total, max, bytes, variance;
	const struct pkbpf_histogram_bucket *buckets; /* ascending, indexes checked */
	size_t bucket_count;
};

/* One slow block request. insert_ns <= issue_ns <= time_ns, all CLOCK_MONOTONIC. */
struct slow_io_view {
	uint64_t time_ns; /* completion; with open: the end of the interval */
	uint64_t insert_ns;
	uint64_t issue_ns; /* 0: not issued yet, only with open */
	uint64_t stack_id;
	uint64_t cgroup_id;
	uint64_t sector; /* PKBPF_NO_SECTOR: none, or unknown */
	uint32_t pid, tid;
	uint32_t device;
	uint32_t bytes;
	uint8_t state;
	bool open, failed, fua, metadata;
	char comm[PKBPF_COMM_SIZE + 1];
};

struct cut_view {
	uint64_t time_ns;
	uint64_t sequence; /* of the slice that begins */
	int64_t unix_ns;
};

struct event_sink_ops {
	void (*on_sample)(void *context, const struct sample_view *sample);
	void (*on_task)(void *context, const struct task_view *task);
	void (*on_mapping)(void *context, const struct mapping_view *mapping);
	void (*on_lost)(void *context, const struct lost_view *lost);
	void (*on_raw_stack)(void *context, const struct raw_stack_view *raw);
	void (*on_stack)(void *context, const struct stack_view *stack);
	void (*on_totals)(void *context, const struct totals_view *totals);
	void (*on_slow_io)(void *context, const struct slow_io_view *slow_io);
	void (*on_cut)(void *context, const struct cut_view *cut);
	/* Called for record kinds without a view here (later kinds): the checked header and its
	 * bytes. */
	void (*on_other)(void *context, const struct pkbpf_event_header *record);
};

struct event_sink {
	const struct event_sink_ops *ops;
	void *context;
};

#endif
