/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every number of a row, once: what it is called in --fail-if ("blockio.p99"), in JSON ("blockio":
 * {"p99_ns"}) and in CSV ("blockio.p99_ns"). A figure whose events were not recorded is not known
 * and left out, never 0.
 */
#ifndef PKBPF_ROWS_FIGURE_TABLE_H
#define PKBPF_ROWS_FIGURE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rows/figure.h"
#include "rows/resource_rows.h"

/* NULL at the end; figures of a group follow each other. */
const struct figure *figure_at(size_t index);
/* "cpu.share"; a name without a dot means "NAME.total": "lost". NULL: there is none. */
const struct figure *figure_find(const char *name);
/* "_ns", "_bytes", "_percent" or "" */
const char *figure_unit_suffix(enum figure_unit unit);
bool figure_known(const struct figure *figure, const struct resource_row *row);
/* Exact up to 2^53. Of a row (which is ignored for figures of the run); false: not known. */
bool figure_value(const struct figure *figure, const struct resource_rows *rows,
		  const struct resource_row *row, double *ret_value);
/* For writers of whole numbers; of figures of rows that are no percentages. */
uint64_t figure_u64(const struct figure *figure, const struct resource_row *row);

#endif
