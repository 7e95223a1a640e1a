// SPDX-License-Identifier: BSD-2-Clause
#include "diff/diff_condition.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_append.h"
#include "diff/diff_words.h"
#include "profile/kind_table.h"

/* ---- reading ---- */

/* Need no kind. */
#define REGION "region["
#define GPU    "gpu."

static const struct {
	const char *before, *after;
	enum diff_level level;
} forms[] = {
	{"total", NULL, DIFF_ALL},
	{"process[", "]", DIFF_PROCESS},
	{"container[", "]", DIFF_CONTAINER},
	{"function[", "].self", DIFF_SELF},
	{"function[", "].total", DIFF_TOTAL},
	{"place[", "]", DIFF_PLACE},
	{"lock[", "]", DIFF_LOCK},
	{REGION, "].total", DIFF_REGION_TIME},
	{REGION, "].count", DIFF_REGION_COUNT},
	{REGION, "].mean", DIFF_REGION_MEAN},
	{REGION, "].p50", DIFF_REGION_P50},
	{REGION, "].p99", DIFF_REGION_P99},
	{GPU "kernel[", "].launches", DIFF_GPU_LAUNCHES},
	{GPU "kernel[", "].blocks", DIFF_GPU_BLOCKS},
	{GPU "kernel[", "].time", DIFF_GPU_KERNEL_TIME},
	{GPU "copied[", "]", DIFF_GPU_COPIED},
	{GPU "allocated[", "]", DIFF_GPU_ALLOCATED},
	{GPU "kept[", "]", DIFF_GPU_KEPT},
	{GPU "wait[", "]", DIFF_GPU_WAIT},
};

static int refuse(const char *text, struct error *error)
{
	return error_set(error, EINVAL,
			 "invalid value '%s' for --fail-if: expected such as "
			 "'cpu.function[parse].self>+10%%', 'offcpu.process[nginx]>+20%%', "
			 "'region[step].p99>+10%%' or 'cpu.total<-5%%'",
			 text);
}

static bool parse_kind(const char **at, enum pkbpf_profile_kind *ret_kind)
{
	if (strncmp(*at, REGION, strlen(REGION)) == 0 || strncmp(*at, GPU, strlen(GPU)) == 0) {
		*ret_kind = PKBPF_PROFILE_CALLS;
		return true;
	}
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++) {
		const char *name = kind_ops_of((enum pkbpf_profile_kind)kind)->name;
		size_t length = strlen(name);

		if (strncmp(*at, name, length) == 0 && (*at)[length] == '.') {
			*at += length + 1;
			*ret_kind = (enum pkbpf_profile_kind)kind;
			return true;
		}
	}
	return false;
}

/* Takes the name between `before` and `after`, up to where the operator begins. */
static bool parse_form(const char **at, size_t form, struct diff_condition *condition)
{
	const char *before = forms[form].before, *after = forms[form].after;
	size_t start = strlen(before), length;
	const char *end;

	if (strncmp(*at, before, start) != 0)
		return false;
	if (!after) {
		*at += start;
		return true;
	}
	end = strrchr(*at, ']');
	if (!end || end < *at + start || strncmp(end, after, strlen(after)) != 0)
		return false;
	length = (size_t)(end - *at) - start;
	if (!length || length >= sizeof(condition->name))
		return false;
	snprintf(condition->name, sizeof(condition->name), "%.*s", (int)length, *at + start);
	condition->any = strcmp(condition->name, "*") == 0;
	*at = end + strlen(after);
	return true;
}

static bool parse_threshold(const char *at, struct diff_condition *condition)
{
	char *end;
	double percent;

	at += strspn(at, " ");
	if (*at != '>' && *at != '<')
		return false;
	condition->above = *at == '>';
	at += 1 + strspn(at + 1, " ");
	/* strtod() takes hexadecimal, inf and nan as well. */
	if (!at[0] || at[strspn(at, "+-0123456789.% ")])
		return false;
	percent = strtod(at, &end);
	if (end == at || end[strspn(end, " ")] != '%' || end[strspn(end, " ") + 1])
		return false;
	condition->ratio = percent / 100;
	/* More than nothing, in the direction of the operator. */
	return condition->above ? percent >= 0 : percent <= 0 && percent > -100;
}

int diff_condition_parse(const char *text, struct diff_condition *ret_condition,
			 struct error *error)
{
	struct diff_condition condition = {0};
	const char *at = text;

	if (*at == '?') {
		condition.may_be_absent = true;
		at++;
	}
	if (!parse_kind(&at, &condition.kind))
		return refuse(text, error);
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const char *rest = at;

		if (!parse_form(&rest, i, &condition))
			continue;
		condition.level = forms[i].level;
		if (!parse_threshold(rest, &condition))
			return refuse(text, error);
		*ret_condition = condition;
		return 0;
	}
	return refuse(text, error);
}

/* ---- checking ---- */

bool diff_condition_names(const struct diff_condition *condition,
			  const struct comparison *comparison, const struct diff_row *row)
{
	return row->key.kind == condition->kind && row->key.level == condition->level &&
	       (condition->any || condition->level == DIFF_ALL ||
		strcmp(diff_row_name(comparison, row), condition->name) == 0);
}

static bool is_beyond(const struct diff_condition *condition, const struct diff_row *row)
{
	double base = row->sides[DIFF_BASE].value, new = row->sides[DIFF_NEW].value;

	return condition->above ? new > base *(1 + condition->ratio)
				: new < base *(1 + condition->ratio);
}

bool diff_condition_holds(const struct diff_condition *condition,
			  const struct comparison *comparison, const struct diff_row *row)
{
	return diff_condition_names(condition, comparison, row) && diff_is_significant(row) &&
	       is_beyond(condition, row);
}

/* Variance of the parts of a run, blocks of slices, beyond what sampling explains. */
static double own_variance(const struct comparison *comparison, const struct diff_row *row,
			   enum diff_side side)
{
	const struct diff_amount *amount = &row->sides[side];
	double blocks =
		(double)comparison->sides[side]->slices.count / (double)comparison->blocks[side];
	double sampling = amount->count > 0 ? amount->value * amount->value / amount->count : 0;

	return fmax(0, amount->error * amount->error - sampling) * blocks;
}

/* One run a side says nothing of the scatter between runs; a change within that of the parts of
 * each run may be nothing but that. */
static bool is_within_scatter(const struct comparison *comparison, const struct diff_row *row)
{
	double variance = 0;

	if (row->evidence != DIFF_BY_SLICES)
		return false;
	for (int side = 0; side < DIFF_SIDES; side++) {
		if (comparison->sides[side]->run_count > 1 || !comparison->blocks[side])
			return false;
		variance += own_variance(comparison, row, (enum diff_side)side);
	}
	return row->change * row->change <= variance;
}

static void describe(const struct comparison *comparison, const struct diff_row *row,
		     const char *verdict, struct diff_condition_result *result)
{
	char base[DIFF_WORDS_SIZE], new[DIFF_WORDS_SIZE], change[DIFF_WORDS_SIZE];
	char interval[DIFF_WORDS_SIZE];
	const char *name = diff_row_name(comparison, row);

	bool is_derived = diff_level_is_derived(row->key.level);

	diff_words_interval(interval, row);
	snprintf(result->sentence, sizeof(result->sentence), "%s: %s%s%s %s -> %s%s%s, %s%s%s%s",
		 result->expression, name[0] ? name : "all", name[0] ? " " : "",
		 name[0] ? diff_words_level(row->key.level) : "",
		 diff_words_value(base, &row->key, row->sides[DIFF_BASE].value),
		 diff_words_value(new, &row->key, row->sides[DIFF_NEW].value),
		 is_derived ? "" : " per ", is_derived ? "" : diff_words_per(&comparison->work),
		 diff_words_change(change, row), interval[0] ? " (" : "", interval,
		 interval[0] ? ")" : "");
	text_append(result->sentence, sizeof(result->sentence), ": %s", verdict);
}

static void set(struct diff_condition_result *result, enum diff_condition_outcome outcome,
		const char *why)
{
	result->outcome = outcome;
	snprintf(result->sentence, sizeof(result->sentence), "%s: %s", result->expression, why);
}

/* The row that decides: the first that is beyond, else any of which nothing can be told, else the
 * first. */
static const struct diff_row *deciding_row(const struct diff_condition *condition,
					   const struct comparison *comparison)
{
	const struct diff_row *first = NULL, *unjudged = NULL;

	array_foreach(&comparison->rows, row) {
		bool holds = diff_condition_holds(condition, comparison, row);

		if (!diff_condition_names(condition, comparison, row))
			continue;
		if (holds && !is_within_scatter(comparison, row))
			return row;
		first = first ? first : row;
		if ((holds || row->verdict == DIFF_UNJUDGED) && !unjudged)
			unjudged = row;
	}
	return unjudged ? unjudged : first;
}

void diff_condition_check(const struct diff_condition *condition, const char *text,
			  const struct comparison *comparison,
			  struct diff_condition_result *ret_result)
{
	struct diff_condition_result *result = ret_result;
	const struct diff_row *row;

	*result = (struct diff_condition_result){.expression = text};
	if (!(comparison->kinds_mask & 1U << condition->kind)) {
		set(result, DIFF_CONDITION_NO_KIND, "no such events on both sides");
		return;
	}
	row = deciding_row(condition, comparison);
	if (!row && (condition->may_be_absent || condition->any)) {
		set(result, DIFF_CONDITION_PASSED, "nothing of this name: passed");
	} else if (!row) {
		set(result, DIFF_CONDITION_ABSENT,
		    "nothing of this name was recorded; a ? at the beginning allows absence");
	} else if (row->verdict == DIFF_UNJUDGED) {
		result->outcome = DIFF_CONDITION_UNJUDGED;
		describe(comparison, row, "cannot be judged, for the noise is not known", result);
	} else if (diff_condition_holds(condition, comparison, row) &&
		   is_within_scatter(comparison, row)) {
		result->outcome = DIFF_CONDITION_UNJUDGED;
		describe(comparison, row,
			 "cannot tell, parts of these runs differ by as much; compare several runs "
			 "a side (--base, --new)",
			 result);
	} else if (diff_condition_holds(condition, comparison, row)) {
		result->outcome = DIFF_CONDITION_HELD;
		describe(comparison, row, "failed", result);
	} else {
		describe(comparison, row,
			 diff_is_significant(row) ? "passed"
			 : is_beyond(condition, row)
				 ? "passed: the change beyond the threshold is not significant; "
				   "compare longer runs, or several runs a side"
				 : "passed, no significant change",
			 result);
	}
}
