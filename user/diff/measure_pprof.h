/* SPDX-License-Identifier: BSD-2-Clause */
/* pprof files (profile.proto), of pkbpf and of other tools, as values to compare. */
#ifndef PKBPF_DIFF_MEASURE_PPROF_H
#define PKBPF_DIFF_MEASURE_PPROF_H

#include "base/error.h"
#include "diff/measurement.h"

/* Bound of what an unpacked file may hold. */
#define PPROF_BYTES_MAX (256ULL << 20)

/* Adds an unpacked profile as one run of one slice. title: for a program without a name. -EBADMSG:
 * no profile, or damaged; -ENOTSUP: of nothing that can be compared; -ENOMEM; with the sentence,
 * which begins behind the name of the file. */
int measure_pprof(struct measurement *measurement, const void *data, size_t size,
		  struct error *error);
/* The same of a file in gzip or not. */
int measure_pprof_file(struct measurement *measurement, const void *data, size_t size,
		       struct error *error);

#endif
