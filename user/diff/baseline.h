/* SPDX-License-Identifier: BSD-2-Clause */
/* Measurements of several runs as a file: magic, checksum, and zlib over numbers of packed_bytes.h.
 */
#ifndef PKBPF_DIFF_BASELINE_H
#define PKBPF_DIFF_BASELINE_H

#include <stdio.h>

#include "base/error.h"
#include "diff/measurement.h"

#define BASELINE_MAGIC	    "PKBPFBL1"
#define BASELINE_BYTES_MAX  (256ULL << 20) /* unpacked */
#define BASELINE_RUNS_MAX   64
#define BASELINE_SLICES_MAX (1U << 20)

/* Not finished yet. -ENOMEM; errors of the stream are the caller's to find. */
int baseline_write(const struct measurement *measurement, FILE *out);
/* Adds the runs of a file behind those there are. -EBADMSG: damaged; -EFBIG, -ENOMEM; with the
 * sentence, which begins behind the name of the file. After an error, the measurement is only for
 * measurement_done(). */
int baseline_read(struct measurement *measurement, const void *data, size_t size,
		  struct error *error);
/* The same of what is packed in a file, for tests. */
int baseline_read_plain(struct measurement *measurement, const void *plain, size_t size,
			struct error *error);

#endif
