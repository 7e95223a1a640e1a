/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The head of the function table that every Go program carries for its run-time (.gopclntab),
 * stripped or not.
 *
 * Format: pcHeader of Go 1.18 and newer (src/runtime/symtab.go). All offsets count from its first
 * byte.
 */
#ifndef PKBPF_BASE_GO_TABLE_H
#define PKBPF_BASE_GO_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define GO_TABLE_MAGIC_1_18 UINT32_C(0xfffffff0)
#define GO_TABLE_MAGIC_1_20 UINT32_C(0xfffffff1)

struct go_table_header {
	uint32_t magic;
	uint8_t zero[2];
	uint8_t instruction_size;
	uint8_t pointer_size;
	uint64_t function_count;
	uint64_t file_count;
	uint64_t text_start; /* 0 in position-independent programs until they are relocated */
	uint64_t names_offset;
	uint64_t units_offset; /* behind the names */
	uint64_t files_offset;
	uint64_t values_offset;
	uint64_t functions_offset; /* function_count pairs of a start and the offset of a record
				      from here, and a last start */
};

/* Whether a table of so many bytes can begin so, with all its pairs inside; the other offsets are
 * not looked at. */
bool go_table_is_header(const struct go_table_header *header, uint64_t size);

#endif
