// SPDX-License-Identifier: BSD-2-Clause
#include "alert/evaluation.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alert/function_shares.h"
#include "alert/term_value.h"
#include "base/cleanup.h"
#include "finding/results.h"

/* How far off the limit a value without a limit of its own for it has to be to clear. */
#define CLEAR_MARGIN 0.1

/* ---- one value ---- */

static bool is_above(const struct condition *condition)
{
	return condition->comparison == CONDITION_ABOVE ||
	       condition->comparison == CONDITION_AT_LEAST;
}

static bool clears(const struct alert_rule *rule, const struct alert_term *term, double value)
{
	const struct condition *condition = &term->condition;
	double margin = CLEAR_MARGIN * fabs(condition->value);
	double limit = is_above(condition) ? condition->value - margin : condition->value + margin;

	if (rule->has_clear && term == rule->terms)
		limit = rule->clear;
	if (condition_passes(condition, value))
		return false;
	return is_above(condition) ? value <= limit : value >= limit;
}

struct evaluating {
	const struct alert_rule *rule;
	const struct alert_term *term;
	const struct resource_rows *rows;
	struct alert_values *values;
};

static void name_term(const struct alert_term *term, char *text, size_t size)
{
	if (term->subject == ALERT_OF_HOST)
		snprintf(text, size, "%s", host_figure_name(term->host));
	else if (term->subject == ALERT_OF_FUNCTION)
		snprintf(text, size, "%s time", term->total ? "total" : "self");
	else if (term->subject == ALERT_OF_REGION)
		snprintf(text, size, "%s", term->region.figure->name);
	else
		snprintf(text, size, "%s.%s", term->condition.figure->group,
			 term->condition.figure->name);
}

/* Rows that share a name are one: the worst of them. */
static struct alert_value *value_of(struct alert_values *values, const char *who)
{
	struct alert_value *added;

	for (size_t i = 0; i < values->count; i++)
		if (strncmp(values->items[i].who, who, ALERT_WHO_SIZE - 1) == 0)
			return &values->items[i];
	if (values->count == ALERT_VALUES_MAX)
		return NULL;
	added = &values->items[values->count++];
	*added = (struct alert_value){.clears = true};
	snprintf(added->who, sizeof(added->who), "%.*s", ALERT_WHO_SIZE - 1, who);
	return added;
}

/* Is it told in the place of another one of this name? */
static bool is_worse(const struct condition *condition, const struct alert_value *value, bool holds,
		     double number)
{
	if (!value->text[0] || value->holds != holds)
		return !value->text[0] || holds;
	return is_above(condition) ? number > value->value : number < value->value;
}

static void put_value(struct evaluating *work, const char *who, double number)
{
	bool holds = condition_passes(&work->term->condition, number);
	char name[64], text[HUMAN_SIZE];
	struct alert_value *value;

	/* Of any row, only those that are of interest: there may be thousands. */
	if (who[0] && !holds && clears(work->rule, work->term, number))
		return;
	value = value_of(work->values, who);
	if (!value || !is_worse(&work->term->condition, value, holds, number))
		return;
	value->value = number;
	value->holds = holds;
	value->clears = clears(work->rule, work->term, number);
	name_term(work->term, name, sizeof(name));
	condition_format(text, term_unit(work->term), number);
	snprintf(value->text, sizeof(value->text), "%s is %s", name, text);
}

/* ---- figures of rows ---- */

static void put_row(void *context, const struct resource_row *row, double number)
{
	struct evaluating *work = context;
	const char *who = row->name[0] ? row->name : row->container;

	/* A name that was asked for is told as it was, be it of a program or a container. */
	if (row == &work->rows->total)
		who = "";
	else if (work->term->condition.name[0])
		who = work->term->condition.name;
	put_value(work, who, number);
}

static int evaluate_rows(struct evaluating *work, const struct profile *profile, enum rows_by by)
{
	struct results results;
	int err;

	results_init(&results, profile, by);
	err = results_rows(&results, &work->rows);
	if (err == 0)
		err = condition_each(&work->term->condition, work->rows, put_row, work);
	results_done(&results);
	return err;
}

static bool is_sum(const struct condition *condition)
{
	return !condition->any_row && !condition->pid && !condition->name[0];
}

static int evaluate_run(struct evaluating *work, const struct alert_input *input)
{
	double number;

	work->values->known = run_readings_value(input->run, work->term->condition.figure,
						 work->rule->over_ns, &number);
	if (work->values->known)
		put_value(work, "", number);
	return 0;
}

static int evaluate_figure(struct evaluating *work, const struct alert_input *input)
{
	const struct condition *condition = &work->term->condition;
	const struct profile *profile = input->profile;
	bool is_name = condition->name[0] != '\0';
	int err;

	if (condition->figure->scope == FIGURE_OF_RUN)
		return evaluate_run(work, input);
	/* Sums are the same in all groupings. */
	if (input->rows && is_sum(condition) &&
	    (input->rows->total.known & condition->figure->needs) == condition->figure->needs) {
		work->rows = input->rows;
		work->values->known = true;
		return condition_each(condition, input->rows, put_row, work);
	}
	err = evaluate_rows(work, profile, is_name ? ROWS_BY_COMM : ROWS_BY_PROCESS);

	if (err == -ESRCH && is_name)
		err = evaluate_rows(work, profile, ROWS_BY_CONTAINER);
	/* Who is not there uses nothing; what is not recorded is not known. */
	if (err == -ESRCH) {
		work->values->known = is_above(&work->term->condition);
		return 0;
	}
	if (err == -ENODATA)
		return 0;
	work->values->known = err == 0;
	return err;
}

/* ---- functions and regions ---- */

static void put_share(void *context, const char *name, double percent)
{
	put_value(context, name, percent);
}

static int evaluate_function(struct evaluating *work, const struct profile *profile)
{
	int err = function_shares_each(profile, work->term->function, work->term->total, put_share,
				       work);

	work->values->known = err == 0;
	return err == -ENODATA ? 0 : err;
}

static int evaluate_region(struct evaluating *work, const struct profile *profile)
{
	struct region_list list = {0};
	int err = region_list_init(&list, profile, REGION_BY_NAME);
	double number;

	if (err == 0 && region_condition_value(&work->term->region, &list, &number) == 0) {
		work->values->known = true;
		put_value(work, work->term->region.name, number);
	}
	region_list_done(&list);
	return err;
}

/* ---- rules ---- */

static int evaluate_term(struct evaluating *work, const struct alert_input *input)
{
	double number;

	*work->values = (struct alert_values){0};
	switch (work->term->subject) {
	case ALERT_OF_FIGURE:
		return evaluate_figure(work, input);
	case ALERT_OF_FUNCTION:
		return evaluate_function(work, input->profile);
	case ALERT_OF_REGION:
		return evaluate_region(work, input->profile);
	case ALERT_OF_HOST:
		work->values->known = host_readings_value(input->host, work->term->host,
							  work->rule->over_ns, &number);
		if (work->values->known)
			put_value(work, "", number);
		return 0;
	}
	return 0;
}

static const struct alert_value *find(const struct alert_values *values, const char *who)
{
	for (size_t i = 0; i < values->count; i++)
		if (!values->items[i].who[0] || strcmp(values->items[i].who, who) == 0)
			return &values->items[i];
	return NULL;
}

/* Both have to hold, of the same name, or of all. */
static void join(struct alert_values *values, const struct alert_values *more)
{
	/* All is narrowed to whom the other is of. */
	if (values->count == 1 && !values->items[0].who[0] && more->count &&
	    more->items[0].who[0]) {
		struct alert_value all = values->items[0];

		values->count = more->count;
		for (size_t i = 0; i < more->count; i++) {
			values->items[i] = all;
			memcpy(values->items[i].who, more->items[i].who, ALERT_WHO_SIZE);
		}
	}
	values->known = values->known && more->known;
	for (size_t i = 0; i < values->count; i++) {
		struct alert_value *value = &values->items[i];
		const struct alert_value *other = find(more, value->who);

		value->holds = value->holds && other && other->holds;
		value->clears = value->clears || !other || other->clears;
	}
}

static bool is_of_rows(const struct alert_term *term)
{
	return term->subject == ALERT_OF_FIGURE && term->condition.figure->scope == FIGURE_OF_ROW;
}

bool alert_needs_profile(const struct alert_rule *rule)
{
	for (size_t i = 0; i < rule->term_count; i++)
		if (rule->terms[i].subject == ALERT_OF_FUNCTION ||
		    rule->terms[i].subject == ALERT_OF_REGION || is_of_rows(&rule->terms[i]))
			return true;
	return false;
}

bool alert_is_of_host(const struct alert_rule *rule)
{
	for (size_t i = 0; i < rule->term_count; i++)
		if (rule->terms[i].subject != ALERT_OF_HOST)
			return false;
	return rule->term_count != 0;
}

uint32_t alert_kinds(const struct alert_rule *rule)
{
	/* The kernel's account comes with any. */
	uint32_t kinds = 1U << PKBPF_PROFILE_CPU;

	for (size_t i = 0; i < rule->term_count; i++) {
		const struct alert_term *term = &rule->terms[i];
		unsigned int needs = is_of_rows(term) ? term->condition.figure->needs : 0;

		if (term->subject == ALERT_OF_REGION)
			return 0;
		if (needs & ROW_HAS_WAIT_LENGTHS)
			kinds |= 1U << PKBPF_PROFILE_OFFCPU;
		kinds |= needs & (ROW_HAS_KIND(PKBPF_PROFILE_KINDS) - 1);
	}
	return kinds;
}

bool alert_is_possible(const struct alert_rule *rule, uint32_t kinds_mask)
{
	struct error unused;

	for (size_t i = 0; i < rule->term_count; i++)
		if (is_of_rows(&rule->terms[i]) &&
		    condition_check_possible(&rule->terms[i].condition, kinds_mask, ROWS_BY_PROCESS,
					     &unused) < 0)
			return false;
	return true;
}

int alert_evaluate(const struct alert_rule *rule, const struct alert_input *input,
		   struct alert_values *ret_values)
{
	_cleanup_free_ struct alert_values *more = malloc(sizeof(*more));
	struct evaluating work = {.rule = rule, .term = rule->terms, .values = ret_values};
	int err = more ? evaluate_term(&work, input) : -ENOMEM;

	for (size_t i = 1; i < rule->term_count && err == 0; i++) {
		work.term = &rule->terms[i];
		work.values = more;
		err = evaluate_term(&work, input);
		if (err == 0)
			join(ret_values, more);
	}
	return err;
}

static void put_change(struct alert_value *value, enum pkbpf_profile_kind kind, double ratio)
{
	value->value = 100 * ratio;
	value->holds = true;
	value->clears = false;
	if (isfinite(ratio))
		snprintf(value->text, sizeof(value->text), "%s changed by %+.1f %%",
			 kind_ops_of(kind)->name, 100 * ratio);
	else
		snprintf(value->text, sizeof(value->text), "%s is new", kind_ops_of(kind)->name);
}

void alert_evaluate_change(const struct alert_rule *rule, const struct comparison *comparison,
			   double looks, struct alert_values *ret_values)
{
	const struct diff_condition *change = &rule->change;
	double risk = 0;

	/* Rows that the rule does not name take nothing of it. */
	array_foreach(&comparison->rows, row)
		if (diff_condition_names(change, comparison, row))
			risk += row->risk;
	*ret_values = (struct alert_values){.known = comparison->kinds_mask & 1U << change->kind};
	array_foreach(&comparison->rows, row) {
		double base = row->sides[DIFF_BASE].value;
		struct alert_value *value =
			diff_condition_holds(change, comparison, row) &&
					row->probability * looks * risk < row->risk * DIFF_RISK
				? value_of(ret_values, diff_row_name(comparison, row))
				: NULL;

		if (value)
			put_change(value, change->kind, base > 0 ? row->change / base : INFINITY);
	}
}
