/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The function table that every Go program carries for its run-time (.gopclntab), stripped or not.
 *
 * Formats: Go 1.2, 1.16, 1.18, 1.20, 1.26 and newer (src/runtime/symtab.go: pcHeader, functab,
 * _func). The first two hold full addresses, which position-independent programs have not before
 * they are relocated: those have no function here.
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
	uint64_t values_offset, values_size; /* tables of the stack pointer, by instruction */
	uint64_t functions_offset; /* function_count pairs of a start and the offset of a record,
				      and a last start */
	uint64_t records_offset;   /* that offsets of records count from */
	uint8_t word_size;	   /* of a start, and of an offset in a pair */
	uint8_t unit_bytes, line_bytes; /* of what records have only since some version */
	bool has_flags;
	uint8_t *data; /* from data_offset to the end; NULL: not loaded */
	uint64_t data_offset;
};

/* One function; a record that is cut off reads as 0. */
struct go_function {
	uint64_t start; /* address as linked */
	uint64_t size;	/* 0: none */
	int32_t name;
	uint32_t values; /* in the tables of the stack pointer; 0: none */
	uint8_t flags;	 /* funcFlag, where the table has_flags */
};

/* Whether it is a Go program, with a table or without. */
bool go_table_is_expected(const struct elf_file *file);
/* Without data. -ENOENT: no Go program, a table of another format, or nobody knows where its text
 * begins. */
int go_table_find(const struct elf_file *file, struct go_table *ret_table);
/* The bytes from one of the offsets on to the end, with a limit. -EFBIG, -EIO, -ENOMEM. */
int go_table_load(struct go_table *table, const struct elf_file *file, uint64_t from,
		  uint64_t max_size);
void go_table_done(struct go_table *table);
/* index < function_count; of a table with data. */
struct go_function go_table_function(const struct go_table *table, uint64_t index);

/* Whether a function's name begins with these bytes; of a table loaded from names_offset on. */
bool go_table_name_begins(const struct go_table *table, const struct go_function *function,
			  const char *expected, size_t size);
/* A cursor over the stack pointer tables, of a table loaded from values_offset on or before. */
static inline struct cfi_reader go_table_values(const struct go_table *table)
{
	const uint8_t *at = table->data + (table->values_offset - table->data_offset);

	return (struct cfi_reader){.at = at, .end = at + table->values_size};
}

#endif
