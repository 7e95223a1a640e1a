/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page that a reader gets first: its sections, in the order in which they are printed. Each
 * writes at most `lines` lines; nothing when it has nothing to say. 0 or -ENOMEM.
 */
#ifndef PKBPF_REPORT_SUMMARY_H
#define PKBPF_REPORT_SUMMARY_H

#include "report/comm_groups.h"
#include "report/path_tree.h"
#include "report/text_sections.h"
#include "rows/plumbing.h"

struct summary {
	struct text_report report; /* out: of the section that is being written */
	const struct resource_rows *rows;
	const struct findings *findings; /* NULL: nobody could look for any */
	struct plumbing plumbing;
	struct comm_groups comms;
	bool is_host;
};

int summary_write(struct results *results, const struct text_report *report);

int summary_title(const struct summary *summary, size_t lines);
int summary_findings(const struct summary *summary, size_t lines);
int summary_processes(const struct summary *summary, size_t lines);
int summary_on_cpu(const struct summary *summary, size_t lines);
int summary_python(const struct summary *summary, size_t lines);
int summary_off_cpu(const struct summary *summary, size_t lines);
int summary_locks(const struct summary *summary, size_t lines);
int summary_storage(const struct summary *summary, size_t lines);
int summary_network(const struct summary *summary, size_t lines);
int summary_memory(const struct summary *summary, size_t lines);
int summary_regions(const struct summary *summary, size_t lines);
int summary_calls(const struct summary *summary, size_t lines);
int summary_callers(const struct summary *summary, size_t lines);
int summary_slow_regions(const struct summary *summary, size_t lines);
int summary_gpu_calls(const struct summary *summary, size_t lines);
int summary_python_calls(const struct summary *summary, size_t lines);
int summary_requests(const struct summary *summary, size_t lines);
int summary_heap(const struct summary *summary, size_t lines);
int summary_resident(const struct summary *summary, size_t lines);
int summary_notes(const struct summary *summary, size_t lines);

/* A wait that tells something of its place: not on the run queue, nor of a thread that slept all
 * the time. Of a whole host, no sleep: it is mostly of services that have nothing to do. */
bool summary_is_wait(const struct summary *summary, const struct profile_row *row);

/* The call tree of each kind, below the title. 0 or -ENOMEM. */
int text_tree(const struct summary *summary);

/* Which stacks of a kind are joined, and how their lines begin. */
struct summary_stacks {
	enum pkbpf_profile_kind kind;
	bool (*is_chosen)(const struct summary *summary,
			  const struct profile_row *row); /* NULL: all */
	/* Text before the path of a line, with the same columns for all lines. */
	void (*label)(char *text, size_t size, const struct path_weight *weight, uint64_t whole);
};

int summary_join_stacks(const struct summary *summary, const struct summary_stacks *stacks,
			struct path_tree *ret_tree);
/* Writes `title`, unless it is NULL, and the paths below it, or nothing when there is no room.
 * Returns the number of lines. */
size_t summary_write_stacks(const struct summary *summary, const struct summary_stacks *stacks,
			    struct path_tree *tree, const char *title, size_t lines);

#endif
