/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of struct alerts have in common. */
#ifndef PKBPF_ALERT_ALERTS_PRIVATE_H
#define PKBPF_ALERT_ALERTS_PRIVATE_H

#include <pthread.h>

#include "alert/alerts.h"
#include "alert/baseline.h"
#include "history/window_memory.h"

#define ALERT_STATES_MAX 4096

struct watched_rule {
	struct alert_rule rule;
	int64_t next_ns;    /* of the next look, CLOCK_MONOTONIC */
	uint64_t postponed; /* looks, since one took too long */
	int64_t took_ns;    /* the last look, CPU time */
	bool known;	    /* the last time */
	struct baseline baselines[ALERT_TERMS_MAX];
	bool learns;		      /* there are not enough days yet */
	struct window_memory *memory; /* of a change; NULL: none yet */
};

struct alerts {
	struct store *store;
	uint64_t changes;
	uint64_t noted;	      /* slices that no rule was held against */
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
	uint64_t newest_end_ns, slice_ns; /* of the newest slice, and of the longest */
};

/* A look that takes a second of CPU time is followed by no other for 20 s. */
#define ALERT_LOOK_PARTS 20

/* Until the next look of a rule: its pause, or so long that looks take a part of a CPU. */
static inline int64_t alert_look_pause(int64_t pause_ns, int64_t took_ns)
{
	return pause_ns > ALERT_LOOK_PARTS * took_ns ? pause_ns : ALERT_LOOK_PARTS * took_ns;
}

/* The state of a rule and a name; NULL: there is none, or no room to make one. */
struct alert_state *alerts_state_of(struct alerts *alerts, const char *rule, const char *who,
				    bool make);

#endif
