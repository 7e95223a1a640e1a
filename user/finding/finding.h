/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The few sentences an outsider needs: the bottleneck of each program, with its place and its
 * evidence. Each is found by a rule of finding_rules.h when thresholds are exceeded.
 */
#ifndef PKBPF_FINDING_FINDING_H
#define PKBPF_FINDING_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rows/resource_rows.h"

#define FINDING_MAX	     5
#define FINDING_MAX_PER_RULE 2
#define FINDING_PART_SIZE    384
/* Cost of a state that takes all time of its process. */
#define FINDING_COST_OF_ALL 1e9
/* All parts, and the words between them. */
#define FINDING_TEXT_SIZE 2560

/* In this order they are written. */
enum finding_tier {
	FINDING_OF_TARGET, /* of the processes that were looked at */
	FINDING_OF_HOST,   /* of the machine, when that was not asked for */
	FINDING_OF_RUN,	   /* how far the profile is to be trusted */
	FINDING_HEALTHY,   /* nothing limits them */
	FINDING_TIERS,
};

/* Parts are not escaped: they hold names. Those that are not known are "". */
struct finding {
	const char *rule;
	enum finding_tier tier;
	bool is_alarm;		       /* something limits a process, or is about to fail */
	char who[FINDING_PART_SIZE];   /* "postgres (4 processes)" */
	char cause[FINDING_PART_SIZE]; /* "waits for a mutex" */
	char place[FINDING_PART_SIZE]; /* "update_cache > pthread_mutex_lock" */
	/* Part of place_base ("of it": the cause) at the place, and two standard errors of a part
	 * that was sampled, both in percent; place_percent 0: nearly all, or not known. */
	double place_percent, place_error;
	const char *place_base;
	char by[FINDING_PART_SIZE];	  /* "held meanwhile in `refresh_cache`" */
	char evidence[FINDING_PART_SIZE]; /* "83 % of wall time in 1,200 waits" */
	char next[FINDING_PART_SIZE];	  /* what to do or to look at */
	char text[FINDING_TEXT_SIZE];	  /* all of it, as reports say it */
	uint32_t pid;			  /* 0: not about one process */
	bool has_ended;			  /* that process: no command can ask it */
	double severity;		  /* 0 to 100: part of somebody's time, or of a resource */
	/* Time of threads that would go, in percent of the interval, also above 100: findings are
	 * told in its order. 0: as severe, set by findings_offer(). */
	double cost;
};

struct findings {
	struct finding findings[FINDING_MAX]; /* by tier, most cost first */
	size_t count;
};

/* Leaves out the last clause of the evidence, then of "by": on a short page, "Next" is worth more.
 * Returns whether there was one; its text is made anew. */
bool finding_shorten(struct finding *finding);
void findings_find(const struct resource_rows *rows, struct findings *ret_findings);
/* A rule's name, "": there is none at this index. */
const char *finding_rule_name_at(size_t index);

#endif
