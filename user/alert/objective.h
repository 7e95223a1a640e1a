/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a service promises, a section of the configuration, and how often it was kept:
 *
 *	[objective NAME]
 *	when   = postgres:blockio.p99 < 20ms	a term of a rule (alert/alert_rule.h) that is to
 *hold over   = 1m				length of a window: 1m (default), 10m or 1h target =
 *99%				share of windows in which it is to hold; default 99%
 *
 * A percentile of a window is that of all its events. Windows without an event that counts are
 * neither kept nor missed.
 */
#ifndef PKBPF_ALERT_OBJECTIVE_H
#define PKBPF_ALERT_OBJECTIVE_H

#include <stdio.h>

#include "alert/alert_rule.h"
#include "history/history_range.h"

struct objective {
	char name[ALERT_NAME_SIZE];
	char when[256];
	struct alert_term term;
	enum store_level level;
	double target; /* percent */
};

struct objectives {
	ARRAY_OF(struct objective) list;
};

/* Adds those of [objective NAME] sections. -EINVAL with the sentence, which names the line;
 * -ENOMEM. ret_objectives is for objectives_done() all the same. */
int objectives_read(const struct ini *ini, struct objectives *ret_objectives, struct error *error);
/* Adds one, of minutes. -EINVAL with the sentence; -ENOMEM. */
int objectives_add(struct objectives *objectives, const char *name, const char *when,
		   struct error *error);
/* Can windows with these kinds of events (1 << enum pkbpf_profile_kind), and with regions or
 * without, keep or miss them? -EINVAL with the sentence. */
int objectives_check(const struct objectives *objectives, uint32_t kinds_mask, bool regions,
		     struct error *error);
void objectives_done(struct objectives *objectives);

/* A window in which it was not kept. */
struct objective_miss {
	struct history_range range;
	double value;
};

struct objective_result {
	const struct objective *objective; /* borrowed */
	size_t kept, missed, unknown;	   /* windows */
	double worst;			   /* of those kept or missed */
	/* Of regions: how many there were, and how many took longer than the limit, counted one by
	 * one; uncounted: those of windows that have no such count. */
	uint64_t regions, violations, uncounted;
	uint64_t regions_ns, watched_ns; /* of the windows, and of these while there were probes */
	ARRAY_OF(struct objective_miss) misses;
};

/* Of each objective, in order; the caller frees them by objective_results_free(). -E2BIG: too
 * many windows; -ENOMEM, errors of reading; with the sentence. */
int objectives_measure(const struct objectives *objectives, struct store *store,
		       const struct history_range *range, struct objective_result **ret_results,
		       struct error *error);
void objective_results_free(struct objective_result *results, size_t count);
/* Percent of the windows; < 0: there were none. */
double objective_share(const struct objective_result *result);
bool objective_is_met(const struct objective_result *result);

void objectives_write_json(const struct objective_result *results, size_t count, FILE *out);
void objectives_write_text(const struct objective_result *results, size_t count, FILE *out);
/* A table. */
void objectives_write_html(const struct objective_result *results, size_t count, FILE *out);

#endif
