/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules of findings, and what they share. */
#ifndef PKBPF_FINDING_FINDING_RULES_H
#define PKBPF_FINDING_FINDING_RULES_H

#include "base/clock.h"
#include "finding/finding.h"
#include "rows/row_groups.h"

/* A rule is about the run, or about rows: rows of one name for which it holds are one finding. */
struct finding_rule {
	const char *name;
	const char *summary; /* for the manual, no full stop */
	/* About the run; false: does not hold. */
	bool (*find)(const struct resource_rows *rows, struct finding *finding);
	/* About rows: < 0: does not hold for this one; else how bad it is, 0 to 100. */
	row_judge_fn judge;
	void (*tell)(const struct resource_rows *rows, const struct row_group *group,
		     struct finding *finding);
};

/* The rules there are: a row each, which is finding_rule_<name> of the file of its subject. Of
 * findings that are equally bad, those of earlier rules come first. */
#define FINDING_RULES(ROW)                                                                         \
	ROW(cpu_starved)                                                                           \
	ROW(cpu_limit)                                                                             \
	ROW(slow_device)                                                                           \
	ROW(memory_low)                                                                            \
	ROW(short_lived)                                                                           \
	ROW(stolen)                                                                                \
	ROW(samples_lost)                                                                          \
	ROW(waits_lost)                                                                            \
	ROW(cpu_bound)                                                                             \
	ROW(disk_bound)                                                                            \
	ROW(queue_bound)                                                                           \
	ROW(journal_bound)                                                                         \
	ROW(lock_bound)                                                                            \
	ROW(futex_bound)                                                                           \
	ROW(out_of_memory)                                                                         \
	ROW(memory_grows)                                                                          \
	ROW(major_faults)                                                                          \
	ROW(idle_for_peers)

#define FINDING_RULE_DECLARE(name) extern const struct finding_rule finding_rule_##name;
FINDING_RULES(FINDING_RULE_DECLARE)
#undef FINDING_RULE_DECLARE

/*
 * Thresholds of several rules; others stand with their rule. A time counts from a fifth of a
 * lifetime on: below that, halving it would change little. A rate needs a good number of events, so
 * that one slow request is no finding.
 */

/* Run-queue wait in the runnable time, of the machine or of one row. */
#define CPU_QUEUE_PERCENT 10
/* Of one CPU, for one row. */
#define CPU_ROW_PERCENT 50
/* A row that waits for others uses some CPU time and wakes up often. */
#define PEERS_CPU_PERCENT      2
#define PEERS_WAKES_PER_SECOND 50
/* Severity of what limits nobody, at most: it comes behind everything that does. */
#define PEERS_SEVERITY 19
/* In percent: less hurts nobody. */
#define LEAST_SEVERITY 1
/* Programs named in one finding. */
#define LISTED 4

/* Part of a whole; 0 of nothing. */
double finding_percent(double part, double whole);
/* Length of the interval. */
double finding_seconds(const struct resource_rows *rows);
/* A time as a share of the interval, at most 100: a process that lived for a moment is no worse off
 * than that is long. */
double finding_severity(const struct resource_rows *rows, uint64_t time_ns);
/* Of the time that wanted a CPU, what went by in waiting for one. */
double finding_queue_percent(const struct resource_row *row);
bool finding_is_cpu_starved(const struct resource_rows *rows);
/* Targets that wait for CPUs mostly because they may not use more of them. */
bool finding_targets_are_limited(const struct resource_rows *rows);
const char *finding_name(const struct resource_row *row);

/* Appends to a finding's text, up to its size. */
void finding_say(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* "postgres 812", "postgres (4 processes)", "docker:0123456789ab"; whom the finding is about,
 * too. */
void finding_say_who(struct finding *finding, const struct row_group *group);
/* Stacks that explain a finding, and how it speaks of them. */
struct finding_evidence {
	enum pkbpf_profile_kind kind;
	unsigned int states;		  /* as for resource_rows_explain() */
	const struct wait_choice *choice; /* too */
	const char *what;		  /* "it", "its page faults" */
	uint64_t whole; /* weight of which the stacks may be only a part; 0: of the stacks */
};

/* ", 58 % of it below `XLogFlush > fdatasync`"; nothing when no function explains half of it. */
void finding_say_functions(struct finding *finding, const struct resource_rows *rows,
			   const struct row_group *group, const struct finding_evidence *evidence);

#endif
