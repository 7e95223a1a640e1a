/* SPDX-License-Identifier: BSD-2-Clause */
/* A benchmark as data: its variants and the figures of every run. What runs commands fills it, a
 * file can be read back into it, and verdicts and formats read it. */
#ifndef PKBPF_BENCH_BENCH_H
#define PKBPF_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "bench/bench_figure.h"
#include "bench/environment.h"
#include "statistics/order_statistic.h"

#define BENCH_VARIANTS_MAX 256
#define BENCH_RUNS_MAX	   1000 /* of a variant */

struct bench_parameter {
	char *name, *value;
};

struct bench_variant {
	char *label; /* the command as it was given; not escaped */
	ARRAY_OF(struct bench_parameter) parameters;
};

enum bench_better { BENCH_BETTER_UNKNOWN, BENCH_BETTER_HIGHER, BENCH_BETTER_LOWER };

extern const char *const bench_better_names[]; /* "", "higher", "lower" */

/* A figure of --column: a number that a command prints for each run. */
struct bench_column {
	char *name;
	enum bench_better better;
};

struct bench_run {
	uint32_t variant;
	uint32_t number; /* of its variant, from 1 */
	bool is_warmup;	 /* counts for nothing */
	int status;	 /* exit status, or 128 + signal */
	bool timed_out;
	bool has_failed;      /* counts for nothing, either */
	uint32_t left_behind; /* processes that outlived it */
	uint64_t fork_ns;     /* its process exists since then; CLOCK_MONOTONIC */
	uint64_t start_ns, end_ns;
	uint64_t known; /* 1 << enum bench_figure */
	double values[BENCH_FIGURES];
};

struct bench {
	ARRAY_OF(struct bench_variant) variants;
	ARRAY_OF(struct bench_column) columns; /* of figures from BENCH_COLUMN on */
	ARRAY_OF(struct bench_run) runs;       /* as they ran */
	uint64_t seed;
	bool interleaved;
	bool has_account;      /* of the kernel, by BPF; else what every user can read */
	char *unit;	       /* region whose wall time is compared; NULL: whole runs */
	char *without_account; /* why not; NULL: it was not wanted, or is there */
	bool interrupted;
	int64_t start_unix_ns;
	uint64_t duration_ns;
	struct environment environment;
};

/* What decides about a comparison. */
static inline enum bench_figure bench_main_figure(const struct bench *bench)
{
	return bench->unit ? BENCH_UNIT : BENCH_WALL;
}

void bench_init(struct bench *bench);
void bench_done(struct bench *bench);
/* Copies the label. NULL: out of memory. */
struct bench_variant *bench_add_variant(struct bench *bench, const char *label);
bool bench_add_parameter(struct bench_variant *variant, const char *name, const char *value);
/* Copies the name. false: out of memory. */
bool bench_add_column(struct bench *bench, const char *name, enum bench_better better);
/* Its name in files, without the unit; "": a column that is not there. */
const char *bench_figure_name(const struct bench *bench, enum bench_figure figure);
/* The same for people. */
const char *bench_figure_title(const struct bench *bench, enum bench_figure figure);
/* Gives columns the numbers that those of the same names have in another benchmark; others go. */
void bench_match_columns(struct bench *bench, const struct bench *like);

static inline bool bench_run_knows(const struct bench_run *run, enum bench_figure figure)
{
	return run->known & 1ULL << figure;
}

static inline void bench_run_set(struct bench_run *run, enum bench_figure figure, double value)
{
	run->values[figure] = value;
	run->known |= 1ULL << figure;
}

/* A run that is compared: no warm-up, and it did not fail. */
bool bench_run_counts(const struct bench_run *run);
/* Values of the runs of a variant that count, in the order of the runs. ret_values: room for
 * bench->runs.count. Returns how many; runs of which it is not known are left out. */
size_t bench_values(const struct bench *bench, uint32_t variant, enum bench_figure figure,
		    double *ret_values);
/* Of runs that count. */
size_t bench_run_count(const struct bench *bench, uint32_t variant);

struct bench_summary {
	size_t count; /* 0: not known */
	double median, quartiles[2], min, max, mean, deviation;
	double p95, p99;	  /* of at least 20 and 100 values; else NAN */
	struct interval interval; /* of the median, with a risk of BENCH_RISK */
};

#define BENCH_RISK 0.05
/* -ENOMEM. */
int bench_summarize(const struct bench *bench, uint32_t variant, enum bench_figure figure,
		    struct bench_summary *ret_summary);
/* With another risk for the interval. */
int bench_summarize_at(const struct bench *bench, uint32_t variant, enum bench_figure figure,
		       double risk, struct bench_summary *ret_summary);

#endif
