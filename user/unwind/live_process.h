/* SPDX-License-Identifier: BSD-2-Clause */
/* One live process without BPF: unwind tables of its mappings, stacks of its threads. */
#ifndef PKBPF_UNWIND_LIVE_PROCESS_H
#define PKBPF_UNWIND_LIVE_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "process/address_space.h"
#include "process/file/mapped_file.h"
#include "unwind/step.h"

enum live_table {
	LIVE_TABLE_READY,
	LIVE_TABLE_ANONYMOUS, /* no file: code made at run time */
	LIVE_TABLE_NO_FILE,   /* the file cannot be opened */
	LIVE_TABLE_NOT_ELF,
	LIVE_TABLE_NO_INFO, /* the file has no unwind information */
	LIVE_TABLE_COUNT,
};

const char *live_table_text(enum live_table state); /* "no unwind information: frame pointers", … */

struct live_mapping {
	uint64_t start, end; /* end exclusive */
	const char *path;    /* "" when anonymous; lives as long as the mapped_file_table */
	enum live_table state;
	uint32_t rows;	/* of the whole file */
	uint64_t bytes; /* of the file's table */
	/* code without unwind information, of which the instructions were read */
	uint64_t followed_bytes;
	uint64_t left_out_bytes; /* such code that is too much to be read: frame pointers */
};

struct live_process;

/* Builds the tables of every executable mapping in space, which files and space are borrowed until
 * free. */
int live_process_new(uint32_t pid, struct mapped_file_table *files,
		     const struct address_space *space, struct live_process **ret_process,
		     struct error *error);
void live_process_free(struct live_process *process);
/* Ascending by address; NULL behind the last. */
const struct live_mapping *live_process_mapping(const struct live_process *process, size_t index);

/*
 * Stops the thread by ptrace for as long as the unwinding takes (tens of microseconds), fills at
 * most limit ips, leaf first and with PKBPF_INTERRUPTED, and lets it go on. *ret_in_system_call:
 * the leaf is the return from a system call. PKBPF_END_NONE: it has no stack in user mode. -ESRCH:
 * the thread is gone; -EPERM: it may not be traced, or a debugger traces it already; -ETIMEDOUT: it
 * sleeps in the kernel where it cannot be stopped (a second has been waited; it goes on unharmed).
 */
int live_process_walk(struct live_process *process, uint32_t tid, uint64_t *ips, size_t limit,
		      struct unwind_walk_result *ret_result, bool *ret_in_system_call);

#endif
