/* SPDX-License-Identifier: BSD-2-Clause */
/* What each profile kind measures: a row per kind, read by exporters and reports. */
#ifndef PKBPF_PROFILE_KIND_TABLE_H
#define PKBPF_PROFILE_KIND_TABLE_H

#include <stdint.h>

#include <pkbpf/event.h>

enum profile_weight {
	PROFILE_WEIGHT_COUNT, /* weight is a number of events */
	PROFILE_WEIGHT_NS,    /* weight is a time */
};

struct profile_kind_row {
	const char *name;	 /* as in --events: "cpu" */
	const char *title;	 /* for headings: "CPU" */
	const char *count_unit;	 /* what one event is called, plural: "samples", "waits" */
	const char *folded_unit; /* unit of the numbers in folded stacks: "samples", "us" */
	uint64_t folded_divisor; /* weight / divisor = folded number */
	enum profile_weight weight;
};

/* The row of the kind; never NULL (a kind of a later version gives a neutral row). */
const struct profile_kind_row *profile_kind_row(enum pkbpf_profile_kind kind);

/* weight in folded_unit, rounded to the nearest. */
uint64_t profile_kind_folded(enum pkbpf_profile_kind kind, uint64_t weight);

#endif
