/* SPDX-License-Identifier: BSD-2-Clause */
/* Properties of each profile kind: kind_<name> in kind/<name>.c, found through a table. */
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
	PROFILE_WEIGHT_BYTES, /* weight is an amount of memory */
};

/* Maximum number of states of one kind, and of its loss counters. */
#define KIND_STATES 6
#define KIND_LOSSES 4

struct kind_ops {
	const char *name;	 /* as in --events: "cpu" */
	const char *title;	 /* for headings: "CPU" */
	const char *count_unit;	 /* plural name of events: "samples", "waits" */
	const char *folded_unit; /* unit of the numbers in folded stacks: "samples", "us" */
	uint64_t folded_divisor; /* weight / divisor = folded number */
	enum profile_weight weight;
	/* The expected number is known: expected = recorded + lost (profile_account()). */
	bool is_expected;
	/* Counter of events lost in user space for lack of memory. */
	enum pkbpf_counter no_memory;
	/* Counters of other events lost before they reached a row, closed by 0, which counts no
	 * loss. For expected kinds, profile_account() has them. */
	enum pkbpf_counter losses[KIND_LOSSES + 1];
	/* Only one event in N is recorded; the weight of a record is N, whatever its count. */
	bool is_thinned;
	/* Its rows say what a process has at the end of a slice: they take the place of those of
	 * earlier slices. */
	bool is_level;
	/* Idle threads have such events. */
	bool is_idle;
	/* Events happen inside the kernel, and their kernel functions explain nothing: only
	 * functions of programs do. */
	bool explained_by_programs;
	/* Bits of an event's state that hold one of KIND_STATES; 0: no states. */
	uint8_t state_mask;
	/* "sleep", as a frame for --wait-states; NULL: no states. */
	const char *(*state_name)(uint8_t state);
	/* Called once, when all records are in, before frames are symbolized. -ENOMEM. NULL:
	 * nothing to do. */
	int (*finish)(struct profile *profile);
};

#define X(constant, number, name) extern const struct kind_ops kind_##name;
PKBPF_PROFILE_KIND_LIST(X)
#undef X

/* Never NULL: a kind of a later version has neutral properties. */
const struct kind_ops *kind_ops_of(enum pkbpf_profile_kind kind);

/* Number of events lost before they reached a row. */
uint64_t profile_kind_lost(enum pkbpf_profile_kind kind,
			   const uint64_t counters[PKBPF_COUNTER_COUNT]);
/* Mask of the kinds with is_expected, 1 << kind each. */
uint32_t profile_kinds_expected(void);
/* Finishes all kinds. -ENOMEM: of one of them; its data stays as it is. */
int profile_kinds_finish(struct profile *profile);

/* Its weight is no number of events. */
static inline bool kind_has_measure(const struct kind_ops *kind)
{
	return kind->weight != PROFILE_WEIGHT_COUNT;
}
/* What its weight is called in tables: "time", "bytes", or its events. */
const char *kind_measure(const struct kind_ops *kind);

/* weight in folded_unit, rounded to the nearest. */
uint64_t profile_kind_folded(enum pkbpf_profile_kind kind, uint64_t weight);

#endif
