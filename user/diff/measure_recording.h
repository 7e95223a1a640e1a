/* SPDX-License-Identifier: BSD-2-Clause */
/* Recordings as values to compare, a value per slice. */
#ifndef PKBPF_DIFF_MEASURE_RECORDING_H
#define PKBPF_DIFF_MEASURE_RECORDING_H

#include "base/error.h"
#include "diff/measurement.h"
#include "recording/slice_choice.h"

/* Adds the slices of a file, behind those there are. It continues the run before when it is of the
 * same capture and begins where that ends, as the files of --every do; else it is a run of its own.
 * choice NULL: all of it. *damaged grows by the slices that could not be read. Errors of
 * recording_set_add() and recording_set_read(), with the sentence. */
int measure_recording(struct measurement *measurement, const char *path,
		      const struct slice_choice *choice, size_t *damaged, struct error *error);

#endif
