/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of struct alerts have in common. */
#ifndef PKBPF_ALERT_ALERTS_PRIVATE_H
#define PKBPF_ALERT_ALERTS_PRIVATE_H

#include <pthread.h>

#include "alert/alerts.h"
#include "alert/baseline.h"

#define ALERT_STATES_MAX 4096

struct watched_rule {
	struct alert_rule rule;
	int64_t next_ns; /* of the next look, CLOCK_MONOTONIC */
	bool known;	 /* the last time */
	struct baseline baselines[ALERT_TERMS_MAX];
	bool learns; /* there are not enough days yet */
};

struct alerts {
	struct store *store;
	uint64_t changes;
	pthread_mutex_t lock; /* of what follows, against readers */
	ARRAY_OF(struct watched_rule) rules;
	ARRAY_OF(struct alert_state) states;
	/* The feeding thread's. */
	struct host_readings host;
	struct run_readings run;
	struct alert_values values;
	/* The merge that was made last, in one round. */
	struct profile *merged;
	uint64_t merged_over_ns;
};

/* The state of a rule and a name; NULL: there is none, or no room to make one. */
struct alert_state *alerts_state_of(struct alerts *alerts, const char *rule, const char *who,
				    bool make);

#endif
