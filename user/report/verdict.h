/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The few sentences an outsider needs: what limits whom, each with its evidence. A rule per row of
 * the table in verdict.c, with its thresholds; what does not reach one is not told.
 */
#ifndef PKBPF_REPORT_VERDICT_H
#define PKBPF_REPORT_VERDICT_H

#include <stddef.h>
#include <stdint.h>

#include "report/resource_rows.h"

#define VERDICT_MAX	     5
#define VERDICT_MAX_PER_RULE 2
#define VERDICT_TEXT_SIZE    1024

struct finding {
	const char *rule;
	char text[VERDICT_TEXT_SIZE]; /* not escaped: holds names */
	uint32_t pid;		      /* 0: not about one process */
	double severity;	      /* 0 to 100: part of somebody's time, or of a resource */
};

struct verdict {
	struct finding findings[VERDICT_MAX]; /* worst first */
	size_t count;
};

void verdict_find(const struct resource_rows *rows, struct verdict *ret_verdict);

#endif
