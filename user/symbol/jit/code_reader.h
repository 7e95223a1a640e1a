/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a perf map or a jitdump forward, in pieces. One owner thread. */
#ifndef PKBPF_SYMBOL_JIT_CODE_READER_H
#define PKBPF_SYMBOL_JIT_CODE_READER_H

#include "symbol/jit/code_entry.h"

#define CODE_READER_BYTES (128U << 10)

struct code_reader { /* borrows both */
	int fd;
	bool is_jitdump;
	bool times_known; /* of a jitdump's entries */
	char *buffer;	  /* of CODE_READER_BYTES */
};

/* A place in the file between two entries; 0 is its start. */
struct code_cursor {
	uint64_t offset;
	bool skipping; /* inside a line longer than the buffer */
};

/* offset: where the entry begins. The entry is borrowed for the call. false: enough for now, the
 * cursor is to stay behind it. */
struct code_taker {
	bool (*take)(void *context, const struct code_entry *entry, uint64_t offset);
	void *context;
};

/* Whether it is a jitdump, by its first bytes, and where its entries begin. */
void code_reader_begin(struct code_reader *reader, struct code_cursor *ret_cursor);
/*
 * Reports what lies between the cursor and `end`, up to about max_bytes of it, and moves the
 * cursor. With is_last the entry that `end` cuts is one, too: nothing will follow. 1: there may be
 * more; 0: there is not, until the file grows; negative errno of reading.
 */
int code_reader_read(const struct code_reader *reader, struct code_cursor *cursor, uint64_t end,
		     bool is_last, uint64_t max_bytes, const struct code_taker *taker);
/* The name of a jitdump's entry by its index, among the records before `end`. *records: how many
 * may be looked at, less those that were. 0 length: none. */
size_t code_reader_find_index(const struct code_reader *reader, uint64_t end, uint64_t index,
			      uint32_t *records, char name[CODE_MAX_NAME_BYTES]);

#endif
