// SPDX-License-Identifier: BSD-2-Clause
/* Tells tables of Go programs from other bytes. */
#include "base/go_table.h"

#define PAIR_BYTES 8

bool go_table_is_header(const struct go_table_header *header, uint64_t size)
{
	return (header->magic == GO_TABLE_MAGIC_1_18 || header->magic == GO_TABLE_MAGIC_1_20) &&
	       header->zero[0] == 0 && header->zero[1] == 0 && header->pointer_size == 8 &&
	       header->functions_offset < size && header->function_count > 0 &&
	       header->function_count < (size - header->functions_offset) / PAIR_BYTES;
}
