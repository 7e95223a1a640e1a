// SPDX-License-Identifier: BSD-2-Clause
/* Adds up bytes read and written by the kernel's account. */
#include "rows/part/row_storage.h"

#include "base/array.h"
#include "rows/figure.h"
#include "rows/resource_rows.h"

static const struct figure figures[] = {
	FIGURE_ROW("storage", "read", BYTES, storage.read_bytes, ROW_HAS_USAGE,
		   "bytes read from storage", .is_activity = true),
	FIGURE_ROW("storage", "written", BYTES, storage.written_bytes, ROW_HAS_USAGE,
		   "bytes dirtied, which are written to storage later", .is_activity = true),
};

static void add_used(struct resource_row *row, const struct resource_counters *used)
{
	row->storage.read_bytes += used->read_bytes;
	row->storage.written_bytes += used->written_bytes;
}

const struct row_part row_storage_part = {
	.figures = figures,
	.figure_count = ARRAY_SIZE(figures),
	.add_used = add_used,
};
