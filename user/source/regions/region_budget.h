/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps the probes of markers and of known pairs within what all of them may cost, for captures
 * that do not end: files whose probes are hit too often are watched in some of the slices only
 * (region_duty.h). Begins go first, ends a second later, when what was open has ended. What is
 * open after that is forgotten: its end is not seen.
 */
#ifndef PKBPF_SOURCE_REGIONS_REGION_BUDGET_H
#define PKBPF_SOURCE_REGIONS_REGION_BUDGET_H

#include "base/log.h"
#include "source/regions/region_gap_names.h"
#include "source/regions/region_probes.h"

struct process_table;
struct region_files;
struct region_budget;

struct region_budget_options {
	uint32_t cost_ppm; /* of one CPU: what all probes may cost */
	const struct log *log;
	const struct region_probes *probes; /* with the programs; kept */
	struct process_table *processes;    /* kept */
	/* Files without processes that leave for others are forgotten there; kept. */
	struct region_files *files;
};

/* -ENOMEM. */
int region_budget_new(const struct region_budget_options *options,
		      struct region_budget **ret_budget);
/* What the programs share with it; kept. */
struct region_budget_tables {
	struct pkbpf_span_site *sites;
	uint32_t spare;	    /* the number of a free one */
	int gaps_fd;	    /* until when processes had no probes */
	uint32_t *has_gaps; /* whether there are any */
};

/* Measures what probes cost here. */
void region_budget_begin(struct region_budget *budget, const struct region_budget_tables *tables);
struct region_budget_file {
	int fd;		      /* it is copied */
	const char *path;     /* for what is said */
	uint32_t mapped_file; /* id */
	uint32_t number;      /* of a free entry of the table, which counts the hits of markers */
	const struct region_sites *sites; /* they are copied */
};

/* Puts probes on the sites of a file. Errors: what the kernel says, with the sentence; -ENOMEM. */
int region_budget_take(struct region_budget *budget, const struct region_budget_file *new_file,
		       struct error *error);
/* The same file by another id: in another container. */
void region_budget_note(struct region_budget *budget, int fd, uint32_t mapped_file);
/* Ends a slice that costs many times what it may. now_ns: CLOCK_MONOTONIC. */
void region_budget_poll(struct region_budget *budget, uint64_t now_ns);
/* The slice ends. Adds the names of regions whose files had no probes for a part of it, those that
 * have no row any more included. */
void region_budget_cut(struct region_budget *budget, uint64_t now_ns,
		       const volatile struct pkbpf_span_row *rows, uint32_t row_count,
		       struct region_gap_names *gaps);
/* Chooses what is watched in the next slice, after what is known of the last one was sent. rows:
 * processes that had regions. */
void region_budget_choose(struct region_budget *budget, uint64_t now_ns,
			  const volatile struct pkbpf_span_row *rows, uint32_t row_count);
/* Takes all probes off. */
void region_budget_remove(struct region_budget *budget);
void region_budget_free(struct region_budget *budget);

#endif
