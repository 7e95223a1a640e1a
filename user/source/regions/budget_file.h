/* SPDX-License-Identifier: BSD-2-Clause */
/* A file with probes of regions that may be taken off: its sites, and the names of its regions. */
#ifndef PKBPF_SOURCE_REGIONS_BUDGET_FILE_H
#define PKBPF_SOURCE_REGIONS_BUDGET_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/error.h"
#include "process/process_table.h"
#include "source/regions/region_budget.h"
#include "source/regions/region_duty.h"

struct budget_file {
	int fd; /* owned */
	char *path;
	struct stat stat;
	ARRAY_OF(uint32_t) mapped;     /* its ids as a mapped file */
	uint32_t number;	       /* of its entry in the table of sites */
	struct region_gap_names names; /* of regions that it had */
	struct region_sites begins, ends;
	struct region_probes *begin_probes, *end_probes; /* NULL: they are off */
	uint64_t off_ns;    /* since when the begins are off; 0: they are on */
	uint64_t cost_ns;   /* in this slice */
	uint64_t missed_ns; /* in this slice, up to off_ns */
	bool was_watched;   /* in this slice */
	struct region_duty duty;
	uint32_t said_shift;
};

/* NULL: out of memory, or the descriptor is no file's, with the sentence. */
struct budget_file *budget_file_new(const struct region_budget_file *from, struct error *error);
/* Accepts NULL; takes the probes off. */
void budget_file_free(struct budget_file *file);
/* Another id as a mapped file. -ENOMEM. */
int budget_file_note_id(struct budget_file *file, uint32_t mapped_file);
bool budget_file_is(const struct budget_file *file, const struct stat *stat);
bool budget_file_is_mapped_by(const struct budget_file *file, struct process_table *processes,
			      const struct process *process);
/* By a process that has not ended. */
bool budget_file_is_mapped(const struct budget_file *file, struct process_table *processes);
/* Remembers the names of its regions: they are missed while it has no probes, in processes that
 * have no row yet or any more as well. */
void budget_file_note_names(struct budget_file *file, struct process_table *processes,
			    const volatile struct pkbpf_span_row *rows, uint32_t row_count);
/* Ends may be missed: they come off with the begins, at the same place, or are off already. */
bool budget_file_lacks_ends(const struct budget_file *file);

#endif
