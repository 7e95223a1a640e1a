/* SPDX-License-Identifier: BSD-2-Clause */
/* A figure: a number of a row or of the whole profile. Macros with which parts of rows list theirs.
 */
#ifndef PKBPF_ROWS_FIGURE_H
#define PKBPF_ROWS_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

struct resource_rows;

enum figure_unit {
	FIGURE_COUNT,
	FIGURE_NS,
	FIGURE_BYTES,
	FIGURE_SIGNED_BYTES,
	FIGURE_PERCENT,
};

enum figure_scope {
	FIGURE_OF_ROW, /* and of the sum over all rows */
	FIGURE_OF_RUN, /* of the whole run alone: losses, the machine, the cost */
};

struct figure {
	const char *group, *name;
	enum figure_unit unit;
	enum figure_scope scope;
	const char *summary;
	size_t offset;	    /* of a row's value */
	unsigned int needs; /* enum row_known; all of them */
	size_t max_offset;  /* of lengths: their maximum, without which there was none; else 0 */
	bool is_rate;	    /* a part of the interval, of which a row may have lived a part */
	bool is_largest;    /* of several rows the largest is told, else the sum */
	bool is_level;	  /* of a moment, or a rate: never divided by the length of the interval */
	bool is_activity; /* rows in which no such figure has a value are left out of tables */
	bool (*of_run)(const struct resource_rows *rows, double *ret_value);
};

#define FIGURE_ROW(group_, name_, unit_, field, needs_, summary_, ...)                             \
	{                                                                                          \
		.group = group_, .name = name_, .unit = FIGURE_##unit_, .scope = FIGURE_OF_ROW,    \
		.offset = offsetof(struct resource_row, field), .needs = needs_,                   \
		.summary = summary_, ##__VA_ARGS__                                                 \
	}
#define FIGURE_LENGTH(group_, name_, field, part, needs_, summary_)                                \
	{                                                                                          \
		.group = group_, .name = name_, .unit = FIGURE_NS, .scope = FIGURE_OF_ROW,         \
		.offset = offsetof(struct resource_row, field.part),                               \
		.max_offset = offsetof(struct resource_row, field.max_ns), .needs = needs_,        \
		.is_largest = true, .summary = summary_                                            \
	}
/* Those of a struct row_lengths. */
#define FIGURE_LENGTHS(group_, prefix, field, needs_, what)                                        \
	FIGURE_LENGTH(group_, prefix "p50", field, p50_ns, needs_, "p50 of " what),                \
		FIGURE_LENGTH(group_, prefix "p95", field, p95_ns, needs_, "p95 of " what),        \
		FIGURE_LENGTH(group_, prefix "p99", field, p99_ns, needs_, "p99 of " what),        \
		FIGURE_LENGTH(group_, prefix "max", field, max_ns, needs_, "maximum of " what)

#endif
