/* SPDX-License-Identifier: BSD-2-Clause */
/* One side of a comparison: the values of its processes, containers, functions and stacks in each
 * of its slices, from whatever file they come. One owner thread. */
#ifndef PKBPF_DIFF_MEASUREMENT_H
#define PKBPF_DIFF_MEASUREMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/config.h>
#include <pkbpf/event.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "base/string_pool.h"
#include "profile/stack_table.h"

/* What a value is of. Baselines store the numbers: new ones come last. */
enum diff_level {
	DIFF_ALL,	 /* everything of its kind; has no name */
	DIFF_PROCESS,	 /* processes of one comm */
	DIFF_CONTAINER,	 /* container or unit */
	DIFF_SELF,	 /* a function itself */
	DIFF_TOTAL,	 /* a function and what it calls */
	DIFF_ALL_STACKS, /* all that has a stack; what shares of functions are of; has no name */
	DIFF_STACK,	 /* a stack with its comm; named by a number in diff_names.stacks */
	/* Of regions and counted functions, with PKBPF_PROFILE_CALLS; see diff/region_values.h. */
	DIFF_REGION_TIME,  /* wall time */
	DIFF_REGION_COUNT, /* times left, or calls of a counted function */
	DIFF_REGION_MEAN,  /* per call; derived by the comparison, like the percentiles */
	DIFF_REGION_P50,
	DIFF_REGION_P99,
	DIFF_REGION_MEASURED, /* calls with a wall time; no row */
	DIFF_REGION_BUCKET,   /* calls in a bucket of a histogram; no row */
	DIFF_REGION_LET_GO,   /* calls are missing: the region is not compared; no row */
	/* Of allocation: what was alive when its process had most; no series, see places. */
	DIFF_PLACE,
	/* Of calls of GPU libraries, with PKBPF_PROFILE_CALLS; see diff/measure_gpu.h. */
	DIFF_GPU_LAUNCHES,    /* of a kernel */
	DIFF_GPU_BLOCKS,      /* that these started */
	DIFF_GPU_KERNEL_TIME, /* that the device worked on it */
	DIFF_GPU_COPIED,      /* bytes in a direction */
	DIFF_GPU_ALLOCATED,   /* bytes by a place of allocation */
	DIFF_GPU_KEPT,	      /* of these, not freed */
	DIFF_GPU_WAIT,	      /* time in a function that only waits */
	DIFF_LOCK,	      /* waits for locks of one name, with PKBPF_PROFILE_LOCKS */
	DIFF_LEVELS,
};

static inline bool diff_level_is_region(uint32_t level)
{
	return level >= DIFF_REGION_TIME && level <= DIFF_REGION_LET_GO;
}
static inline bool diff_level_is_gpu(uint32_t level)
{
	return level >= DIFF_GPU_LAUNCHES && level <= DIFF_GPU_WAIT;
}
/* Of calls: they lie within each other, and are no parts of a sum. */
static inline bool diff_level_is_calls(uint32_t level)
{
	return diff_level_is_region(level) || diff_level_is_gpu(level);
}
/* Values that a comparison derives: per call, whatever work was done. */
static inline bool diff_level_is_derived(uint32_t level)
{
	return level >= DIFF_REGION_MEAN && level <= DIFF_REGION_P99;
}
/* Of functions and stacks. */
static inline bool diff_level_is_stacks(uint32_t level)
{
	return level >= DIFF_SELF && level <= DIFF_STACK;
}

extern const char *const diff_level_names[DIFF_LEVELS];

/* Names, the same numbers on both sides. */
struct diff_names {
	struct string_pool *texts;
	struct stack_table *stacks; /* of texts, root first: comm, then functions */
};

/* false: out of memory; names is for diff_names_done() all the same. */
bool diff_names_init(struct diff_names *names);
void diff_names_done(struct diff_names *names);

struct diff_key {
	uint32_t kind; /* enum pkbpf_profile_kind */
	uint32_t level;
	uint32_t name; /* in diff_names */
};

struct diff_value {
	uint32_t slice;
	double value; /* ns of kinds whose weight is a time, and of CPU samples; else a number */
	double count; /* events behind it; 0: counted by the kernel, not sampled */
};

struct diff_series {
	struct diff_key key;
	ARRAY_OF(struct diff_value) values; /* by slice, at most one each */
};

struct diff_slice {
	uint64_t begin_ns, end_ns; /* of the clock of its machine; 0: only the length is known */
	uint64_t length_ns;	   /* 0: unknown */
	uint32_t run;
	uint32_t capture_pid; /* of the pkbpf that recorded it; 0: unknown */
};

/* What of a place of allocation was alive when its process had most, by sampled allocations. At the
 * end of a command there may be nothing. */
struct diff_place {
	uint32_t name; /* in diff_names */
	uint32_t run;
	double bytes, error; /* standard error */
	double samples;
};

/* What holds one value alone has one slice. */
struct measurement {
	struct diff_names *names; /* borrowed */
	ARRAY_OF(struct diff_slice) slices;
	ARRAY_OF(struct diff_series) series;
	struct hash_index index;
	ARRAY_OF(struct diff_place) places; /* several of one name: of several processes or runs */
	uint32_t run_count;
	uint32_t kinds_mask;
	uint32_t sampled_mask; /* of kinds whose counts are samples of a steady clock */
	bool has_level[DIFF_LEVELS];
	uint32_t levels_mask; /* 1 << enum diff_level that are kept; 0: all */
	bool is_command;      /* each run is one of a command, from its start to its end */
	uint64_t lost;	      /* events that are known to be missing */
	char host[256];
	char targets[512];
	int64_t start_unix_ns; /* of the first slice; 0: unknown */
};

void measurement_init(struct measurement *measurement, struct diff_names *names);
void measurement_done(struct measurement *measurement);

/* Are values of this level kept? */
bool measurement_wants(const struct measurement *measurement, enum diff_level level);
/* Begins a slice, to which values are added until the next one. false: out of memory. */
bool measurement_begin_slice(struct measurement *measurement, const struct diff_slice *slice);
/* Adds to the value of a key in the last slice; of what is there at the end of it (is_level of the
 * kind), times the seconds of the slice. false: out of memory. */
bool measurement_add(struct measurement *measurement, const struct diff_key *key, double value,
		     double count);
/* The same in any slice, no earlier than the last one that has a value of the key. */
bool measurement_put(struct measurement *measurement, const struct diff_key *key, uint32_t slice,
		     double value, double count);
/* NULL: no value in any slice. */
const struct diff_series *measurement_find(const struct measurement *measurement,
					   const struct diff_key *key);
/* CPU time of functions becomes their share of the time that the kernel counted. Merges neighbours
 * of one run until there are at most MEASUREMENT_SLICES_MAX slices, or so many
 * for each run if that is more, which bounds the time of a comparison. Once, when all is added. */
#define MEASUREMENT_SLICES_MAX	  128
#define MEASUREMENT_SLICES_OF_RUN 16
void measurement_finish(struct measurement *measurement);
uint64_t measurement_length_ns(const struct measurement *measurement);

#endif
