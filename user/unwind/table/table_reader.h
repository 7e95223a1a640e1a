/* SPDX-License-Identifier: BSD-2-Clause */
/* Has tables built by a process without rights (reader/readers.h). */
#ifndef PKBPF_UNWIND_TABLE_TABLE_READER_H
#define PKBPF_UNWIND_TABLE_TABLE_READER_H

#include "reader/readers.h"
#include "unwind/table/unwind_table.h"

/* READER_BUILDS_TABLE, in a reader. */
int table_reader_serve(const struct reader_request *request, struct reader_reply *reply);

struct table_order {
	struct readers *readers; /* NULL: it is built here */
	const struct elf_file *image;
	const char *path; /* for what is said; NULL: none */
	bool postpone;
};

/* Like unwind_table_build(), whose errors it has, and those of readers_ask(). *ret_lacks_rules:
 * some of the table's rules found no room, also when it fails. */
int table_reader_build(const struct table_order *order, struct rule_set *rules,
		       struct unwind_table **ret_table, bool *ret_lacks_rules);

#endif
