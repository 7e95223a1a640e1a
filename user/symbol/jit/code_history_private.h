/* SPDX-License-Identifier: BSD-2-Clause */
/* What code_history.c, code_follow.c and code_history_symbolizer.c share; nobody else includes
 * this. */
#ifndef PKBPF_SYMBOL_JIT_CODE_HISTORY_PRIVATE_H
#define PKBPF_SYMBOL_JIT_CODE_HISTORY_PRIVATE_H

#include "base/array.h"
#include "base/hash_map.h"
#include "symbol/jit/code_file.h"
#include "symbol/jit/code_places.h"
#include "symbol/jit/code_history.h"
#include "symbol/jit/hotspot_history.h"
#include "symbol/jit/v8_history.h"

#define NO_PARENT UINT32_MAX
/* Of numbers of code: the rest is one of hotspot_history.h. */
#define CODE_OF_HOTSPOT 0x80000000U

/* A file that generated code lies in. */
struct code_memory {
	uint64_t start, end, offset;
	const char *module;
};

/* A process that has generated code. */
struct code_process {
	uint32_t process; /* incarnation id */
	uint32_t pid;
	uint64_t start_ns;
	uint32_t parent; /* incarnation whose code it inherited, or NO_PARENT */
	uint32_t parent_pid;
	uint64_t forked_ns;
	uint32_t children; /* that inherited from it */
	struct code_file file;
	struct code_places places;
	ARRAY_OF(struct code_memory) memory;
	uint64_t looked_ns;	/* samples up to then know what was written */
	uint64_t grew_ns;	/* last time that its file was seen to grow */
	uint64_t used_ns;	/* last sample or mapping */
	uint64_t first_open_ns; /* since then it has been searched for; 0: not yet */
	uint64_t next_open_ns;	/* not searched for again before, while there is none */
	uint64_t open_rest_ns;
	int reason;	     /* why there is no file, -errno */
	bool ended;	     /* it has, and the last look is done or under way */
	bool is_lost;	     /* who reads it crashed, hung or lied at its file */
	bool is_unlinked;    /* its file has no name any more: another may have it */
	bool has_unread;     /* places that do not know all lines */
	uint32_t first_code; /* of its readings in frame locations */
	/* a scan of what places do not know yet */
	uint32_t moves_left; /* records that may be looked at for names of code that moved */
	bool is_scanning;
	struct code_cursor scan;
	uint64_t scan_end, scan_begin_ns, next_scan_ns, scan_cost_ns;
};

struct code_history {
	const struct symbolizer_options *options;
	struct process_table *processes;
	struct string_pool *strings;
	struct hotspot_history *hotspot;
	struct v8_history *v8;
	ARRAY_OF(struct code_process *) items;
	struct hash_map by_process; /* incarnation id -> item */
	char *buffer;		    /* of CODE_READER_BYTES */
	size_t open_count;
	size_t place_count;
	size_t name_bytes;
	uint64_t dropped;
	uint64_t next_look_ns;
	size_t next_item; /* whose turn it is */
	uint32_t next_first_code;
	size_t ended_count; /* that may be forgotten */
	uint64_t settle_left_ns;
	bool is_busy, is_settled;
};

/* NULL: the process table has forgotten it. */
const struct process *code_history_known(const struct code_history *code,
					 const struct code_process *process);
/* Whose code it inherited; NULL: nobody's, or that is not known any more. */
struct code_process *code_history_parent(const struct code_history *code,
					 const struct code_process *process);
/* Takes note of what its file has become, and opens it when there is one. */
void code_process_look(struct code_history *code, struct code_process *process, uint64_t now_ns);
/* A piece of reading; true: there is more. */
bool code_process_scan(struct code_history *code, struct code_process *process, uint64_t max_bytes,
		       uint64_t now_ns);
void code_process_close(struct code_history *code, struct code_process *process);

#endif
