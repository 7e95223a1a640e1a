/* SPDX-License-Identifier: BSD-2-Clause */
/* Cells that tables of regions and of calls have in common. */
#ifndef PKBPF_REPORT_TEXT_REGION_CELLS_H
#define PKBPF_REPORT_TEXT_REGION_CELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"
#include "report/text_table.h"

/* Four: on-CPU, run queue, sleep and disk as shares of the wall time, as far as that is divided. */
void text_region_parts(struct text_table *table, const struct region_sums *sums);
void text_region_time(struct text_table *table, uint64_t time_ns, bool is_known);

#endif
