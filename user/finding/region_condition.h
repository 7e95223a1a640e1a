/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conditions on regions, for scripts that want to fail when one holds:
 *
 *	EXPR = ["?"] "region[" NAME "]." FIGURE OP VALUE
 *	NAME			of the region, wherever it was entered
 *	"?"			no such region is no failure
 *	FIGURE			see region_figures[]: "p99", "throughput", "count"
 *
 * OP and VALUE as in finding/condition.h; a rate may end in "/s".
 */
#ifndef PKBPF_FINDING_REGION_CONDITION_H
#define PKBPF_FINDING_REGION_CONDITION_H

#include <stdbool.h>

#include "base/error.h"
#include "finding/quantity.h"
#include "rows/region_list.h"

struct region_figure {
	const char *name;
	enum figure_unit unit;
	const char *summary;
	double (*value)(const struct region_line *line);
	bool is_part; /* known only where off-CPU events were recorded */
};

struct region_condition {
	const struct region_figure *figure;
	enum condition_comparison comparison;
	double value;
	bool may_be_absent;
	char name[PKBPF_SPAN_NAME];
};

/* Is it a condition on a region? */
bool region_condition_is(const char *text);
/* -EINVAL with a sentence that says what is wrong. */
int region_condition_parse(const char *text, struct region_condition *ret_condition,
			   struct error *error);
/* Of REGION_BY_NAME. -ESRCH: there is no such region; -ENODATA: the figure is not known. */
int region_condition_value(const struct region_condition *condition, const struct region_list *list,
			   double *ret_value);
/* Of REGION_BY_NAME. Returns whether it holds, with a sentence that says so, not escaped; -ESRCH:
 * there is no such region; -ENODATA: the figure is not known. */
int region_condition_check(const struct region_condition *condition, const struct region_list *list,
			   char *ret_sentence, size_t size);
/* By index; NULL at the end. */
const struct region_figure *region_figure_at(size_t index);

#endif
