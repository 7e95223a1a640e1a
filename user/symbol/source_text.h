/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of source files, by the names that targets give them: hostile. A line is read only of a
 * regular file inside the target's root that its user may read, and that has not changed since the
 * target can have read it. One owner thread.
 */
#ifndef PKBPF_SYMBOL_SOURCE_TEXT_H
#define PKBPF_SYMBOL_SOURCE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "process/process_table.h"

/* Files that are longer, or beyond so many, are not read. */
#define SOURCE_TEXT_MAX_BYTES (4U << 20)
#define SOURCE_TEXT_MAX_FILES 256U
/* Longer lines are cut. */
#define SOURCE_TEXT_LINE_BYTES 240U

struct source_text;

struct source_place {
	uint32_t pid;		  /* that runs; 0: it has ended */
	struct process_home home; /* of one that has ended */
	const char *path;
	uint32_t line;		   /* from 1 */
	int64_t not_after_unix_ns; /* when the target can have read it */
};

/* root as in mapped_file_table_new(); processes: borrowed, for what it knows of file servers that
 * do not answer. is_live: the processes are, or were, of this machine in this run; else pids are
 * nobody's. NULL: out of memory. */
struct source_text *source_text_new(const char *root, struct process_table *processes,
				    bool is_live);
void source_text_free(struct source_text *sources);
/* With the rights of the process, below its root; of one that has ended below ours, if that was its
 * root. The line without the white space around it; not escaped, may be cut amid a character. NULL:
 * not to be had. Valid as long as sources. */
const char *source_text_find(struct source_text *sources, const struct source_place *place);

#endif
