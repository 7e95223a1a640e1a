// SPDX-License-Identifier: BSD-2-Clause
/* Joins the rows and judges them once per profile. */
#include "finding/results.h"

void results_init(struct results *results, const struct profile *profile, enum rows_by by)
{
	*results = (struct results){.profile = profile, .by = by};
}

void results_done(struct results *results)
{
	if (results->has_rows)
		resource_rows_done(&results->rows);
	*results = (struct results){
		.profile = results->profile, .sources = results->sources, .by = results->by};
}

int results_rows(struct results *results, const struct resource_rows **ret_rows)
{
	if (!results->has_rows) {
		int err = resource_rows_init(&results->rows, results->profile, results->by);

		if (err)
			return err;
		results->has_rows = true;
	}
	*ret_rows = &results->rows;
	return 0;
}

int results_findings(struct results *results, const struct findings **ret_findings)
{
	if (!results->has_findings) {
		const struct resource_rows *rows;
		int err = results_rows(results, &rows);

		if (err)
			return err;
		findings_find(rows, &results->findings);
		results->has_findings = true;
	}
	*ret_findings = &results->findings;
	return 0;
}
