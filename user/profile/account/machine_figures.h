/* SPDX-License-Identifier: BSD-2-Clause */
/* What the machine took and how its CPUs ran in an interval: energy, heat, clock frequency, and
 * what the CPUs' own counters say. What could not be measured has a reason. */
#ifndef PKBPF_PROFILE_ACCOUNT_MACHINE_FIGURES_H
#define PKBPF_PROFILE_ACCOUNT_MACHINE_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

/* X(NAME, name in files) */
#define MACHINE_COUNTS(X)                                                                          \
	X(INSTRUCTIONS, "instructions")                                                            \
	X(CYCLES, "cycles")                                                                        \
	X(CACHE_REFERENCES, "cache_references")                                                    \
	X(CACHE_MISSES, "cache_misses")                                                            \
	X(BRANCHES, "branches")                                                                    \
	X(BRANCH_MISSES, "branch_misses")

enum machine_count {
#define X(name, text) MACHINE_##name,
	MACHINE_COUNTS(X)
#undef X
		MACHINE_COUNT_KINDS,
};

extern const char *const machine_count_names[MACHINE_COUNT_KINDS];

#define MACHINE_REASON_SIZE 160
#define MACHINE_SOURCE_SIZE 64

struct machine_figures {
	bool known; /* they were looked for at all */
	/* of the whole machine; the reason is empty where it was measured */
	uint64_t memory_used_peak_bytes; /* not available to programs; 0: not read */
	uint64_t energy_uj;
	uint64_t energy_ns; /* measured for so long */
	char energy_source[MACHINE_SOURCE_SIZE], energy_reason[MACHINE_REASON_SIZE];
	/* of the hottest CPU, at most; below zero counts as zero */
	uint64_t millicelsius;
	char temperature_source[MACHINE_SOURCE_SIZE], temperature_reason[MACHINE_REASON_SIZE];
	bool throttles_known;
	uint64_t throttles; /* times that heat slowed a CPU down */
	/* mean over CPUs and readings = sum / readings; base_hz: without turbo, 0 not known */
	uint64_t frequency_sum_hz, frequency_readings;
	uint64_t min_hz, max_hz, base_hz;
	char frequency_reason[MACHINE_REASON_SIZE];
	/* counts of the targets, or of the whole machine without targets; which: bits of enum
	 * machine_count */
	uint32_t counts_known, counts_scaled; /* scaled: the event had a counter only part-time */
	uint64_t counts[MACHINE_COUNT_KINDS];
	char counts_reason[MACHINE_REASON_SIZE]; /* empty also where nobody asked */
};

static inline bool machine_has_counts(const struct machine_figures *figures, enum machine_count a,
				      enum machine_count b)
{
	uint32_t both = 1U << a | 1U << b;

	return (figures->counts_known & both) == both && figures->counts[b];
}

/* a / b; 0 when one of them is not known. */
double machine_ratio(const struct machine_figures *figures, enum machine_count a,
		     enum machine_count b);
double machine_mean_hz(const struct machine_figures *figures);
double machine_mean_watts(const struct machine_figures *figures);
/* As if both intervals had been one. */
void machine_figures_add(struct machine_figures *into, const struct machine_figures *more);

#endif
