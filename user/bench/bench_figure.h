/* SPDX-License-Identifier: BSD-2-Clause */
/* What is measured of each run: a row per figure. */
#ifndef PKBPF_BENCH_BENCH_FIGURE_H
#define PKBPF_BENCH_BENCH_FIGURE_H

#include <stdbool.h>
#include <stdint.h>

enum bench_unit {
	BENCH_NS,
	BENCH_BYTES,
	BENCH_COUNT,
	BENCH_JOULES,
	BENCH_CELSIUS,
	BENCH_HERTZ,
	BENCH_NUMBER, /* of what is not known */
};

/* X(NAME, name in files, title of a column, unit, summary). Names are part of the formats. */
#define BENCH_FIGURE_LIST(X)                                                                       \
	X(WALL, "wall", "wall", BENCH_NS, "from its start to its exit")                            \
	X(CPU, "cpu", "CPU", BENCH_NS, "CPU time of all its processes")                            \
	X(USER, "user", "user", BENCH_NS, "CPU time in user mode")                                 \
	X(SYSTEM, "system", "sys", BENCH_NS, "CPU time in the kernel")                             \
	X(RUNQUEUE, "runqueue", "run queue", BENCH_NS, "runnable, waiting for a CPU")              \
	X(SLEEP, "sleep", "sleep", BENCH_NS, "interruptible sleep of all its threads")             \
	X(DISK, "disk", "disk", BENCH_NS, "disk wait of all its threads")                          \
	X(UNINTERRUPTIBLE, "uninterruptible", "D state", BENCH_NS, "D state, not I/O")             \
	X(STOPPED, "stopped", "stopped", BENCH_NS, "stopped by a signal, or frozen")               \
	X(PEAK_RSS, "peak_rss", "peak RSS", BENCH_BYTES, "largest RSS of any of its processes")    \
	X(MINOR_FAULTS, "minor_faults", "minor faults", BENCH_COUNT, "page faults without I/O")    \
	X(MAJOR_FAULTS, "major_faults", "major faults", BENCH_COUNT, "page faults with I/O")       \
	X(READ, "read", "read", BENCH_BYTES, "read from storage")                                  \
	X(WRITTEN, "written", "written", BENCH_BYTES, "dirtied, to be written to storage")         \
	X(VOLUNTARY, "voluntary_switches", "cswch", BENCH_COUNT, "voluntary context switches")     \
	X(INVOLUNTARY, "involuntary_switches", "nvcswch", BENCH_COUNT,                             \
	  "involuntary context switches")                                                          \
	X(PROCESSES, "processes", "processes", BENCH_COUNT, "processes that it started")           \
	X(STEAL, "steal", "steal", BENCH_NS,                                                       \
	  "CPU time that the hypervisor gave to others, host-wide")                                \
	X(INSTRUCTIONS, "instructions", "instructions", BENCH_COUNT, "instructions retired")       \
	X(CYCLES, "cycles", "cycles", BENCH_COUNT, "cycles of the CPUs that ran it")               \
	X(CACHE_REFERENCES, "cache_references", "cache refs", BENCH_COUNT,                         \
	  "reads of the last cache")                                                               \
	X(CACHE_MISSES, "cache_misses", "cache misses", BENCH_COUNT, "of these, not in it")        \
	X(BRANCHES, "branches", "branches", BENCH_COUNT, "branches retired")                       \
	X(BRANCH_MISSES, "branch_misses", "branch misses", BENCH_COUNT, "of these, mispredicted")  \
	X(MIGRATIONS, "migrations", "migrations", BENCH_COUNT, "moves of threads to other CPUs")   \
	X(ENERGY, "energy", "energy", BENCH_JOULES, "energy of the whole machine meanwhile")       \
	X(TEMPERATURE, "temperature", "temperature", BENCH_CELSIUS,                                \
	  "of the hottest CPU at its end")                                                         \
	X(FREQUENCY, "frequency", "frequency", BENCH_HERTZ, "mean of the CPUs at its end")         \
	X(UNIT, "unit", "each", BENCH_NS, "mean wall time of the region of --unit")                \
	X(UNITS, "units", "calls", BENCH_COUNT, "how often a run was in it")                       \
	X(UNIT_P99, "unit_p99", "p99", BENCH_NS, "p99 of its wall time")

enum bench_figure {
#define X(name, text, title, unit, summary) BENCH_##name,
	BENCH_FIGURE_LIST(X)
#undef X
		BENCH_COLUMN, /* the first of --column; its name is in the benchmark */
};

#define BENCH_COLUMNS_MAX 8
#define BENCH_FIGURES	  (BENCH_COLUMN + BENCH_COLUMNS_MAX)
_Static_assert(BENCH_FIGURES <= 64, "a bit each in struct bench_run");

struct bench_figure_row {
	const char *name, *title, *summary;
	enum bench_unit unit;
};

extern const struct bench_figure_row bench_figures[BENCH_FIGURES];

/* -1: none has this name. Columns of --column have none here. */
int bench_figure_find(const char *name);
/* "_ns", "_bytes", "" */
const char *bench_unit_suffix(enum bench_unit unit);

#define BENCH_VALUE_SIZE 40
/* "12.3 ms", "4.5 MiB", "1,234"; keeps the sign. Returns text. */
char *bench_value_text(char text[BENCH_VALUE_SIZE], enum bench_unit unit, double value);

#endif
