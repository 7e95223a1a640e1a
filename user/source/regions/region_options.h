/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of the source of regions. */
#ifndef PKBPF_SOURCE_REGIONS_REGION_OPTIONS_H
#define PKBPF_SOURCE_REGIONS_REGION_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <pkbpf/span.h>

#include "base/option_row.h"
#include "source/regions/usdt_pairs.h"

/* The most pairs that a user may name. */
#define REGION_PAIRS_MAX    32
#define REGION_PATTERNS_MAX 64

struct source_options;

/* Regions of a name that take longer than that are counted. */
struct region_limit {
	char name[PKBPF_SPAN_NAME]; /* padded with NULs */
	uint64_t ns;
};

struct region_limits {
	struct region_limit items[PKBPF_SPAN_LIMITS];
	size_t count;
};

struct region_options {
	bool wanted;
	bool frames; /* stacks begin with the regions that they are in; wants regions as well */
	const char *pairs[REGION_PAIRS_MAX]; /* NAME=usdt:..., checked; borrowed */
	size_t pair_count;
	const char *functions[REGION_PATTERNS_MAX]; /* patterns, checked; borrowed */
	size_t function_count;
	const char *syscalls[REGION_PATTERNS_MAX]; /* patterns of names, checked; borrowed */
	size_t syscall_count;
	const char *kernel[REGION_PATTERNS_MAX]; /* patterns of names; borrowed */
	size_t kernel_count;
	uint32_t max_probes;	/* most functions */
	uint32_t cost_permille; /* of each CPU: what their probes may cost */
	/* Those that take at least so long are listed one by one; UINT64_MAX: none are. */
	uint64_t slow_region_ns, slow_function_ns;
	size_t slow_count; /* at most */
	bool callers;	   /* calls by stack, too: the kind of event CALLS */
	struct region_limits limits;
	uint32_t budget_ppm; /* of one CPU: what probes of markers and USDT may cost; 0: anything */
};

/* The first one of a name counts. 0: regions of this name are counted from this limit on;
 * -EEXIST: from another one on; -ENOSPC: PKBPF_SPAN_LIMITS names have one. */
int region_limits_add(struct region_limits *limits, const char *name, uint64_t ns);
void region_options_init(struct source_options *options);

/* The pair in a checked text "NAME=usdt:PROVIDER:BEGIN..END[@N]", which is cut into pieces and
 * kept. false: it is nothing like that. */
bool region_pair_parse(char *text, struct usdt_pair *ret_pair);

/* Rows about struct source_options; the last one has no name. */
extern const struct option_row region_option_rows[];

#endif
