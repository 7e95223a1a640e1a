/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The few sentences an outsider needs: the bottleneck of each program, with its evidence. Each is
 * found by a rule of finding_rules.h when thresholds are exceeded.
 */
#ifndef PKBPF_FINDING_FINDING_H
#define PKBPF_FINDING_FINDING_H

#include <stddef.h>
#include <stdint.h>

#include "rows/resource_rows.h"

#define FINDING_MAX	     5
#define FINDING_MAX_PER_RULE 2
#define FINDING_TEXT_SIZE    1024

struct finding {
	const char *rule;
	char text[FINDING_TEXT_SIZE]; /* not escaped: holds names */
	uint32_t pid;		      /* 0: not about one process */
	double severity;	      /* 0 to 100: part of somebody's time, or of a resource */
};

struct findings {
	struct finding findings[FINDING_MAX]; /* worst first */
	size_t count;
};

void findings_find(const struct resource_rows *rows, struct findings *ret_findings);

#endif
