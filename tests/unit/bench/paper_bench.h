/* SPDX-License-Identifier: BSD-2-Clause */
/* A benchmark on paper, run by run. */
#ifndef PKBPF_TEST_PAPER_BENCH_H
#define PKBPF_TEST_PAPER_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_format.h"
#include "bench/bench_limit.h"
#include "bench/bench_read.h"

static inline struct bench_run *paper_run(struct bench *bench, uint32_t variant, double wall_ns)
{
	uint32_t number = 1 + (uint32_t)bench_run_count(bench, variant);
	struct bench_run *run = array_add(&bench->runs);

	assert_non_null(run);
	run->variant = variant;
	run->number = number;
	bench_run_set(run, BENCH_WALL, wall_ns);
	return run;
}

static inline const struct bench_format_ops *paper_format(const char *name)
{
	for (size_t i = 0; bench_format_at(i); i++)
		if (strcmp(bench_format_at(i)->name, name) == 0)
			return bench_format_of(bench_format_at(i));
	fail_msg("no format %s", name);
	return NULL;
}

/* The caller frees it. gates: borrowed. */
static inline char *paper_write(const struct bench *bench, const char *format,
				const struct bench_gate_result *gates, size_t gate_count)
{
	struct bench_document document;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(bench_document_init(&document, bench, NULL, 0.01, 0.05), 0);
	for (size_t i = 0; i < gate_count; i++) {
		struct bench_gate_result *gate = array_add(&document.gates);

		assert_non_null(gate);
		*gate = gates[i];
	}
	assert_int_equal(paper_format(format)->write(&document, out), 0);
	assert_int_equal(fclose(out), 0);
	bench_document_done(&document);
	return text;
}

#endif
