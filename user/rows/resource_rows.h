/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The joined account: one row per process, thread, container, comm, name or region that says what
 * it used, what it waited for, and which stack is behind each. What was not recorded is marked as
 * not known, never zero.
 */
#ifndef PKBPF_ROWS_RESOURCE_ROWS_H
#define PKBPF_ROWS_RESOURCE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/blockio.h>
#include <pkbpf/offcpu.h>
#include <pkbpf/span.h>

#include "profile/function_table.h"
#include "profile/kind_table.h"
#include "profile/profile.h"
#include "rows/part/row_blockio.h"
#include "rows/part/row_cpu.h"
#include "rows/part/row_faults.h"
#include "rows/part/row_gpu.h"
#include "rows/part/row_heap.h"
#include "rows/part/row_memory.h"
#include "rows/part/row_network.h"
#include "rows/part/row_storage.h"
#include "rows/part/row_waits.h"

#define ROW_NO_STACK UINT32_MAX
/*
 * Name of the row for CPUs that were awake and ran no thread: interrupts that hit an idle CPU, and
 * its way to sleep and back. Where the kernel takes interrupts out of the threads they hit
 * (CONFIG_IRQ_TIME_ACCOUNTING), those as well.
 */
#define ROW_INTERRUPTS "[interrupts]"
/* "postgresql@15-main.service", "docker:0123456789ab" */
#define ROW_CONTAINER_SIZE 256
/* A comm, the name of a region, or the value of a label. */
#define ROW_NAME_SIZE PKBPF_SPAN_NAME
/* Name of the row for what was outside of all regions. */
#define ROW_NO_REGION "[no region]"
/* And for what had no label. */
#define ROW_NO_LABEL "[no label]"

/* What a row of the resource tables is. */
enum rows_by {
	ROWS_BY_PROCESS,
	ROWS_BY_THREAD,
	ROWS_BY_CONTAINER,
	ROWS_BY_COMM,
	ROWS_BY_NAME, /* comms that differ in digits only */
	/* Of each the time and the stacks that regions inside of it did not have. */
	ROWS_BY_REGION,
	ROWS_BY_LABEL, /* the same of values of a label of thread contexts */
	ROWS_BY_COUNT,
};

struct row_stack {
	uint32_t stack; /* resource_rows_stack(), ROW_NO_STACK: none */
	uint64_t weight, count;
	uint64_t max; /* longest single value, where weights are times; 0 unknown */
};

/* A region that was left outside of all others; wall time as a sum over threads. */
struct row_region {
	const char *name; /* not escaped; NULL: no region */
	uint64_t wall_ns, count;
	uint64_t missed_ns; /* without probes for regions of this name, since they cost too much */
};

/* What is known of a row; a figure needs some of it. The lower bits are of the kinds of events that
 * were recorded: each part names its own. */
#define ROW_HAS_KIND(kind) (1U << (kind))
enum row_known {
	ROW_HAS_USAGE = 1 << 16,	/* the kernel's account */
	ROW_HAS_RSS = 1 << 17,		/* alive at the end */
	ROW_HAS_INTERVAL = 1 << 18,	/* its length is known */
	ROW_HAS_WAIT_LENGTHS = 1 << 19, /* not per thread */
	ROW_HAS_PEAK = 1 << 20,		/* nor this: the kernel knows it of processes */
	ROW_HAS_MEAN_RSS = 1 << 22,	/* memory was looked at over time */
	ROW_HAS_FREED = 1 << 21,	/* what is freed of sampled allocations is seen */
	ROW_HAS_GPU_TIME = 1 << 23,	/* what tells of GPUs knows it of processes */
	ROW_HAS_GPU_MEMORY = 1 << 24,
	ROW_HAS_GPU_CALLS = 1 << 25, /* some call waited for a GPU */
	ROW_HAS_ENERGY = 1 << 26,    /* the machine has a meter */
	ROW_HAS_KEPT = 1 << 27,	     /* RSS and the live heap of one process */
};
_Static_assert(ROW_HAS_KIND(PKBPF_PROFILE_KINDS) <= ROW_HAS_USAGE, "a bit each");

/* The parts of a row, struct row_<name> each, in the order of the columns of machine formats. */
#define ROW_PART_LIST(X)                                                                           \
	X(cpu)                                                                                     \
	X(waits)                                                                                   \
	X(blockio) X(memory) X(faults) X(heap) X(storage) X(network) X(gpu) ROW_PART_LIST_OF_TEST(X)
/* A test that has a part of its own defines it. */
#ifndef ROW_PART_LIST_OF_TEST
#define ROW_PART_LIST_OF_TEST(X)
#endif

struct resource_row {
	uint32_t pid, tid;	  /* 0: does not apply to this grouping */
	char name[ROW_NAME_SIZE]; /* comm or region; not escaped; "" when it does not apply */
	char container[ROW_CONTAINER_SIZE]; /* container or unit; "" unknown; not escaped */
	bool no_process;		    /* CPU time of no thread: ROW_INTERRUPTS */
	const char *cgroup;		    /* path, NULL unknown */
	uint64_t processes;		    /* behind this row */
	uint64_t threads;		    /* alive at the end */
	uint64_t threads_seen;
	/* Itself, or the program it runs; of groups: all of them. */
	bool started_inside, ended_inside;
	uint64_t lifetime_ns; /* within the interval; groups: longest */
	unsigned int known;   /* enum row_known and ROW_HAS_KIND() */

#define X(name) struct row_##name name;
	ROW_PART_LIST(X)
#undef X

	struct row_region region; /* the one with the most wall time; not of threads */
	struct row_stack stacks[PKBPF_PROFILE_KINDS];
	uint64_t kind_weight[PKBPF_PROFILE_KINDS];
	bool is_quiet;	 /* active in no part: tables leave it out */
	double score;	 /* by which rows are sorted */
	uint32_t number; /* of its stacks */
};

/* Weight of one stack in one row. */
struct row_weight {
	uint32_t number; /* of the row */
	enum pkbpf_profile_kind kind;
	struct row_stack stack;
	/* Its parts, by the state_mask of the kind: of waits by enum pkbpf_wait_state, of page
	 * faults by enum pkbpf_fault. */
	uint64_t state_weight[KIND_STATES];
};

/* One of a row's distributions of lengths. */
struct row_share {
	uint32_t row; /* its number */
	const struct distribution *distribution;
};

/* Where a row of the profile went. */
struct row_place {
	uint32_t number; /* of the row */
	uint32_t stack;	 /* resource_rows_stack(), ROW_NO_STACK: none */
};

/* Figures of a row's threads, which are counted where their rows are made. */
extern const struct row_part row_threads_part;

struct resource_rows {
	enum rows_by by;
	struct resource_row *items; /* what is scarce first; behind these the quiet ones */
	size_t count;		    /* of those that tables show */
	size_t all_count; /* with those that did nothing, which limits and findings look at, too */
	struct resource_row total;
	uint64_t quiet_processes; /* behind the quiet rows */
	uint64_t missing_threads; /* without last numbers: left out */
	struct resource_machine machine;
	/* of the CPUs' busy time, where they ran no thread; 0: none, or not known */
	uint64_t no_thread_ns;
	double busy_percent; /* of all CPUs; < 0 unknown */
	uint64_t interval_ns;
	const struct profile *profile;
	struct function_table *functions;
	struct stack_table *stacks; /* of functions */
	struct row_weight *weights; /* those of a row beside each other, by its number */
	size_t weight_count;
	struct row_place *places; /* by index in profile_rows() */
	struct row_share *shares; /* by row */
	size_t share_count;
};

/* Does the stack of an event say of which row it is? */
static inline bool rows_are_of_regions(enum rows_by by)
{
	return by == ROWS_BY_REGION || by == ROWS_BY_LABEL;
}

/* Name of the row for all the rest. */
static inline const char *rows_rest_name(enum rows_by by)
{
	return by == ROWS_BY_LABEL ? ROW_NO_LABEL : ROW_NO_REGION;
}

/* Do rows have all that the kernel knows of processes: memory, lengths of waits? */
static inline bool rows_are_of_processes(enum rows_by by)
{
	return by != ROWS_BY_THREAD && !rows_are_of_regions(by);
}

/* A group of exited processes, although rows are of single ones: what adds up in it is no
 * figure of one of them. */
bool resource_rows_is_group(const struct resource_rows *rows, const struct resource_row *row);

/* Of a symbolized profile. -ENOMEM. */
int resource_rows_init(struct resource_rows *rows, const struct profile *profile, enum rows_by by);
void resource_rows_done(struct resource_rows *rows);
/* Functions of a stack, leaf first. */
const uint32_t *resource_rows_stack(const struct resource_rows *rows, uint32_t stack,
				    size_t *ret_count);

/* What was recorded with stacks of one row. */
const struct row_weight *resource_rows_weights(const struct resource_rows *rows,
					       const struct resource_row *row, size_t *ret_count);

/* Functions named in an explanation, at most. */
#define ROW_EXPLANATION_FUNCTIONS 4

struct row_explanation {
	const struct function *functions[ROW_EXPLANATION_FUNCTIONS]; /* caller before callee */
	size_t count;
	/* of the stacks that have all of them in this order, and of all that were asked for */
	uint64_t weight, whole;
};

/* Chooses among waits by their stacks; lists end in NULL. */
struct wait_choice {
	const char *const *kernel;   /* has one of these functions of the kernel, NULL: any, */
	const char *const *without;  /* none of these, NULL: any, */
	const char *const *programs; /* and one of these outside of it; NULL: any */
	/* is one of them; NULL: any, */
	bool (*takes)(void *context, const struct row_weight *weight);
	void *context;
	uint64_t mean_ns_max; /* and waits there are on average no longer; 0: any */
	/* of samples of CPUs, functions of the kernel explain nothing */
	bool programs_only;
	uint64_t cut_ns; /* of which they count for no more than this on average; 0: as they are */
};

/*
 * Functions that call one another, below which at least half of the weight of a kind of stacks of
 * some rows lies, as near to the leaf as there are any; count 0: there is none. `states` (1 << enum
 * pkbpf_wait_state; of page faults 1 << enum pkbpf_fault, 0: any) and `choice` (NULL: all) choose
 * among them, and of waits, as of page faults, only functions of programs count: how the kernel
 * waits explains nothing. What calls the C library is told before it, since everybody waits there.
 */
struct row_explanation resource_rows_explain(const struct resource_rows *rows,
					     const struct resource_row *const *members,
					     size_t count, enum pkbpf_profile_kind kind,
					     unsigned int states, const struct wait_choice *choice);

/* Gives `sum` the percentiles and longest ones of all lengths of some rows together; no change
 * where no lengths were recorded. -ENOMEM. */
int resource_rows_merge_lengths(const struct resource_rows *rows,
				const struct resource_row *const *members, size_t count,
				struct resource_row *sum);

/* Longer than nearly all requests of a row took, in the queue and the device. */
static inline uint64_t resource_row_request_ns(const struct resource_row *row)
{
	return row->blockio.device.p99_ns + row->blockio.queue.p99_ns;
}

/* 0 of nothing. */
static inline double row_ratio(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

struct wait_sum {
	uint64_t time_ns, count;
};

/* The chosen waits of a row in a state; their number is of those that were in that state at any
 * time. */
struct wait_sum resource_rows_waits_in(const struct resource_rows *rows,
				       const struct resource_row *row, enum pkbpf_wait_state state,
				       const struct wait_choice *choice);
/* "process", "thread", … */
extern const char *const rows_grouping_names[ROWS_BY_COUNT + 1]; /* ends in NULL */
const char *rows_grouping_name(enum rows_by by);

#endif
