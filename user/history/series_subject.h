/* SPDX-License-Identifier: BSD-2-Clause */
/* What a series is of: a figure of processes or of the machine, or one of regions by name. */
#ifndef PKBPF_HISTORY_SERIES_SUBJECT_H
#define PKBPF_HISTORY_SERIES_SUBJECT_H

#include "finding/region_condition.h"
#include "rows/figure_table.h"

struct series_subject {
	const struct figure *figure;	/* NULL: it is of regions */
	struct region_condition region; /* its figure, name ("*": each) and limit_ns */
};

/* "blockio.p99", "region[predict].p99", "region[*].p99". -EINVAL with the sentence. */
int series_subject_parse(const char *text, struct series_subject *ret_subject, struct error *error);
/* As it is parsed: "blockio.p99". */
#define SERIES_SUBJECT_SIZE 128
const char *series_subject_text(const struct series_subject *subject,
				char text[SERIES_SUBJECT_SIZE]);
const char *series_subject_summary(const struct series_subject *subject);
enum figure_unit series_subject_unit(const struct series_subject *subject);
/* Does it grow with the interval, so that per second it can be compared? */
bool series_subject_adds_up(const struct series_subject *subject);

#endif
