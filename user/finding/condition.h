/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conditions on figures of the report, for scripts that want to fail when one holds:
 *
 *	EXPR = ["?"] [WHO ":"] FIGURE OP VALUE	blanks around OP are fine
 *	WHO = PID | NAME | "*"		this pid; this comm or container (its name, with or without
 *					its runtime, or its service); any row; without: the sum
 *	"?"				nobody of that name is no failure
 *	FIGURE = GROUP "." NAME | GROUP	of figure_table.c; a group alone is its total: "lost"
 *	OP = ">" | ">=" | "<" | "<="
 *	VALUE = NUMBER [UNIT]		"10ms", "64MiB", "80%", "1000"; decimal points are fine
 *
 * Units: ns us ms s m h for times, where one must be given; B K M G T (KiB … too) for bytes; % for
 * shares; none for counts.
 */
#ifndef PKBPF_FINDING_CONDITION_H
#define PKBPF_FINDING_CONDITION_H

#include <stdbool.h>

#include "base/error.h"
#include "finding/quantity.h"
#include "rows/figure_table.h"
#include "rows/human.h"

/* Names are at most this long, with their NUL. */
#define CONDITION_NAME_SIZE 256

struct condition {
	const struct figure *figure;
	enum condition_comparison comparison;
	double value; /* in the figure's unit */
	bool any_row;
	bool may_be_absent;		/* "?": nobody of that name or pid is fine */
	uint32_t pid;			/* 0: no pid was given */
	char name[CONDITION_NAME_SIZE]; /* "" and the above false or 0: the sum of all rows */
};

/* -EINVAL with a sentence that says what is wrong. */
int condition_parse(const char *text, struct condition *ret_condition, struct error *error);
/* Before anything is recorded: -EINVAL with a clause that says why ("no RSS by thread; …") when a
 * profile of these kinds (1 << enum pkbpf_profile_kind), in rows of this sort, would not have the
 * figure. */
int condition_check_possible(const struct condition *condition, uint32_t kinds_mask,
			     enum rows_by by, struct error *error);
bool condition_passes(const struct condition *condition, double value);
/* Calls back with the value of each row that the condition names, &rows->total for the sum and
 * figures of the run. Shares of the interval are taken over a row's own life. 0; -ENODATA: nothing
 * of the kind was recorded; -ESRCH: no row is of this pid or name. */
int condition_each(const struct condition *condition, const struct resource_rows *rows,
		   void (*on_value)(void *context, const struct resource_row *row, double value),
		   void *context);
/* "14.2 ms": a value in the unit of a figure. */
void condition_format(char buffer[HUMAN_SIZE], enum figure_unit unit, double value);
/* Calls back with a sentence for each row
 * that meets the condition ("postgres 812: blockio.p99 is 14.2 ms"), which is not escaped. Returns
 * their number. That nobody can tell: -ENODATA: nothing of the kind was recorded; -ESRCH: no row is
 * of this pid or name. */
int condition_check(const struct condition *condition, const struct resource_rows *rows,
		    void (*on_breach)(void *context, const char *sentence), void *context);

#endif
