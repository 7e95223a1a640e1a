/* SPDX-License-Identifier: BSD-2-Clause */
/* A finished profile: weighted stacks per process (and per thread, if requested), with every
 * frame symbolized once. The aggregator fills it, profile_symbolize() symbolizes it, output
 * formats read it. */
#ifndef PKBPF_PROFILE_PROFILE_H
#define PKBPF_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/config.h>
#include <pkbpf/counter.h>
#include <pkbpf/event.h>

#include "process/process_table.h"
#include "profile/account/account_list.h"
#include "profile/account/distribution.h"
#include "profile/account/disk_list.h"
#include "profile/account/gpu_call_list.h"
#include "profile/account/gpu_list.h"
#include "profile/account/heap_list.h"
#include "profile/account/machine_figures.h"
#include "profile/account/deadlock_list.h"
#include "profile/account/lock_list.h"
#include "profile/account/memory_list.h"
#include "profile/account/moment_list.h"
#include "profile/account/peer_table.h"
#include "profile/account/resource_usage.h"
#include "profile/account/region_gaps.h"
#include "profile/account/region_table.h"
#include "profile/account/relation_list.h"
#include "profile/account/python_call_list.h"
#include "profile/account/request_list.h"
#include "profile/account/slow_io.h"
#include "profile/account/slow_region.h"
#include "symbol/symbolizer.h"

/* A distinct place in code. symbol is valid after profile_symbolize(). */
struct frame {
	struct frame_location location;
	struct symbol symbol;
	/* the frame that represents it in new stacks, see profile/frame_table.h; or itself */
	uint32_t merged;
	bool named, compared;
};

#define PROFILE_NO_THREAD 0

/* Weight of one stack in one process (and thread). */
struct profile_row {
	enum pkbpf_profile_kind kind;
	uint32_t process; /* incarnation id in the process table */
	uint32_t tid;	  /* PROFILE_NO_THREAD without per-thread rows */
	uint32_t comm; /* profile_string(): comm of the sampled thread at that moment, as in perf */
	uint32_t stack; /* stack id */
	uint32_t waker; /* off-CPU: 1 + stack id of the waker; 0: unknown */
	uint8_t state;
	uint64_t count;
	uint64_t weight;
	uint64_t max; /* largest single value, 0: unknown */
};

#define PROFILE_SHED_SIZE 156

/* Description of a record, for headers of reports. Filled by live/. */
struct profile_info {
	char host[256];
	char kernel[256];
	char targets[512];  /* "pid 812,813", "whole host" */
	bool has_targets;   /* only chosen processes were profiled, not the whole host */
	char cpu_event[64]; /* "cycles" or "cpu-clock" */
	uint32_t frequency_hz;
	uint32_t kinds_mask; /* 1 << enum pkbpf_profile_kind */
	enum pkbpf_unwind_mode unwind_mode;
	uint64_t sequence;	   /* of the slice in its capture, from 0 */
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
	int64_t start_unix_ns;
	char label_key[64]; /* stacks begin with the values of this label; empty: they do not */
	char label_keys[PKBPF_CONTEXT_LABELS][64]; /* that requests have; empty: none */
	uint64_t regions_ns;   /* of the interval, while regions were recorded; 0: they were not */
	uint64_t gpu_calls_ns; /* the same, while calls of GPU libraries were watched */
	uint32_t cpu_count;    /* maximum online at one time */
	uint64_t counters[PKBPF_COUNTER_COUNT];
	/* profiler overhead */
	uint32_t own_pid;	   /* 0 unknown */
	uint32_t keeper_pid;	   /* of the processes that read files for pkbpf; 0: none */
	uint64_t own_cpu_ns;	   /* user + system time of pkbpf */
	uint64_t own_start_cpu_ns; /* included in own_cpu_ns, before the interval; 0: unknown */
	uint64_t bpf_cpu_ns;	   /* run time of the BPF programs, 0: unknown */
	bool bpf_cpu_known;
	uint32_t bpf_limit_permille; /* limit of a CPU for stacks of waits; 0: none */
	uint64_t max_resident_bytes;
	/* kernel memory of BPF maps, not part of RSS; 0: unknown */
	uint64_t bpf_map_bytes;
	/* memory of pkbpf and its BPF maps: the limit, 0: none, and the most that was measured */
	uint64_t memory_limit_bytes, memory_peak_bytes;
	/* What was left out to cost less, in words (the most of all slices), and how many steps
	 * that is; 0: nothing. */
	uint32_t shed_steps;
	char shed[PROFILE_SHED_SIZE];
	/* single events were kept: CPU samples, and waits and requests of this length or more;
	 * 0: none */
	uint64_t trace_ns;
	struct machine_figures machine;
};

/* CPU time of pkbpf since the interval began. */
static inline uint64_t profile_own_cpu_since_start(const struct profile_info *info)
{
	return info->own_cpu_ns > info->own_start_cpu_ns ? info->own_cpu_ns - info->own_start_cpu_ns
							 : 0;
}

struct profile;

struct profile *profile_new(struct process_table *processes);
/* An empty profile of the same processes, with the same numbers of frames, stacks and strings:
 * the next slice of a capture. */
struct profile *profile_new_beside(const struct profile *other);
/* An empty profile of the same processes with names of its own: the first slice of a generation
 * of names. */
struct profile *profile_new_apart(const struct profile *other);
/* Copies a stack of another profile; its frames keep their locations and symbols. */
uint32_t profile_adopt_stack(struct profile *profile, const struct profile *other, uint32_t stack);
/* Memory of frames, stacks and strings, including those of other slices. */
size_t profile_names_bytes(const struct profile *profile);
bool profile_has_same_names(const struct profile *profile, const struct profile *other);
/* Sets is_used for the processes that frames refer to. */
void profile_mark_frame_processes(const struct profile *profile, bool *is_used);
/* True when other slices use the same numbers of frames, stacks and strings. */
bool profile_shares_names(const struct profile *profile);
void profile_free(struct profile *profile);

struct profile_info *profile_info(struct profile *profile);
const struct profile_info *profile_info_read(const struct profile *profile);
struct process_table *profile_processes(const struct profile *profile);
/* Resource usage of processes, as counted by the kernel. */
struct resource_usage *profile_resources(const struct profile *profile);
/* The accounts, by name: profile_slow_io() is a struct slow_io_list. */
#define X(name, type) type *profile_##name(const struct profile *profile);
ACCOUNT_LIST(X)
#undef X
/* For loops over all. */
void *profile_account_at(const struct profile *profile, enum account account);

struct time_line;
/* How the weights of rows lie in time; NULL: not known, or all is one slice. */
const struct time_line *profile_time_line(const struct profile *profile);

/* Filling. Each function returns an id, or UINT32_MAX when out of memory. */
uint32_t profile_intern_frame(struct profile *profile, const struct frame_location *location);
/* The frame of a peer, named as in peer_text.h; the name changes with what is known of the peer. */
uint32_t profile_intern_peer(struct profile *profile, uint32_t number, const struct peer *peer);
/* The frame of our own BPF programs: "[pkbpf]", in the kernel. */
#define PROFILE_OWN_NAME "[pkbpf]"
uint32_t profile_intern_own(struct profile *profile);
/* The frame of a region, named "[name]". */
uint32_t profile_intern_region(struct profile *profile, uint32_t number, const char *name);
uint32_t profile_intern_stack(struct profile *profile, const uint32_t *frames,
			      size_t count); /* leaf first */
uint32_t profile_intern_string(struct profile *profile, const char *string);
/* Stores the name of a thread. A program may invent names without end: beyond PROFILE_MAX_NAMES
 * strings, new ones become PROFILE_OTHER_NAMES. */
#define PROFILE_MAX_NAMES   65536
#define PROFILE_OTHER_NAMES RESOURCE_OTHERS_COMM
uint32_t profile_intern_comm(struct profile *profile, const char *comm);
/* Copies a symbolized frame of another profile: its texts, but not its location. */
uint32_t profile_put_frame(struct profile *profile, const struct frame *frame);
/* Adds to the row with the same key (all but count, weight and max). Index of the row; -ENOMEM. */
int64_t profile_add_row(struct profile *profile, const struct profile_row *row);
/* The same; 0 or -ENOMEM. */
int profile_add(struct profile *profile, const struct profile_row *row);
/* Counts how user stacks ended, overall and per process, for the complete-stack rate.
 * guessed_frames of each were found by unverified frame pointers: complete stacks with such
 * frames, or whose root the unwind info does not mark as one, are GUESSED. */
void profile_count_end(struct profile *profile, uint32_t process, enum pkbpf_stack_end end,
		       uint64_t count, uint64_t guessed_frames);

/* Adds to the distribution of a key; -ENOMEM. */
int profile_add_distribution(struct profile *profile, const struct distribution_key *key,
			     const struct distribution_change *change);

/* Adds a distribution of another profile; its process must be one of this profile. -ENOMEM. */
int profile_put_distribution(struct profile *profile, const struct distribution *distribution);

/* Scales count and weight of rows, given by their indexes in profile_rows(), so that the counts
 * add up to exactly `count`. false: no rows, or all counts are 0. */
bool profile_scale(struct profile *profile, const uint32_t *rows, size_t row_count, uint64_t count);

/* Sets the name of the block device with this number (major << 20 | minor). -ENOMEM. */
int profile_set_device_name(struct profile *profile, uint32_t device, const char *name);
/* NULL: unknown. */
const char *profile_device_name(const struct profile *profile, uint32_t device);

/* Symbolizes kernel frames while the kernel still has their code; profile_symbolize() keeps
 * these symbols. */
void profile_symbolize_kernel(struct profile *profile, struct symbolizer *symbolizer);
/* Symbolizes every frame; each distinct location is looked up once. */
void profile_symbolize(struct profile *profile, struct symbolizer *symbolizer);
/* Notes about the symbols, for the user. */
const struct symbol_notes *profile_symbol_notes(const struct profile *profile);

/* Memory of stacks and frames; it grows with every new one. */
size_t profile_stack_bytes(const struct profile *profile);

/* Reading. Rows are in no particular order. */
const struct profile_row *profile_rows(const struct profile *profile, size_t *ret_count);
const struct frame *profile_frame(const struct profile *profile, uint32_t frame);
size_t profile_frame_count(const struct profile *profile);
size_t profile_stack_count(const struct profile *profile);
const uint32_t *profile_stack(const struct profile *profile, uint32_t stack,
			      size_t *ret_count); /* leaf first */
const char *profile_string(const struct profile *profile, uint32_t string);
/* Set the flags of processes and stacks that rows, distributions and requests of this profile
 * refer to; slices that share its names have others, too. The arrays need room for
 * process_table_count() and profile_stack_count(). */
void profile_mark_processes(const struct profile *profile, bool *is_used);
void profile_mark_stacks(const struct profile *profile, bool *is_used);
/* Adds guessed frames of stacks whose ends are counted separately. */
void profile_add_guessed_frames(struct profile *profile, uint64_t count);
/* Number of stacks that ended in `end`; process UINT32_MAX: of all processes. */
uint64_t profile_end_count(const struct profile *profile, uint32_t process,
			   enum pkbpf_stack_end end);
uint64_t profile_guessed_frames(const struct profile *profile);

/* The distribution of a key, NULL: none; and by index, NULL at the end. Valid until the next
 * add. */
const struct distribution *profile_distribution(const struct profile *profile,
						const struct distribution_key *key);
const struct distribution *profile_distribution_at(const struct profile *profile, size_t index);

/* CPU samples: expected = recorded + lost. lost_other: other missing records, requests and
 * threads. */
struct profile_account {
	uint64_t expected, recorded, lost, lost_other;
};
struct profile_account profile_account(const struct profile *profile);

#endif
