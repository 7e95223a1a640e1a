/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the debug information of all files together may cost. It is the target's own, and a few
 * megabytes of it can be made to take hours and all memory: thousands of functions that share one
 * list of a million ranges, units that share one table. Counts of entries do not bound that, for
 * one call of libdw may pass over all of them, so CPU time is what is counted. One owner thread.
 */
#ifndef PKBPF_SYMBOL_DWARF_DWARF_BUDGET_H
#define PKBPF_SYMBOL_DWARF_DWARF_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

/* CPU time, of which a file may use a quarter of what is left: those that come after a bad one are
 * still read. */
#define DWARF_BUDGET_CPU_NS	(40 * NS_PER_SECOND)
#define DWARF_BUDGET_FILE_SHARE 4
/* A run without an end meets ever new files: of the time that passes, so much comes back. */
#define DWARF_BUDGET_RETURN_SHARE 20
/* Debug sections are read into memory as a whole. */
#define DWARF_BUDGET_BYTES (1ULL << 30)
/* Line programs: a byte may be a row, which takes 64 in memory. */
#define DWARF_BUDGET_LINE_BYTES (32ULL << 20)

struct dwarf_budget {
	uint64_t cpu_ns, bytes, line_bytes; /* left */
	uint64_t returned_ns; /* CLOCK_MONOTONIC, until when CPU time has come back; 0: not begun */
	uint64_t open_ns;     /* went by in questions and is not charged yet */
	uint64_t looked_cpu_ns; /* CPU time of the thread at the last charge */
};

#define DWARF_BUDGET_FULL                                                                          \
	((struct dwarf_budget){.cpu_ns = DWARF_BUDGET_CPU_NS,                                      \
			       .bytes = DWARF_BUDGET_BYTES,                                        \
			       .line_bytes = DWARF_BUDGET_LINE_BYTES})

/* What one file has used of it. */
struct dwarf_spending {
	struct dwarf_budget *budget;
	uint64_t limit_ns; /* 0: not begun */
	uint64_t spent_ns;
	uint64_t since_ns; /* CLOCK_MONOTONIC, what came before is in the budget's open_ns */
	bool over;
};

/* Gives back what has come back until now; each file's first question does. */
void dwarf_budget_return(struct dwarf_budget *budget, uint64_t now_ns);
/* Before each question. false: nothing is left for the file. */
bool dwarf_spending_begin(struct dwarf_spending *spending);
/* Whether the work has to stop: for inner loops, and after each question. */
bool dwarf_spending_over(struct dwarf_spending *spending);

#endif
