/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A part of a row: the figures of one kind of event, or of one account of the kernel, and how they
 * are added up. A part is one file here and one row of ROW_PART_LIST (resource_rows.h).
 */
#ifndef PKBPF_ROWS_PART_ROW_PART_H
#define PKBPF_ROWS_PART_ROW_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct distribution;
struct distribution_key;
struct figure;
struct histogram;
struct profile_row;
struct resource_counters;
struct resource_process;
struct resource_row;
struct resource_rows;

/* Of lengths of waits and requests; all 0 when there was none. */
struct row_lengths {
	uint64_t p50_ns, p95_ns, p99_ns, max_ns;
};

/* Lengths that are put together per row. */
struct row_length {
	bool (*has)(const struct distribution_key *key); /* is one of them */
	size_t offset; /* of a struct row_lengths in the row; 0: only for after_lengths() */
};

/* Functions that a part has no need for are NULL. */
struct row_part {
	const struct figure *figures;
	size_t figure_count;
	const struct row_length *lengths;
	size_t length_count;

	/* The kernel's account of a process or a thread. */
	void (*add_used)(struct resource_row *row, const struct resource_counters *used);
	/* What the kernel's account knows of a process beside that; never of a thread. */
	void (*add_process)(struct resource_row *row, const struct resource_process *process);
	void (*add_distribution)(struct resource_row *row, const struct distribution *distribution);
	/* Stacks of one process, thread and moment of its life. */
	void (*add_stack)(const struct resource_rows *rows, struct resource_row *row,
			  const struct profile_row *stack);
	/* When the lengths of all parts are in the row; `histograms` in the order of `lengths`. */
	void (*after_lengths)(struct resource_row *row, const struct histogram *histograms);
	/* When everything has been added: shares, and which figures are known; the kinds that were
	 * recorded are marked already. */
	void (*finish)(const struct resource_rows *rows, struct resource_row *row);
	/* Is there activity in it that no figure marked as such shows? */
	bool (*is_active)(const struct resource_rows *rows, const struct resource_row *row);
};

/* NULL at the end; in the order of the columns of machine formats. */
const struct row_part *row_part_at(size_t index);

#endif
