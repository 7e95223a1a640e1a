/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conditions on changes, for scripts that want to fail when one is significant:
 *
 *	EXPR = ["?"] KIND "." WHAT OP VALUE	blanks around OP are fine
 *	     | ["?"] "region[NAME]." FIGURE OP VALUE
 *	FIGURE = "total" | "count" | "mean" | "p50" | "p99"
 *	WHAT = "total" | "process[NAME]" | "container[NAME]"
 *	     | "function[NAME].self" | "function[NAME].total"	NAME "*": any
 *	OP VALUE = ">+10%" | "<-10%"
 *	"?"					nobody of that name is no failure
 *
 * A name ends at the last ']', so that it may hold others.
 */
#ifndef PKBPF_DIFF_DIFF_CONDITION_H
#define PKBPF_DIFF_DIFF_CONDITION_H

#include "base/error.h"
#include "diff/comparison.h"

#define DIFF_CONDITION_NAME_SIZE 512

struct diff_condition {
	enum pkbpf_profile_kind kind;
	enum diff_level level;
	char name[DIFF_CONDITION_NAME_SIZE];
	bool any;
	bool may_be_absent;
	bool above;   /* growth; else shrinking */
	double ratio; /* of the threshold: 0.1 is +10 %, -0.2 is -20 % */
};

enum diff_condition_outcome {
	DIFF_CONDITION_PASSED,
	DIFF_CONDITION_HELD,	 /* a significant change beyond the threshold */
	DIFF_CONDITION_ABSENT,	 /* its name matches nothing */
	DIFF_CONDITION_NO_KIND,	 /* no such events on both sides */
	DIFF_CONDITION_UNJUDGED, /* the noise is not known */
};

struct diff_condition_result {
	const char *expression; /* borrowed */
	enum diff_condition_outcome outcome;
	char sentence[1024]; /* not escaped */
};

/* -EINVAL with a sentence that says what is wrong. */
int diff_condition_parse(const char *text, struct diff_condition *ret_condition,
			 struct error *error);
bool diff_condition_names(const struct diff_condition *condition,
			  const struct comparison *comparison, const struct diff_row *row);
/* Is this row one that the condition names, with a significant change beyond its threshold? */
bool diff_condition_holds(const struct diff_condition *condition,
			  const struct comparison *comparison, const struct diff_row *row);
/* text: which was parsed as condition. */
void diff_condition_check(const struct diff_condition *condition, const char *text,
			  const struct comparison *comparison,
			  struct diff_condition_result *ret_result);

#endif
