/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A rule that is watched all the time, a section of the configuration:
 *
 *	[alert NAME]
 *	when      = TERM ["and" TERM …]	at most four
 *	over      = 5m		interval whose windows are merged; default: the last slice
 *	for       = 2m		has to hold as long; default 0
 *	clear     = 15ms	does not hold any more below it (above it, of <); default: 10 % off
 *	clear-for = 5m		and as long; doubled at each return within an hour, to an hour
 *	severity  = page	a word for the receivers; default warning
 *	notify    = ops,…	names of notifiers; default: all
 *	keep      = 30s		slices of the minute before and of this time after are
 *				kept; default 30s
 *	unless    = NAME	while an alert of this rule fires, none of this one begins to
 *	base      = before|hour|yesterday|lastweek	of changes
 *
 * TERM is a condition of --fail-if, also on a region ("region[predict].p99>100ms"), on the machine
 *("machine.io_pressure>40%"), on a function
 * ("function[parse].self>10%", share of CPU samples), or on a significant change against the base,
 *as in --fail-if of diff ("cpu.function[*].self>+10%"), which stands alone. In the place of a
 *value:
 *
 *	[N] "usual" ["+" N "spread"]	median of this hour of the day in the last seven days, and
 *					1.4826 times the median of the distances from it
 *
 * as in "blockio.p99 > 1.2 usual + 4 spread", of the sum or of one name.
 */
#ifndef PKBPF_ALERT_ALERT_RULE_H
#define PKBPF_ALERT_ALERT_RULE_H

#include "alert/host_reading.h"
#include "base/ini.h"
#include "diff/diff_condition.h"
#include "finding/condition.h"
#include "finding/region_condition.h"

#define ALERT_NAME_SIZE 64
#define ALERT_TERMS_MAX 4

enum alert_subject { ALERT_OF_FIGURE, ALERT_OF_HOST, ALERT_OF_FUNCTION, ALERT_OF_REGION };

struct alert_term {
	enum alert_subject subject;
	struct condition condition; /* of the others: comparison and value alone */
	enum host_figure host;
	struct region_condition region;
	char function[CONDITION_NAME_SIZE];
	bool total;   /* of a function with what it calls */
	bool is_past; /* its value is taken of the past: */
	double usual, spread;
};

struct alert_rule {
	char name[ALERT_NAME_SIZE];
	char when[256];
	struct alert_term terms[ALERT_TERMS_MAX];
	size_t term_count; /* 0: a change */
	struct diff_condition change;
	char base[16];
	char unless[ALERT_NAME_SIZE]; /* "": none */
	uint64_t over_ns, for_ns, clear_for_ns, keep_ns;
	bool has_clear;
	double clear;	 /* of the first term, in its unit */
	bool is_default; /* of default_rules.h, as it is there */
	char severity[32], notify[128];
};

struct alert_rules {
	ARRAY_OF(struct alert_rule) list;
};

/* Adds the rule, or several, of [alert NAME] sections. With defaults, those of default_rules.h come
 * first; a section of the same name replaces one, and "when = never" ends it. -EINVAL with the
 * sentence, which names the line; -ENOMEM. rules is for alert_rules_done() all the same. */
int alert_rules_read(const struct ini *ini, bool defaults, struct alert_rules *ret_rules,
		     struct error *error);
/* Could a rule know what it is about, with slices of this length and these kinds of events recorded
 * (1 << enum pkbpf_profile_kind), and regions or none? Figures of the machine and of the run are
 * known of so many slices as host_reading.h and run_reading.h hold. A default rule of other kinds
 * is no error: it waits for them. -EINVAL with the sentence. */
int alert_rules_check(const struct alert_rules *rules, uint64_t slice_ns, uint32_t kinds_mask,
		      bool regions, struct error *error);
void alert_rules_done(struct alert_rules *rules);
/* The same of one term, with a clause that says what to add. */
int alert_term_check_possible(const struct alert_term *term, uint32_t kinds_mask, bool regions,
			      struct error *error);
/* Of one term; -EINVAL with the sentence. */
int alert_term_parse(const char *text, struct alert_term *ret_term, struct error *error);

#endif
