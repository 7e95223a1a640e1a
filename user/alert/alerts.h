/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watches the history: holds each rule against it when a slice has come, and tells when an alert
 * begins and ends. One thread feeds it; any may write its state.
 *
 *	inactive → pending (holds, for less than `for`) → firing → clearing → inactive
 */
#ifndef PKBPF_ALERT_ALERTS_H
#define PKBPF_ALERT_ALERTS_H

#include <stdio.h>

#include "alert/evaluation.h"
#include "store/store.h"

/* Of a rule, so many are named; the others together. */
#define ALERT_NAMED_MAX 10

/* Lengths go by the second, which nobody sets; the first is for people. */
struct alert_time {
	int64_t unix_ns;
	int64_t ns; /* CLOCK_MONOTONIC; < 0: before the machine started */
};

enum alert_phase { ALERT_INACTIVE, ALERT_PENDING, ALERT_FIRING, ALERT_CLEARING };

struct alert_state {
	char rule[ALERT_NAME_SIZE];
	char who[ALERT_WHO_SIZE];
	enum alert_phase phase;
	struct alert_time since; /* of the phase */
	int64_t fired_unix_ns;	 /* firing and clearing */
	struct alert_time ended; /* the last time; zero: never */
	uint64_t clear_for_ns;	 /* grows with returns */
	char text[160];
	bool touched;
};

/* One step; returns true when it begins to fire or has ended (phase ALERT_INACTIVE). */
bool alert_state_step(struct alert_state *state, const struct alert_rule *rule, bool holds,
		      bool clears, struct alert_time now);

/* It holds, and waits for others. */
void alert_state_hold(struct alert_state *state, struct alert_time now);

struct alert_news {
	const struct alert_rule *rule;
	const struct alert_state *state;
	bool fires;			  /* else it has ended */
	int64_t from_unix_ns, to_unix_ns; /* the interval that shows it */
};

struct alerts;

/* rules: copied; store: borrowed. NULL: out of memory. */
struct alerts *alerts_new(const struct alert_rules *rules, struct store *store);
/* Others from now on; alerts of rules that are gone end without a word. -ENOMEM: as before. */
int alerts_set_rules(struct alerts *alerts, const struct alert_rules *rules);
/* Takes note of a slice that no rule is held against, for want of time. */
void alerts_note(struct alerts *alerts, const struct resource_rows *rows);
/* Rows of a slice that the store has, in any grouping. Calls back with what is new. -ENOMEM: some
 * rules were not looked at.
 */
int alerts_add(struct alerts *alerts, const struct resource_rows *rows,
	       void (*tell)(void *context, const struct alert_news *news), void *context);
/* When no slice has come for a while: holds rules of the machine and the store against them. */
void alerts_tick(struct alerts *alerts, struct alert_time now,
		 void (*tell)(void *context, const struct alert_news *news), void *context);
/* Of the rules that are evaluated less often than they ask for, the one with the longest look;
 * NULL: none. *ret_took_ns: CPU time of a look. */
const char *alerts_slow_rule(const struct alerts *alerts, int64_t *ret_took_ns);
/* Calls back with all that fire now. */
void alerts_each_firing(struct alerts *alerts,
			void (*tell)(void *context, const struct alert_news *news), void *context);
void alerts_write_json(struct alerts *alerts, FILE *out);
/* Of a feeding thread: so often states have changed, which is worth keeping. */
uint64_t alerts_changes(const struct alerts *alerts);
/* What another program needs to go on: JSON. */
void alerts_write_memory(struct alerts *alerts, int64_t now_unix_ns, FILE *out);
/* Goes on from what was written at most 15 minutes ago (later than now: its clock was ahead), of
 * rules that still are. What it cannot read is as if there were nothing. -ENOMEM. */
int alerts_read_memory(struct alerts *alerts, const char *text, struct alert_time now);
/* For Prometheus. */
void alerts_write_metrics(struct alerts *alerts, FILE *out);
void alerts_free(struct alerts *alerts);
/* "firing", … */
extern const char *const alert_phase_names[];

#endif
