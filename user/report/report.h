/* SPDX-License-Identifier: BSD-2-Clause */
/* The text report. */
#ifndef PKBPF_REPORT_REPORT_H
#define PKBPF_REPORT_REPORT_H

#include <stdio.h>

#include "finding/results.h"

struct report_options {
	unsigned int top; /* rows per table */
	bool color;
	bool details; /* with counters and legends that ask nothing of the reader */
	bool lines;   /* file:line of functions */
};

/* Errors of the stream are the caller's to find. -ENOMEM. */
int report_write(struct results *results, const struct report_options *options, FILE *out);

#endif
