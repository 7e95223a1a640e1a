/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of any kind that can be compared. */
#ifndef PKBPF_DIFF_MEASURE_FILE_H
#define PKBPF_DIFF_MEASURE_FILE_H

#include "base/error.h"
#include "diff/measurement.h"
#include "recording/slice_choice.h"

/* Adds a recording, a pprof file or a baseline, told apart by their contents. *damaged grows by the
 * slices that could not be read. Negative errno with the sentence, also of what cannot be compared,
 * with the reason. */
int measure_file(struct measurement *measurement, const char *path,
		 const struct slice_choice *choice, size_t *damaged, struct error *error);

#endif
