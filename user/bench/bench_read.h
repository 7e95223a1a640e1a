/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a benchmark back from the JSON that an earlier one wrote. */
#ifndef PKBPF_BENCH_BENCH_READ_H
#define PKBPF_BENCH_BENCH_READ_H

#include "base/error.h"
#include "bench/bench.h"

/* Into an empty one, which is for bench_done() in any case. The file comes from strangers.
 * -EBADMSG, -ENOMEM and those of opening files, with the sentence. */
int bench_read(struct bench *bench, const char *path, struct error *error);
/* The same from memory. */
int bench_read_text(struct bench *bench, const char *text, size_t size, struct error *error);

/* Where the machines or their settings differ; "": nowhere. Names what is_identity first. */
void bench_differences(const struct bench *base, const struct bench *new, char *ret_text,
		       size_t size, bool *ret_other_machine);

#endif
