/* SPDX-License-Identifier: BSD-2-Clause */
/* The sections of the text report, in the order in which they are printed. Each returns 0 or
 * -ENOMEM. */
#ifndef PKBPF_REPORT_TEXT_SECTIONS_H
#define PKBPF_REPORT_TEXT_SECTIONS_H

#include "report/report.h"
#include "report/resource_rows.h"
#include "report/tally.h"

struct text_report {
	const struct profile *profile;
	const struct report_options *options;
	FILE *out;
};

/* "\nTitle\n", bold when colour is wanted. */
void text_heading(const struct text_report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* "  … and 12 more processes", when there are. */
void text_more(const struct text_report *report, uint64_t count, const char *noun);
/* Length of the interval, 0 when it is not known. */
uint64_t text_interval_ns(const struct text_report *report);

void text_header(const struct text_report *report);
/* What every process used; nothing without rows. */
int text_resources(const struct text_report *report, const struct resource_rows *rows);
/* At the end of the report: what limits whom; nothing when no rule holds. */
void text_verdict(const struct text_report *report, const struct resource_rows *rows);
/* Only for a kind that has rows. */
int text_processes(const struct text_report *report, const struct tally *tally);
int text_functions(const struct text_report *report, const struct tally *tally);
void text_stacks(const struct text_report *report, const struct tally *tally);
/* Nothing when there were no page faults. */
int text_faults(const struct text_report *report);
/* Nothing when there was no block I/O. */
int text_devices(const struct text_report *report);
/* Nothing when no off-CPU time was measured. */
int text_waits(const struct text_report *report);
int text_unnamed(const struct text_report *report, const struct tally *tally);

#endif
