/* SPDX-License-Identifier: BSD-2-Clause */
/* The sections of the text report, in the order in which they are printed. Each returns 0 or
 * -ENOMEM. */
#ifndef PKBPF_REPORT_TEXT_SECTIONS_H
#define PKBPF_REPORT_TEXT_SECTIONS_H

#include "profile/function_table.h"
#include "report/report.h"
#include "rows/resource_rows.h"
#include "rows/tally.h"

struct source_text;
struct text_table;

/* Instead of tables without a row. */
#define TEXT_NOTHING                                                                               \
	"Nothing was recorded: the targets caused none of the chosen events in the interval, or "  \
	"all of them were lost (see \"samples\")."

struct text_report {
	const struct profile *profile;
	struct source_text *sources; /* NULL: no text of lines */
	const struct report_options *options;
	size_t width;			   /* of a line, in columns */
	const struct resource_row **order; /* the rows as they are printed; NULL: as they are */
	FILE *out;
};

/* "\nTitle\n", bold when colour is wanted. */
void text_heading(const struct text_report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* "  … and 12 more processes", when there are. */
void text_more(const struct text_report *report, uint64_t count, const char *noun);
/* Cells pid and comm of a process in the profile; comm NULL: its own. */
void text_who(struct text_table *table, const struct text_report *report, uint32_t process,
	      const char *comm);
/*
 * "label leaf <- caller <- ...": a stack of the profile, without what is beyond a dozen functions,
 * and without those of the kernel beyond the first kernel_max when others follow.
 */
void text_leaf_frames(const struct text_report *report, const struct function_table *functions,
		      uint32_t stack, size_t kernel_max, const char *label);
/* The stacks of lines 1, 2, ..., count: " #1-3, 7: leaf <- caller", each once. -ENOMEM. */
int text_ranked_stacks(const struct text_report *report, const uint32_t *stacks, size_t count,
		       size_t kernel_max);
bool text_kind_has_rows(const struct profile *profile, enum pkbpf_profile_kind kind);
/* Length of the interval, 0 when it is not known. */
uint64_t text_interval_ns(const struct text_report *report);
/* The BPF programs took more than they may: skipping stacks was not enough. */
bool text_exceeds_limit(const struct text_report *report);

void text_header(const struct text_report *report);
/* What every process used; nothing without rows. */
int text_resources(const struct text_report *report, const struct resource_rows *rows);
/* Lines of at most so many cgroups whose memory is limited, the nearest to its limit first; returns
 * how many. */
size_t text_memory_limits(const struct text_report *report, size_t most);
/* What limits whom; nothing when no rule holds. */
void text_findings(const struct text_report *report, const struct findings *findings);
/* Only for a kind that has rows. */
int text_processes(const struct text_report *report, const struct tally *tally);
int text_functions(const struct text_report *report, const struct tally *tally);
/* Functions of Python by self with the native code they call. */
size_t text_python_count(const struct tally *tally);
/* "Python", "Ruby" or "Python or Ruby", as these functions are. */
const char *text_python_word(const struct tally *tally);
/* A table of the first `shown` of them, with this title of their column. */
int text_python_table(const struct text_report *report, const struct tally *tally,
		      const char *title, size_t shown);
/* Nothing where no line is known, as *ret_known says. */
int text_lines(const struct text_report *report, enum pkbpf_profile_kind kind, bool *ret_known);
/* The same of all kinds, or why there is nothing. */
int text_all_lines(const struct text_report *report);
void text_stacks(const struct text_report *report, const struct tally *tally);
/* Nothing when there were no page faults. */
int text_faults(const struct text_report *report);
int text_heap(const struct text_report *report);
int text_memory(const struct text_report *report);
/* Nothing when there was no block I/O. */
int text_devices(const struct text_report *report);
/* Requests by thread contexts that took longest; nothing when there is none. */
int text_requests(const struct text_report *report, const struct resource_rows *rows);
/* Nothing when no block request was slow. */
int text_slow_io(const struct text_report *report);
/* Nothing when no socket was used. */
int text_peers(const struct text_report *report);
/* Nothing when no off-CPU time was measured. */
int text_waits(const struct text_report *report);
/* Nothing when no thread waited for a lock. */
int text_locks(const struct text_report *report);
/* Nothing without regions. */
int text_regions(const struct text_report *report);
/* Nothing without functions. */
int text_calls(const struct text_report *report);
/* Nothing when no region or call took long. */
int text_slow_regions(const struct text_report *report);
/* Nothing without calls of GPU libraries. */
int text_gpu_calls(const struct text_report *report);
/* Nothing without counts of Python calls. */
int text_python_calls(const struct text_report *report);
int text_unnamed(const struct text_report *report, const struct tally *tally);

#endif
