// SPDX-License-Identifier: BSD-2-Clause
/* The parts of a row: a row each. */
#include "base/array.h"
#include "rows/resource_rows.h"

static const struct row_part *const parts[] = {
	&row_cpu_part,	  &row_waits_part,   &row_blockio_part, &row_memory_part,
	&row_faults_part, &row_storage_part, &row_threads_part,
};

const struct row_part *row_part_at(size_t index)
{
	return index < ARRAY_SIZE(parts) ? parts[index] : NULL;
}
