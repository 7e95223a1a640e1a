/* SPDX-License-Identifier: BSD-2-Clause */
/* The values that a rule looks at, by whom they are of. */
#ifndef PKBPF_ALERT_EVALUATION_H
#define PKBPF_ALERT_EVALUATION_H

#include "alert/alert_rule.h"
#include "alert/run_reading.h"
#include "diff/comparison.h"

#define ALERT_WHO_SIZE 128
/* More are not distinguished. */
#define ALERT_VALUES_MAX 64

struct alert_value {
	char who[ALERT_WHO_SIZE]; /* comm, container or function; "": all */
	double value;		  /* of the first term that is of `who` */
	bool holds;
	bool clears;	/* does not hold by a margin */
	char text[160]; /* "blockio.p99 is 23.1 ms" */
};

struct alert_values {
	bool known; /* else nothing can be said, and a rule stays as it is */
	size_t count;
	struct alert_value items[ALERT_VALUES_MAX];
};

/* What rules are held against. */
struct alert_input {
	const struct profile *profile;	  /* symbolized; NULL: for rules that need none */
	const struct resource_rows *rows; /* of the profile, in any grouping; NULL: not made yet */
	const struct host_readings *host;
	const struct run_readings *run;
};

/* Does a rule look at rows or functions, so that it needs a profile of its interval? */
bool alert_needs_profile(const struct alert_rule *rule);
/* Does it look at the machine and the store alone, which can be asked without a slice? */
bool alert_is_of_host(const struct alert_rule *rule);
/* Kinds of events (1 << enum pkbpf_profile_kind) that its terms look at; 0: may be all. */
uint32_t alert_kinds(const struct alert_rule *rule);
/* Could it know anything, with these kinds of events recorded (1 << enum pkbpf_profile_kind)? */
bool alert_is_possible(const struct alert_rule *rule, uint32_t kinds_mask);
/* Of the terms of a rule. -ENOMEM. */
int alert_evaluate(const struct alert_rule *rule, const struct alert_input *input,
		   struct alert_values *ret_values);
/* Of the change of a rule. looks: comparisons that share the risk of a false alarm, which each
 * alone would have. */
void alert_evaluate_change(const struct alert_rule *rule, const struct comparison *comparison,
			   double looks, struct alert_values *ret_values);

#endif
