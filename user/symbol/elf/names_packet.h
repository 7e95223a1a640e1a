/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions for the names of addresses in a file, and answers, as bytes. */
#ifndef PKBPF_SYMBOL_ELF_NAMES_PACKET_H
#define PKBPF_SYMBOL_ELF_NAMES_PACKET_H

#include "base/array.h"
#include "base/string_pool.h"
#include "elf/build_id.h"
#include "symbol/elf/debug_file.h"
#include "symbol/symbolizer.h"

/* Addresses of one question: what it takes is bounded, and others get their turn. */
#define NAMES_MAX_ADDRESSES 256
#define NAMES_MAX_NOTE	    512
/* The address is that of a call's return. */
#define NAMES_IS_RETURN (1ULL << 63)

enum { NAMES_INLINES = 1, NAMES_LINES = 2, NAMES_DEBUG_FILES = 4 };

/* Path and folder of debug files follow, each with its NUL, then addresses as positions in the
 * file (u64). */
struct names_question {
	uint32_t file, edition; /* an id, and which of the files that had it */
	uint32_t flags, count;
	uint32_t path_size, folder_size;
};

/* A further file that a reader wants: the path follows, with its NUL. */
struct names_want {
	uint32_t root; /* enum debug_file_root */
};

typedef ARRAY_OF(unsigned char) names_bytes;

/* ---- in a reader ---- */

/* false: out of memory. build_id, missing: NULL: none. */
bool names_answer_begin(names_bytes *bytes, const char *build_id, const char *missing);
bool names_answer_add(names_bytes *bytes, const struct symbol *symbol);

/* ---- in the program ---- */

struct names_answer {
	char build_id[BUILD_ID_HEX_SIZE]; /* "": none */
	char missing[NAMES_MAX_NOTE];	  /* "": nothing */
	/* in the order of the addresses; their lines are those from first_lines[] on */
	ARRAY_OF(struct symbol) symbols;
	ARRAY_OF(size_t) first_lines;
	ARRAY_OF(struct symbol_line) lines;
};

/* Reads what anybody may have written as the answer about `count` addresses; strings go to the
 * pool. -EBADMSG; -ENOMEM. names_answer_done() in any case. */
int names_answer_read(const void *bytes, size_t size, size_t count, struct string_pool *strings,
		      struct names_answer *ret_answer);
void names_answer_done(struct names_answer *answer);

#endif
