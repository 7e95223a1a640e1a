/* SPDX-License-Identifier: BSD-2-Clause */
/* The values that a rule looks at, by whom they are of. */
#ifndef PKBPF_ALERT_EVALUATION_H
#define PKBPF_ALERT_EVALUATION_H

#include "alert/alert_rule.h"
#include "diff/comparison.h"

#define ALERT_WHO_SIZE 128
/* More are not told apart. */
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

/* Of the terms of a rule, in a symbolized profile. -ENOMEM. */
int alert_evaluate(const struct alert_rule *rule, const struct profile *profile,
		   const struct host_readings *readings, struct alert_values *ret_values);
/* Of the change of a rule. */
void alert_evaluate_change(const struct alert_rule *rule, const struct comparison *comparison,
			   struct alert_values *ret_values);

#endif
