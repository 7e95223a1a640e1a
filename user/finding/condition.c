// SPDX-License-Identifier: BSD-2-Clause
/* Parses conditions and holds rows against them. */
#include "finding/condition.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "rows/human.h"
#include "profile/kind_table.h"

static int parse_value(const char *text, struct condition *condition, struct error *error)
{
	const char *example;

	if (quantity_parse(text, condition->figure->unit, &condition->value, &example))
		return error_set(error, EINVAL,
				 "invalid value in --fail-if: expected one like %s for %s.%s",
				 example, condition->figure->group, condition->figure->name);
	return 0;
}

static int parse_who(const char *who, size_t length, struct condition *condition,
		     struct error *error)
{
	char *end;

	if (length == 0 || length >= sizeof(condition->name))
		return error_set(error, EINVAL,
				 "--fail-if requires a pid, a name or * before the colon");
	memcpy(condition->name, who, length);
	condition->name[length] = '\0';
	if (strcmp(condition->name, "*") == 0) {
		condition->any_row = true;
		condition->name[0] = '\0';
	} else if (strspn(condition->name, "0123456789") == length && length < 10) {
		condition->pid = (uint32_t)strtoul(condition->name, &end, 10);
		/* 0 is nobody's: then it is a name. */
		if (condition->pid)
			condition->name[0] = '\0';
	}
	return 0;
}

static int parse_figure(const char *name, size_t length, struct condition *condition,
			struct error *error)
{
	char buffer[64];

	while (length && strchr(" \t", name[length - 1]))
		length--;
	snprintf(buffer, sizeof(buffer), "%.*s",
		 length < sizeof(buffer) ? (int)length : (int)sizeof(buffer) - 1, name);
	condition->figure = figure_find(buffer);
	if (!condition->figure)
		return error_set(
			error, EINVAL,
			"unknown figure '%s' in --fail-if: expected one of the JSON report, such "
			"as cpu.share, offcpu.total, blockio.p99, memory.rss or lost",
			buffer);
	return 0;
}

int condition_parse(const char *text, struct condition *ret_condition, struct error *error)
{
	const char *comparison, *colon;
	struct condition condition = {0};
	int err = 0;

	text += strspn(text, " \t");
	condition.may_be_absent = *text == '?';
	text += condition.may_be_absent;
	/* The colon is the last one before the comparison. */
	comparison = comparator_find(text, &condition.comparison);
	if (!comparison || comparison == text)
		return error_set(error, EINVAL,
				 "invalid value '%s' for --fail-if: expected a condition like "
				 "blockio.p99>10ms or lost>0",
				 text);
	colon = memrchr(text, ':', (size_t)(comparison - text));
	if (colon) {
		err = parse_who(text, (size_t)(colon - text), &condition, error);
		text = colon + 1;
	}
	if (!err && condition.may_be_absent && !colon)
		err = error_set(error, EINVAL,
				"--fail-if: ? requires a name before the figure, as in "
				"?nginx:cpu.share>50%%");
	err = err ? err : parse_figure(text, (size_t)(comparison - text), &condition, error);
	if (!err && colon && condition.figure->scope == FIGURE_OF_RUN)
		err = error_set(error, EINVAL,
				"--fail-if: %s.%s belongs to the whole profile; omit the part "
				"before the colon",
				condition.figure->group, condition.figure->name);
	err = err ? err : parse_value(comparator_value(comparison), &condition, error);
	if (!err)
		*ret_condition = condition;
	return err;
}

bool condition_passes(const struct condition *condition, double value)
{
	return comparator_holds(condition->comparison, value, condition->value);
}

void condition_format(char buffer[HUMAN_SIZE], enum figure_unit unit, double value)
{
	quantity_format(buffer, unit, value);
}

/* "web" of "docker:web", "app" of "app.service" */
static bool is_container(const char *container, const char *name)
{
	const char *colon = strchr(container, ':');
	size_t length = strlen(name);

	return !strcmp(container, name) || (colon && !strcmp(colon + 1, name)) ||
	       (!strncmp(container, name, length) && !strcmp(container + length, ".service"));
}

/* Is the row one that the condition names? */
static bool condition_names(const struct condition *condition, const struct resource_row *row)
{
	if (condition->any_row || (condition->pid && row->pid == condition->pid))
		return true;
	return condition->name[0] && (!strcmp(row->name, condition->name) ||
				      is_container(row->container, condition->name));
}

/* In less, any process uses all of a CPU. */
#define LEAST_LIFE_NS NS_PER_SECOND

/* A process that lived for a second may have used all of it, however long the interval is. Several
 * processes have lived one after the other, or beside each other: theirs is one of the interval. */
static double over_its_life(const struct condition *condition, const struct resource_rows *rows,
			    const struct resource_row *row, double number)
{
	uint64_t life_ns = row->lifetime_ns > LEAST_LIFE_NS ? row->lifetime_ns : LEAST_LIFE_NS;

	if (!condition->figure->is_rate || row == &rows->total || row->processes > 1 ||
	    !row->lifetime_ns || life_ns >= rows->interval_ns)
		return number;
	return number * (double)rows->interval_ns / (double)life_ns;
}

struct checking {
	const struct condition *condition;
	const struct resource_rows *rows;
	void (*on_breach)(void *context, const char *sentence);
	void *context;
	int breaches;
};

static void check_value(void *context, const struct resource_row *row, double number)
{
	struct checking *checking = context;
	const struct figure *figure = checking->condition->figure;
	char sentence[512], who[320] = "", value[HUMAN_SIZE];

	if (!condition_passes(checking->condition, number))
		return;
	if (row != &checking->rows->total && row->pid)
		snprintf(who, sizeof(who), "%s %" PRIu32 ": ", row->name,
			 row->tid ? row->tid : row->pid);
	else if (row != &checking->rows->total)
		snprintf(who, sizeof(who), "%s: ", row->name[0] ? row->name : row->container);
	condition_format(value, figure->unit, number);
	snprintf(sentence, sizeof(sentence), "%s%s.%s is %s", who, figure->group, figure->name,
		 value);
	checking->on_breach(checking->context, sentence);
	checking->breaches += checking->breaches < INT_MAX;
}

int condition_check_possible(const struct condition *condition, uint32_t kinds_mask,
			     enum rows_by by, struct error *error)
{
	unsigned int needs = condition->figure->needs;

	if (needs & ROW_HAS_WAIT_LENGTHS)
		needs |= ROW_HAS_KIND(PKBPF_PROFILE_OFFCPU);
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++) {
		if (needs & ROW_HAS_KIND(kind) && !(kinds_mask & 1U << kind))
			return error_set(error, EINVAL,
					 "its events are not recorded; add %s to --events",
					 kind_ops_of(kind)->name);
	}
	if (needs & ROW_HAS_WAIT_LENGTHS && !rows_are_of_processes(by))
		return error_set(error, EINVAL,
				 "no wait-time distributions by %s; use another --by",
				 rows_grouping_name(by));
	if (needs & (ROW_HAS_RSS | ROW_HAS_PEAK) && !rows_are_of_processes(by) &&
	    (condition->any_row || condition->pid || condition->name[0]))
		return error_set(error, EINVAL, "no RSS by %s; use another --by",
				 rows_grouping_name(by));
	return 0;
}

int condition_each(const struct condition *condition, const struct resource_rows *rows,
		   void (*on_value)(void *context, const struct resource_row *row, double value),
		   void *context)
{
	const struct figure *figure = condition->figure;
	bool is_known = condition->any_row;
	double number;

	if (figure->scope == FIGURE_OF_RUN && !figure_value(figure, rows, NULL, &number))
		return -ENODATA;
	if (figure->scope == FIGURE_OF_ROW && (rows->total.known & figure->needs) != figure->needs)
		return -ENODATA;
	if (!condition->any_row && !condition->pid && !condition->name[0]) {
		if (figure_value(figure, rows, &rows->total, &number))
			on_value(context, &rows->total, number);
		return 0;
	}
	for (size_t i = 0; i < rows->all_count; i++) {
		const struct resource_row *row = &rows->items[i];

		if (!condition_names(condition, row))
			continue;
		is_known = true;
		/* Of groups of processes only the lengths of waits and requests are like those
		 * of one. */
		if ((!resource_rows_is_group(rows, row) || figure->max_offset) &&
		    figure_value(figure, rows, row, &number))
			on_value(context, row, over_its_life(condition, rows, row, number));
	}
	return is_known ? 0 : -ESRCH;
}

int condition_check(const struct condition *condition, const struct resource_rows *rows,
		    void (*on_breach)(void *context, const char *sentence), void *context)
{
	struct checking checking = {condition, rows, on_breach, context, 0};
	int err = condition_each(condition, rows, check_value, &checking);

	return err < 0 ? err : checking.breaches;
}
