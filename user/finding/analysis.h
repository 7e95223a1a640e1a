/* SPDX-License-Identifier: BSD-2-Clause */
/* What all rules look at: rows of one name and container together, with what each waited for. */
#ifndef PKBPF_FINDING_ANALYSIS_H
#define PKBPF_FINDING_ANALYSIS_H

#include "finding/wait_class.h"
#include "rows/row_groups.h"

struct wait_sums {
	uint64_t time_ns, count;
};

/* Processes of one name and container, of one service. */
struct activity {
	const struct row_group *group;
	struct wait_sums waits[WAIT_CLASS_COUNT];
	uint64_t cpu_ns; /* of all threads, as the following: all CPU time, */
	uint64_t on_cpu_ns, runqueue_ns, wall_ns; /* and without spinning for a GPU */
	/* Of that, on a CPU or held up: without what limits nobody. */
	uint64_t active_ns;
	bool has_waits;
};

struct analysis {
	const struct resource_rows *rows;
	bool has_targets;
	struct row_groups groups;
	struct activity *activities; /* one for each group */
	size_t count;
	uint8_t *classes; /* enum wait_class by stack of rows */
	size_t class_count;
};

/* -ENOMEM. */
int analysis_init(struct analysis *analysis, const struct resource_rows *rows);
void analysis_done(struct analysis *analysis);
/* Calls back for each stack of a group's rows. */
void activity_each_stack(const struct analysis *analysis, const struct activity *activity,
			 enum pkbpf_profile_kind kind,
			 void (*take)(void *context, const struct row_weight *weight),
			 void *context);

#endif
