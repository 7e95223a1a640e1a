/* SPDX-License-Identifier: BSD-2-Clause */
/* Page faults of a row that were recorded with stacks. */
#ifndef PKBPF_ROWS_PART_ROW_FAULTS_H
#define PKBPF_ROWS_PART_ROW_FAULTS_H

#include "rows/part/row_part.h"

/* Page faults were recorded. */
#define ROW_HAS_FAULTS ROW_HAS_KIND(PKBPF_PROFILE_FAULTS)

struct row_faults {
	uint64_t sampled; /* behind the recorded stacks */
};

extern const struct row_part row_faults_part;

#endif
