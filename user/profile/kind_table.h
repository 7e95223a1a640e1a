/* SPDX-License-Identifier: BSD-2-Clause */
/* What is particular to each kind of event in a profile: kind_<name> in kind/<name>.c, found
 * through a table. */
#ifndef PKBPF_PROFILE_KIND_TABLE_H
#define PKBPF_PROFILE_KIND_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <pkbpf/counter.h>
#include <pkbpf/event.h>

struct profile;

enum profile_weight {
	PROFILE_WEIGHT_COUNT, /* weight is a number of events */
	PROFILE_WEIGHT_NS,    /* weight is a time */
};

/* How weights of one stack are distinguished. */
#define KIND_STATES 6
#define KIND_LOSSES 4

struct kind_ops {
	const char *name;	 /* as in --events: "cpu" */
	const char *title;	 /* for headings: "CPU" */
	const char *count_unit;	 /* what one event is called, plural: "samples", "waits" */
	const char *folded_unit; /* unit of the numbers in folded stacks: "samples", "us" */
	uint64_t folded_divisor; /* weight / divisor = folded number */
	enum profile_weight weight;
	/* It is known how many there should be: expected = recorded + lost (profile_account()). */
	bool is_expected;
	/* Counts events that were lost in user space for lack of memory. */
	enum pkbpf_counter no_memory;
	/* Count other events that were lost before they were in a row; the last one is 0, which
	 * counts no loss. Of expected ones the account says it. */
	enum pkbpf_counter losses[KIND_LOSSES + 1];
	/* A record is one event in so many and its weight is their number, however many there are
	 * in the record. */
	bool is_thinned;
	/* Threads that do nothing have such events. */
	bool is_idle;
	/* Events happen inside the kernel, and how it gets there explains nothing: only functions
	 * of programs do. */
	bool explained_by_programs;
	/* The bits of an event's state that are one of KIND_STATES; 0: it has none. */
	uint8_t state_mask;
	/* "sleep", as frame of --wait-states; NULL: it has none. */
	const char *(*state_name)(uint8_t state);
	/* Once, when all records are in, before frames get their names. -ENOMEM. NULL: nothing is
	 * left to do. */
	int (*finish)(struct profile *profile);
};

#define X(constant, number, name) extern const struct kind_ops kind_##name;
PKBPF_PROFILE_KIND_LIST(X)
#undef X

/* Never NULL: a kind of a later version has neutral ones. */
const struct kind_ops *kind_ops_of(enum pkbpf_profile_kind kind);

/* Events that are in no row since they were lost on their way. */
uint64_t profile_kind_lost(enum pkbpf_profile_kind kind,
			   const uint64_t counters[PKBPF_COUNTER_COUNT]);
/* 1 << kind of all that are expected. */
uint32_t profile_kinds_expected(void);
/* Finishes all kinds. -ENOMEM: of one of them, what is known stays as it is. */
int profile_kinds_finish(struct profile *profile);

/* weight in folded_unit, rounded to the nearest. */
uint64_t profile_kind_folded(enum pkbpf_profile_kind kind, uint64_t weight);

#endif
