/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes of a row read from storage and dirtied, from kernel counters. */
#ifndef PKBPF_ROWS_PART_ROW_STORAGE_H
#define PKBPF_ROWS_PART_ROW_STORAGE_H

#include "rows/part/row_part.h"

struct row_storage {
	uint64_t read_bytes, written_bytes;
};

extern const struct row_part row_storage_part;

#endif
