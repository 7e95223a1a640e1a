/* SPDX-License-Identifier: BSD-2-Clause */
/* Output formats: one file and one row of formats.h each. */
#ifndef PKBPF_EXPORT_FORMAT_H
#define PKBPF_EXPORT_FORMAT_H

#include <stdio.h>

#include "base/file_format.h"
#include "finding/results.h"
#include "report/row_order.h"

struct format_options {
	enum pkbpf_profile_kind kind; /* which kind, for formats that hold one value per stack */
	unsigned int top;	      /* rows per table, for people */
	unsigned int width;	      /* columns of a line, for people; 0: the usual */
	enum row_order order;	      /* of rows, for people */
	bool by_line;		      /* for people: tables of source lines, and no others */
	bool full;		      /* for people: all tables, not the page with the answer */
	bool tree;		      /* for people: call trees instead of tables */
	bool color;		      /* for people */
	bool details;		      /* for people: also what asks nothing of the reader */
	bool per_thread;	      /* root frame names the thread */
	bool pid_frame;		      /* root frame is comm-pid */
	bool lines;		      /* file:line of functions */
	bool wait_states;	      /* as leaf frames */
	bool icicle;		      /* flame graphs with the root on top */
	bool reverse;		      /* flame graphs merged from the leaves */
	bool modules;		      /* flame graphs with one frame per module */
	bool no_row_stacks;	      /* JSON rows without their hottest stacks */
};

/* Of a format that is written slice by slice. State is that of one file. */
struct format_slices {
	/* NULL: out of memory. */
	void *(*begin)(FILE *out, const struct format_options *options);
	/* Appends a slice. Negative errno: what was added before is whole. */
	int (*add)(void *state, const struct profile *slice);
	/* A file cut to this size can be read; 0: it holds nothing yet. NULL: only a whole file
	 * can. */
	uint64_t (*whole_bytes)(const void *state);
	int (*end)(void *state);
	void (*free)(void *state); /* NULL is fine */
};

struct format_ops {
	struct file_format file;
	bool one_kind;	  /* holds one profile kind per file */
	bool shows_times; /* how weights lie in time, if the profile was made of slices */
	bool needs_lines; /* of source, which are not looked up without need */
	bool shows_gpu_calls;
	bool only_stacks; /* nothing of the kernel's account, which then need not be read */
	/* 0 or negative errno; stream errors are found by the caller's commit. */
	int (*write)(struct results *results, const struct format_options *options, FILE *out);
	const struct format_slices *slices; /* NULL: written at once, of the merged slices */
};

/* Writes a profile as the only slice of a format's file. */
int format_write_slices(const struct format_ops *format, struct results *results,
			const struct format_options *options, FILE *out);

const struct file_format *format_at(size_t index); /* NULL at the end */
/* What such a row is the beginning of; NULL of NULL. */
const struct format_ops *format_of(const struct file_format *file);
/* NULL when unknown. */
const struct format_ops *format_by_name(const char *name);

#endif
