// SPDX-License-Identifier: BSD-2-Clause
/* The parts of a row: a row each. */
#include "base/array.h"
#include "rows/resource_rows.h"

static const struct row_part *const parts[] = {
#define X(name) &row_##name##_part,
	ROW_PART_LIST(X)
#undef X
		& row_threads_part,
};

const struct row_part *row_part_at(size_t index)
{
	return index < ARRAY_SIZE(parts) ? parts[index] : NULL;
}
