/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A perf map or jitdump that a process writes while we look: what has been added between two looks,
 * and whether it was begun anew. One owner thread.
 */
#ifndef PKBPF_SYMBOL_JIT_CODE_FILE_H
#define PKBPF_SYMBOL_JIT_CODE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/array.h"
#include "symbol/jit/code_reader.h"

#define CODE_FILE_TAIL_BYTES 64

/* What was written up to `end` since the epoch before, after lo_ns and at hi_ns at the latest. */
struct code_epoch {
	uint64_t lo_ns, hi_ns;
	uint64_t end;
	bool snapshot; /* the file was begun then */
};

struct code_file {
	struct code_reader reader; /* fd -1: not open */
	dev_t device;
	ino_t inode;
	struct code_cursor known; /* up to there it is divided into epochs */
	struct code_cursor begin;
	ARRAY_OF(struct code_epoch) epochs;
	uint64_t clean_ns; /* last look that found nothing behind `known` */
	int64_t modified_ns, size;
	bool is_new;			 /* nothing was read of it yet */
	uint64_t begun_ns;		 /* when something was first read of it */
	char tail[CODE_FILE_TAIL_BYTES]; /* what stands before `known` */
	size_t tail_size;
};

enum code_file_change {
	CODE_FILE_SAME,
	CODE_FILE_GREW,	     /* `size` is behind `known` */
	CODE_FILE_REWRITTEN, /* all that was read is void; it may have grown */
};

void code_file_init(struct code_file *file, char *buffer);
void code_file_done(struct code_file *file);
/* Takes the descriptor, of the file that st describes: if it is another one than before, what was
 * read is void, which the next look says. */
void code_file_set(struct code_file *file, int fd, const struct stat *st);
void code_file_close(struct code_file *file);
static inline bool code_file_is_open(const struct code_file *file)
{
	return file->reader.fd >= 0;
}
/* Compares it with what is known of it; *ret_stat: what it is now. */
enum code_file_change code_file_look(struct code_file *file, struct stat *ret_stat);
/* When what stands behind `known` was written. now_ns: of the look; modified_ns: CLOCK_MONOTONIC,
 * when the file was written to last, 0: not known. */
struct code_epoch code_file_next_epoch(const struct code_file *file, uint64_t now_ns,
				       uint64_t modified_ns);
/* What stands between `known` and the cursor was written then. */
void code_file_add_epoch(struct code_file *file, const struct code_cursor *cursor,
			 const struct code_epoch *epoch);
/* The end of the last whole line, at most at `size`; `known` if none is found there. */
uint64_t code_file_last_line(const struct code_file *file, uint64_t size);
/* That of an offset before `known`. */
const struct code_epoch *code_file_epoch(const struct code_file *file, uint64_t offset);
/* Whether something may have been written between two times. */
bool code_file_has_boundary(const struct code_file *file, uint64_t a_ns, uint64_t b_ns);

#endif
