/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The function table that every Go program carries for its run-time (.gopclntab), stripped or not.
 *
 * Format: Go 1.18 and newer (src/runtime/symtab.go: pcHeader, functab, _func).
 */
#ifndef PKBPF_ELF_GO_TABLE_H
#define PKBPF_ELF_GO_TABLE_H

#include "elf/cfi_reader.h"
#include "elf/elf_file.h"

struct go_table {
	/* Of the table in the file; the other offsets count from there. */
	uint64_t offset, size;
	uint64_t function_count;
	uint64_t text; /* address as linked that functions count from */
	uint64_t names_offset, names_size;
	uint64_t values_offset; /* tables of the stack pointer, by instruction */
	/* function_count pairs of a start and the offset of a record from here, and a last start */
	uint64_t functions_offset;
	bool has_start_lines; /* in records: since Go 1.20 */
	uint8_t *data;	      /* from data_offset to the end; NULL: not loaded */
	uint64_t data_offset;
};

/* One function; a record that is cut off reads as 0. */
struct go_function {
	uint32_t start; /* from text on */
	uint32_t size;	/* 0: none */
	int32_t name;
	uint32_t values; /* in the tables of the stack pointer; 0: none */
	uint8_t flags;	 /* funcFlag */
};

/* Whether it is a Go program, with a table or without. */
bool go_table_is_expected(const struct elf_file *file);
/* Without data. -ENOENT: no Go program, a table of another format, or nobody knows where its text
 * begins. */
int go_table_find(const struct elf_file *file, struct go_table *ret_table);
/* The bytes from values_offset or functions_offset on, with a limit. -EFBIG, -EIO, -ENOMEM. */
int go_table_load(struct go_table *table, const struct elf_file *file, uint64_t from,
		  uint64_t max_size);
void go_table_done(struct go_table *table);
/* index < function_count; of a table with data. */
struct go_function go_table_function(const struct go_table *table, uint64_t index);

/* A cursor over the stack pointer tables, of a table loaded from values_offset on. */
static inline struct cfi_reader go_table_values(const struct go_table *table)
{
	return (struct cfi_reader){.at = table->data,
				   .end = table->data +
					  (table->functions_offset - table->values_offset)};
}

#endif
