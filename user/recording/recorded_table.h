/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrays of structs as bytes, column by column, from one description for both directions
 * (profile/account/recorded_columns.h). */
#ifndef PKBPF_RECORDING_RECORDED_TABLE_H
#define PKBPF_RECORDING_RECORDED_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "profile/account/recorded_columns.h"
#include "recording/packed_bytes.h"
#include "recording/recorded_strings.h"

/* Appends the rows to bytes; a failure is bytes->failed. Members that refer to others hold what is
 * written: places, and of RECORDED_NAME the number of the string. */
void recorded_table_encode(const struct recorded_table *table, const void *rows, size_t count,
			   struct recorded_strings *strings, struct packed_bytes *bytes);
/* Reads rows that anybody may have written: numbers may be anything that fits into their member,
 * texts are terminated. The caller frees the array, which strings outlives. -EBADMSG, -ENOMEM. */
int recorded_table_decode(const struct recorded_table *table, const void *data, size_t size,
			  const struct recorded_strings *strings, void **ret_rows,
			  size_t *ret_count);

#endif
