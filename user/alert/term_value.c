// SPDX-License-Identifier: BSD-2-Clause
#include "alert/term_value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alert/function_shares.h"
#include "base/cleanup.h"
#include "finding/results.h"

struct worst {
	const struct condition *condition;
	bool known;
	double value;
};

static bool wants_less(const struct condition *condition)
{
	return condition->comparison == CONDITION_BELOW ||
	       condition->comparison == CONDITION_AT_MOST;
}

static void take_worst(struct worst *worst, double value)
{
	if (!worst->known ||
	    (wants_less(worst->condition) ? value > worst->value : value < worst->value))
		worst->value = value;
	worst->known = true;
}

static void take_row(void *context, const struct resource_row *row, double value)
{
	(void)row;
	take_worst(context, value);
}

static int value_by(const struct profile *profile, enum rows_by by, struct worst *worst)
{
	const struct resource_rows *rows;
	struct results results;
	int err;

	results_init(&results, profile, by);
	err = results_rows(&results, &rows);
	err = err < 0 ? err : condition_each(worst->condition, rows, take_row, worst);
	results_done(&results);
	return err;
}

static int figure_of(const struct profile *profile, struct worst *worst)
{
	int err = value_by(profile, worst->condition->pid ? ROWS_BY_PROCESS : ROWS_BY_COMM, worst);

	if (err == -ESRCH && worst->condition->name[0])
		err = value_by(profile, ROWS_BY_CONTAINER, worst);
	return err;
}

/* Of n values the percentile is that of rank ceil(n * permille / 1000): it is below the limit when
 * no more are above than come after it. */
static bool few_are_over(const struct region_sums *sums, uint32_t permille)
{
	uint64_t rank =
		sums->count / 1000 * permille + (sums->count % 1000 * permille + 999) / 1000;

	return sums->over <= sums->count - rank;
}

static void read_regions(const struct alert_term *term, const struct profile *profile,
			 const struct region_line *line, struct term_regions *ret_regions)
{
	uint64_t limit_ns = region_condition_limit_ns(&term->region);
	uint64_t recorded_ns = profile_info_read(profile)->regions_ns;
	const struct region_sums *sums = &line->sums;

	*ret_regions = (struct term_regions){
		.count = sums->count,
		.over_known = limit_ns && region_sums_count_over(sums, limit_ns),
		.watched_ns = recorded_ns > line->missed_ns ? recorded_ns - line->missed_ns : 0,
	};
	if (ret_regions->over_known)
		ret_regions->over = sums->over;
}

int term_region_value(const struct alert_term *term, const struct profile *profile,
		      double *ret_value, bool *ret_holds, struct term_regions *ret_regions)
{
	const struct region_condition *condition = &term->region;
	const struct region_line *line;
	struct region_list list = {0};
	int err = region_list_init(&list, profile, REGION_BY_NAME);

	/* Nothing known of it: nothing came. */
	*ret_regions = (struct term_regions){.watched_ns = profile_info_read(profile)->regions_ns};
	line = err < 0 ? NULL : region_list_find(&list, condition->name);
	if (line)
		read_regions(term, profile, line, ret_regions);
	err = err < 0 ? err : region_condition_value(condition, &list, ret_value);
	if (line && err == 0) {
		*ret_holds = term_holds(term, *ret_value);
		if (condition->figure->permille && ret_regions->over_known &&
		    wants_less(&term->condition))
			*ret_holds = few_are_over(&line->sums, condition->figure->permille);
	}
	region_list_done(&list);
	return err;
}

static int region_of(const struct alert_term *term, const struct profile *profile,
		     struct worst *worst)
{
	struct term_regions regions;
	double value;
	bool holds;
	int err = term_region_value(term, profile, &value, &holds, &regions);

	if (err == 0)
		take_worst(worst, value);
	return err;
}

static void take_share(void *context, const char *name, double percent)
{
	(void)name;
	take_worst(context, percent);
}

int term_value(const struct alert_term *term, const struct profile *profile, double *ret_value)
{
	struct worst worst = {.condition = &term->condition};
	int err = -ENODATA;

	if (term->subject == ALERT_OF_FIGURE)
		err = figure_of(profile, &worst);
	else if (term->subject == ALERT_OF_REGION)
		err = region_of(term, profile, &worst);
	else if (term->subject == ALERT_OF_FUNCTION)
		err = function_shares_each(profile, term->function, term->total, take_share,
					   &worst);
	if (err == -ENOMEM)
		return err;
	if (err < 0 || !worst.known)
		return -ENODATA;
	*ret_value = worst.value;
	return 0;
}

enum figure_unit term_unit(const struct alert_term *term)
{
	return term->subject == ALERT_OF_REGION ? term->region.figure->unit
						: term->condition.figure->unit;
}

bool term_holds(const struct alert_term *term, double value)
{
	return comparator_holds(term->condition.comparison, value, term->condition.value);
}
