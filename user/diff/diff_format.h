/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats of a comparison: a file that defines diff_format_<name>, and its row here, each. */
#ifndef PKBPF_DIFF_DIFF_FORMAT_H
#define PKBPF_DIFF_DIFF_FORMAT_H

#include <stdio.h>

#include "base/file_format.h"
#include "diff/comparison.h"
#include "diff/diff_condition.h"

#define DIFF_FORMATS(ROW)                                                                          \
	ROW(text) ROW(json) ROW(markdown) ROW(junit) ROW(folded) ROW(svg) ROW(html)

struct diff_document {
	const struct comparison *comparison;
	const char *titles[DIFF_SIDES]; /* names of the files */
	const struct diff_condition_result *conditions;
	size_t condition_count;
	unsigned int width; /* for people; 0: the usual */
	bool full, color, icicle;
	bool without_head; /* somebody else says what is compared */
	uint32_t kind;	   /* for formats that hold one */
};

struct diff_format_ops {
	struct file_format file;
	bool one_kind;	       /* of which a file holds one */
	bool needs_conditions; /* is empty without */
	/* 0 or negative errno; stream errors are found by the caller's commit. */
	int (*write)(const struct diff_document *document, FILE *out);
};

const struct file_format *diff_format_at(size_t index); /* NULL at the end */
/* NULL when unknown. */
const struct diff_format_ops *diff_format_by_name(const char *name);
/* What such a row is the beginning of; NULL of NULL. */
const struct diff_format_ops *diff_format_of(const struct file_format *file);

#define DIFF_FORMAT_DECLARE(name) extern const struct diff_format_ops diff_format_##name;
DIFF_FORMATS(DIFF_FORMAT_DECLARE)
#undef DIFF_FORMAT_DECLARE

#endif
