/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports in JSON, as values to compare: those of processes, or of containers. */
#ifndef PKBPF_DIFF_MEASURE_JSON_H
#define PKBPF_DIFF_MEASURE_JSON_H

#include "base/error.h"
#include "diff/measurement.h"

/* Adds a report as one run of one slice. It has no functions: those that it lists are the hottest
 * alone. -EBADMSG: no report, or damaged; -ENOTSUP: of a later version; -ENOMEM; with the sentence,
 * which begins behind the name of the file. */
int measure_json(struct measurement *measurement, const char *data, size_t size,
		 struct error *error);

#endif
