/* SPDX-License-Identifier: BSD-2-Clause */
/* Unwinds the threads of one live process without BPF, with tables built from its mappings. */
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
	LIVE_TABLE_ANONYMOUS, /* no file: code generated at run time */
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
	uint32_t rows;	/* rows of the whole file */
	uint64_t bytes; /* size of the file's table */
	/* code without unwind information, analyzed from its instructions */
	uint64_t followed_bytes;
	uint64_t left_out_bytes; /* such code beyond the byte cap: frame pointers */
};

struct live_process;

/* Builds the tables of every executable mapping in space. files and space are borrowed until
 * live_process_free(). */
int live_process_new(uint32_t pid, struct mapped_file_table *files,
		     const struct address_space *space, struct live_process **ret_process,
		     struct error *error);
void live_process_free(struct live_process *process);
/* In ascending order of addresses; NULL after the last. */
const struct live_mapping *live_process_mapping(const struct live_process *process, size_t index);

/*
 * Stops the thread by ptrace while it is unwound (tens of microseconds), fills at most limit ips,
 * leaf first and with PKBPF_INTERRUPTED, and resumes it. *ret_in_system_call: the leaf is the
 * return address of a system call. PKBPF_END_NONE: the thread has no user stack. -ESRCH: the thread
 * has exited; -EPERM: no permission to trace it, or another debugger traces it; -ETIMEDOUT: it
 * sleeps in the kernel and could not be stopped within a second (it continues unharmed).
 */
int live_process_walk(struct live_process *process, uint32_t tid, uint64_t *ips, size_t limit,
		      struct unwind_walk_result *ret_result, bool *ret_in_system_call);

#endif
