/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pairs of functions that make a region (--region NAME=function:BEGIN..END): their probes, and what
 * these may cost. Beyond that a region is let go: first no more of it begin, and a second later,
 * when those that were open have ended, the probes of its end come off, too.
 */
#ifndef PKBPF_SOURCE_REGIONS_PAIR_BUDGET_H
#define PKBPF_SOURCE_REGIONS_PAIR_BUDGET_H

#include "base/log.h"
#include "source/regions/region_probes.h"

struct pair_budget;

struct pair_budget_options {
	const struct region_pairs *pairs; /* kept; all kinds of pairs */
	uint32_t cost_permille;		  /* of each CPU: what probes may cost */
	uint32_t cpu_count;
	const struct log *log;
	const struct region_probes *probes; /* with the programs; kept */
};

/* -ENOMEM. */
int pair_budget_new(const struct pair_budget_options *options, struct pair_budget **ret_budget);
/* Measures what probes cost here. sites: the table of the programs; spare: the number of a free
 * one. */
void pair_budget_begin(struct pair_budget *budget, struct pkbpf_span_site *sites, uint32_t spare);
/* Takes the sites of pairs of functions out of those of a file, which have their numbers, and puts
 * probes on them. Errors: what the kernel says, with the sentence; -ENOMEM. */
int pair_budget_take(struct pair_budget *budget, int fd, struct region_sites *sites,
		     struct error *error);
/* Lets go of what costs too much, and marks its rows. now_ns: CLOCK_MONOTONIC. */
void pair_budget_poll(struct pair_budget *budget, uint64_t now_ns, struct pkbpf_span_row *rows,
		      uint32_t row_count);
/* Takes all probes off. */
void pair_budget_remove(struct pair_budget *budget);
void pair_budget_free(struct pair_budget *budget);

#endif
