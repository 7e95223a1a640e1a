/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A finished profile and what is derived from it for all outputs and conditions together: the
 * joined rows and the findings, each made once, when the first of them asks. Not thread-safe.
 */
#ifndef PKBPF_FINDING_RESULTS_H
#define PKBPF_FINDING_RESULTS_H

#include "finding/finding.h"
#include "rows/resource_rows.h"

struct results {
	const struct profile *profile; /* symbolized */
	struct source_text *sources;   /* borrowed; NULL: no text of lines is read */
	enum rows_by by;
	bool has_rows, has_findings;
	struct resource_rows rows; /* results_rows() */
	struct findings findings;  /* results_findings() */
};

void results_init(struct results *results, const struct profile *profile, enum rows_by by);
void results_done(struct results *results);
/* Borrowed until results_done(), as the findings. -ENOMEM. */
int results_rows(struct results *results, const struct resource_rows **ret_rows);
int results_findings(struct results *results, const struct findings **ret_findings);

#endif
