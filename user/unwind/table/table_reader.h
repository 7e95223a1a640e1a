/* SPDX-License-Identifier: BSD-2-Clause */
/* Has tables built by a process without rights (reader/readers.h). */
#ifndef PKBPF_UNWIND_TABLE_TABLE_READER_H
#define PKBPF_UNWIND_TABLE_TABLE_READER_H

#include "reader/readers.h"
#include "unwind/table/unwind_table.h"

/* READER_BUILDS_TABLE, in a reader. */
int table_reader_serve(const struct reader_request *request, struct reader_reply *reply);

/* A table that is wanted. */
struct table_order {
	struct readers *readers; /* NULL: it is built here */
	const struct elf_file *image;
	const char *path; /* for what is said; NULL: none */
	bool postpone;
};

struct table_job {
	struct table_order order;
	struct reader_asked asked;
	/* private */
	struct reader_question question;
	uint32_t request;
};

/* Has a reader begin with job->order; the job stays where it is until the table is taken or
 * dropped. Errors as those of readers_begin(). */
int table_reader_begin(struct table_job *job, enum reader_lane lane);
/* -EAGAIN: it is not ready. Errors else as those of unwind_table_build() and readers_ask().
 * *ret_lacks_rules: some of the table's rules found no room, also when it fails. */
int table_reader_take(struct table_job *job, struct rule_set *rules,
		      struct unwind_table **ret_table, bool *ret_lacks_rules);
/* Nobody wants it any more. */
void table_reader_drop(struct table_job *job);
/* Without a reader. */
int table_reader_build_here(const struct table_order *order, struct rule_set *rules,
			    struct unwind_table **ret_table, bool *ret_lacks_rules);

#endif
