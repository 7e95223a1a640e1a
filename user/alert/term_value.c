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

static int region_of(const struct alert_term *term, const struct profile *profile,
		     struct worst *worst)
{
	struct region_list list = {0};
	double value;
	int err = region_list_init(&list, profile, REGION_BY_NAME);

	err = err < 0 ? err : region_condition_value(&term->region, &list, &value);
	if (err == 0)
		take_worst(worst, value);
	region_list_done(&list);
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
