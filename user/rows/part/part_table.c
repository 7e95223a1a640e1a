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

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void row_lengths_max(struct row_lengths *to, const struct row_lengths *from)
{
	to->p50_ns = larger(to->p50_ns, from->p50_ns);
	to->p95_ns = larger(to->p95_ns, from->p95_ns);
	to->p99_ns = larger(to->p99_ns, from->p99_ns);
	to->max_ns = larger(to->max_ns, from->max_ns);
}
