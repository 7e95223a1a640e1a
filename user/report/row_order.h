/* SPDX-License-Identifier: BSD-2-Clause */
/* Orders of the rows in the report, each by a column that is shown. */
#ifndef PKBPF_REPORT_ROW_ORDER_H
#define PKBPF_REPORT_ROW_ORDER_H

#include "rows/resource_rows.h"

enum row_order {
	ROW_ORDER_ACTIVE, /* the default */
	ROW_ORDER_CPU,
	ROW_ORDER_USER,
	ROW_ORDER_SYS,
	ROW_ORDER_RUNQUEUE,
	ROW_ORDER_DISK,
	ROW_ORDER_SLEEP,
	ROW_ORDER_CSWCH,
	ROW_ORDER_NVCSWCH,
	ROW_ORDER_READ,
	ROW_ORDER_WRITTEN,
	ROW_ORDER_P99,
	ROW_ORDER_RSS,
	ROW_ORDER_GROWTH,
	ROW_ORDER_MINFLT,
	ROW_ORDER_MAJFLT,
	ROW_ORDER_PID,
	ROW_ORDER_COMM,
	ROW_ORDER_COUNT,
};

/* "active", "%CPU", "run-queue": the columns as --sort takes them; ends in NULL. */
extern const char *const row_order_names[ROW_ORDER_COUNT + 1];

/* "active time: on-CPU, run queue, disk wait, D state", "%CPU": for headings. */
const char *row_order_text(enum row_order order);
/* Active time: on CPUs, and kept from them by others, by disks or by the kernel. */
uint64_t row_order_active_ns(const struct resource_row *row);
/* The shown rows, largest value first, names and numbers in their order; the caller frees them.
 * NULL: out of memory. */
const struct resource_row **row_order_sort(const struct resource_rows *rows, enum row_order order);

#endif
