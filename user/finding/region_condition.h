/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conditions on regions, for scripts that want to fail when one holds:
 *
 *	EXPR = ["?"] "region[" NAME "]." FIGURE OP VALUE
 *	NAME			of the region, wherever it was entered
 *	"?"			no such region is no failure
 *	FIGURE			see region_figures[]: "p99", "throughput", "count",
 *				"over(100ms)": how many took longer, counted one by one
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
	bool is_part;	   /* known only where off-CPU events were recorded */
	bool is_length;	   /* of single regions: the value of a condition is a limit for each */
	uint32_t permille; /* of those that it is at least as long as; 0: it is no percentile */
	bool of_limit;	   /* known only where those that take longer than a limit were counted */
	bool of_memory;	   /* known only where resident memory was read */
	bool adds_up;	   /* grows with the interval: a series shows it per second */
};

struct region_condition {
	const struct region_figure *figure;
	enum condition_comparison comparison;
	double value;
	bool may_be_absent;
	uint64_t limit_ns; /* of over(); 0: of any limit */
	char name[PKBPF_SPAN_NAME];
};

/* Is it a condition on a region? */
bool region_condition_is(const char *text);
/* "region[NAME].FIGURE" without a comparison: figure, name and limit_ns. -EINVAL with a sentence.
 */
int region_figure_parse(const char *text, struct region_condition *ret_subject,
			struct error *error);
/* What is longer breaks the condition, or is meant by it, and is to be counted; 0: nothing. ns. */
uint64_t region_condition_limit_ns(const struct region_condition *condition);
/* -EINVAL with a sentence that says what is wrong. */
int region_condition_parse(const char *text, struct region_condition *ret_condition,
			   struct error *error);
/* Before anything is recorded: -EINVAL with a clause that says what to add, when a profile of these
 * kinds (1 << enum pkbpf_profile_kind), with regions or without, would not have the figure. */
int region_condition_check_possible(const struct region_condition *condition, uint32_t kinds_mask,
				    bool regions, struct error *error);
/* Of REGION_BY_NAME. -ESRCH: there is no such region; -ENODATA: the figure is not known. */
int region_condition_value(const struct region_condition *condition, const struct region_list *list,
			   double *ret_value);
/* Of REGION_BY_NAME. Returns whether it holds, with a sentence that says so, not escaped; -ESRCH:
 * there is no such region; -ENODATA: the figure is not known. */
int region_condition_check(const struct region_condition *condition, const struct region_list *list,
			   char *ret_sentence, size_t size);

#endif
