/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats of a benchmark: a file that defines bench_format_<name>, and its row here, each. */
#ifndef PKBPF_BENCH_BENCH_FORMAT_H
#define PKBPF_BENCH_BENCH_FORMAT_H

#include <stdio.h>

#include "base/file_format.h"
#include "bench/bench.h"
#include "bench/bench_explain.h"
#include "bench/bench_gate.h"
#include "bench/outlier.h"
#include "bench/verdict.h"

#define BENCH_FORMATS(ROW)                                                                         \
	ROW(text) ROW(json) ROW(csv) ROW(markdown) ROW(junit) ROW(hyperfine) ROW(svg)

/* A variant against the one that it is compared with. */
struct bench_pair {
	uint32_t base, new; /* variants */
	struct bench_comparison figures[BENCH_FIGURES];
	/* That of wall time; when that cannot tell, of CPU time if it can: beside a busy neighbour
	 * a clock on the wall measures the neighbour. */
	struct bench_comparison decision;
	char states[BENCH_SENTENCE_SIZE]; /* bench_verdict_states() */
};

struct bench_document {
	const struct bench *bench;
	const struct bench *baseline; /* the base of all pairs; NULL: variant 0 of bench is */
	const char *baseline_path;
	ARRAY_OF(struct bench_pair) pairs;
	struct bench_judgement judgement;
	struct outliers outliers;
	double trend;
	ARRAY_OF(struct bench_gate_result) gates;
	ARRAY_OF(struct bench_explanation) explanations; /* of pairs, or of one variant */
	unsigned int width;				 /* for people; 0: the usual */
	bool full;
};

/* Compares. baseline may be NULL. -ENOMEM. */
int bench_document_init(struct bench_document *document, const struct bench *bench,
			const struct bench *baseline, double threshold, double risk);
void bench_document_done(struct bench_document *document);
/* The side of a pair that is compared with. */
const struct bench *bench_document_base(const struct bench_document *document);

/* The decision in words, with what wall time says when it is not that. */
void bench_decision_text(const struct bench_document *document, const struct bench_pair *pair,
			 char *ret_text, size_t size);

struct bench_format_ops {
	struct file_format file;
	bool needs_gates; /* is empty without */
	bool needs_explanation;
	/* 0 or negative errno; stream errors are found by the caller's commit. */
	int (*write)(const struct bench_document *document, FILE *out);
};

const struct file_format *bench_format_at(size_t index); /* NULL at the end */
/* What such a row is the beginning of. */
const struct bench_format_ops *bench_format_of(const struct file_format *file);

#define BENCH_FORMAT_DECLARE(name) extern const struct bench_format_ops bench_format_##name;
BENCH_FORMATS(BENCH_FORMAT_DECLARE)
#undef BENCH_FORMAT_DECLARE

#endif
