/* SPDX-License-Identifier: BSD-2-Clause */
/* Documents for people made from a profile: one file and one row of report_table.c each. */
#ifndef PKBPF_REPORT_REPORT_H
#define PKBPF_REPORT_REPORT_H

#include <stdio.h>

#include "rows/resource_rows.h"

struct report_options {
	unsigned int top; /* rows per table */
	bool color;
	bool per_thread;
	bool lines;
	enum rows_by by;
};

struct report_ops {
	const char *name;   /* "text" */
	const char *suffix; /* ".txt" */
	const char *summary;
	int (*write)(const struct profile *profile, const struct report_options *options,
		     FILE *out);
};

const struct report_ops *report_by_name(const char *name);
const struct report_ops *report_by_suffix(const char *path);
const struct report_ops *report_at(size_t index);

#endif
