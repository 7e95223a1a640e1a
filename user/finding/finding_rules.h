/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules behind the findings, their thresholds, and what they are made with. */
#ifndef PKBPF_FINDING_FINDING_RULES_H
#define PKBPF_FINDING_FINDING_RULES_H

#include "base/clock.h"
#include "rows/row_groups.h"
#include "finding/finding.h"

/*
 * Thresholds. Times are told from a fifth of somebody's time on: below, halving them would change
 * little. What wants a rate needs a good number of events, so that one slow request is no finding.
 */
#define CPU_BUSY_PERCENT 90 /* of all CPUs: less leaves room for everybody */
#define CPU_QUEUE_PERCENT                                                                          \
	10 /* run-queue wait in the time that wanted a CPU, whole machine or one row */
#define CPU_ROW_PERCENT		50 /* of one CPU, for one row */
#define DISK_ROW_PERCENT	20 /* of the row's lifetime */
#define DEVICE_PART_PERCENT	20 /* of a disk wait: less with the device is worth telling */
#define LOCK_ROW_PERCENT	20 /* uninterruptible, of the row's lifetime */
#define FUTEX_ROW_PERCENT	20 /* of the row's lifetime in futex waits of its threads, */
#define FUTEX_MEAN_MS		100 /* outside of locks short ones: who waits longer has nothing to do */
#define DEVICE_P99_NS		(20 * NS_PER_MS) /* a disk that seeks needs less for nearly every request */
#define DEVICE_REQUESTS		50
#define GROWTH_BYTES		(10 << 20) /* in all, */
#define GROWTH_BYTES_PER_SECOND (1 << 20)  /* per second, */
#define GROWTH_PERCENT		10	   /* and of what is resident at the end */
#define MAJOR_FAULTS_PER_SECOND 20
#define MEMORY_LEFT_PERCENT	5
#define SHORT_LIVED_PER_SECOND	50
#define SHORT_LIVED_CPU_PERCENT 10
#define STEAL_PERCENT		5
#define LIMIT_PERIODS_PERCENT	5 /* of those in which a cgroup had something to run */
#define LIMITED_PERCENT                                                                            \
	25 /* of the interval held back by a limit: waits for CPUs say nothing of the machine */
#define LOST_PERCENT 1
#define PEERS_SLEEP_PERCENT                                                                        \
	50 /* of a row's lifetime asleep until somebody else has something for it, */
#define PEERS_CPU_PERCENT      2  /* though it does something, */
#define PEERS_WAKES_PER_SECOND 50 /* as often as this, */
#define PEERS_OTHER_PERCENT                                                                        \
	20 /* and is held up less than this by CPUs, disks and locks together                      \
	    */
#define PEERS_SEVERITY                                                                             \
	19 /* at most: behind everything that limits somebody; of futexes that are no locks, too   \
	    */
#define LEAST_SEVERITY 1 /* percent: less hurts nobody */
#define LISTED	       4 /* programs named in one finding */

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
/* "postgres 812", "postgres (4 processes)", "docker:0123456789ab"; whom the finding is about, too.
 */
void finding_say_who(struct finding *finding, const struct row_group *group);
/* ", 58 % of it below `XLogFlush > fdatasync`"; nothing when no function explains half of it. */
void finding_say_functions(struct finding *finding, const struct resource_rows *rows,
			   const struct row_group *group, enum pkbpf_profile_kind kind,
			   unsigned int states, const struct wait_choice *choice, const char *what);
/* The same of what may be only a part of the whole. */
void finding_say_functions_of(struct finding *finding, const struct resource_rows *rows,
			      const struct row_group *group, enum pkbpf_profile_kind kind,
			      unsigned int states, const struct wait_choice *choice,
			      const char *what, uint64_t whole);

/* Rules about the run: false: does not hold. */
bool finding_cpu_starved(const struct resource_rows *rows, struct finding *finding);
bool finding_slow_device(const struct resource_rows *rows, struct finding *finding);
bool finding_memory_low(const struct resource_rows *rows, struct finding *finding);
bool finding_short_lived(const struct resource_rows *rows, struct finding *finding);
bool finding_stolen(const struct resource_rows *rows, struct finding *finding);
bool finding_cpu_limit(const struct resource_rows *rows, struct finding *finding);
bool finding_samples_lost(const struct resource_rows *rows, struct finding *finding);
bool finding_waits_lost(const struct resource_rows *rows, struct finding *finding);
bool finding_idle_for_peers(const struct resource_rows *rows, struct finding *finding);

/* Rules about rows: < 0: does not hold for this one; else how bad it is, 0 to 100. */
double judge_cpu(const struct resource_rows *rows, const struct resource_row *row);
void tell_cpu(const struct resource_rows *rows, const struct row_group *group,
	      struct finding *finding);
double judge_disk(const struct resource_rows *rows, const struct resource_row *row);
void tell_disk(const struct resource_rows *rows, const struct row_group *group,
	       struct finding *finding);
double judge_queue(const struct resource_rows *rows, const struct resource_row *row);
void tell_queue(const struct resource_rows *rows, const struct row_group *group,
		struct finding *finding);
double judge_journal(const struct resource_rows *rows, const struct resource_row *row);
void tell_journal(const struct resource_rows *rows, const struct row_group *group,
		  struct finding *finding);
double judge_locks(const struct resource_rows *rows, const struct resource_row *row);
void tell_locks(const struct resource_rows *rows, const struct row_group *group,
		struct finding *finding);
double judge_futex(const struct resource_rows *rows, const struct resource_row *row);
void tell_futex(const struct resource_rows *rows, const struct row_group *group,
		struct finding *finding);
double judge_growth(const struct resource_rows *rows, const struct resource_row *row);
void tell_growth(const struct resource_rows *rows, const struct row_group *group,
		 struct finding *finding);
double judge_oom(const struct resource_rows *rows, const struct resource_row *row);
void tell_oom(const struct resource_rows *rows, const struct row_group *group,
	      struct finding *finding);
double judge_major(const struct resource_rows *rows, const struct resource_row *row);
void tell_major(const struct resource_rows *rows, const struct row_group *group,
		struct finding *finding);

#endif
