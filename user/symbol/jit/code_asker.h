/* SPDX-License-Identifier: BSD-2-Clause */
/* Has a perf map or a jitdump cut by a process without rights (code_service.h). */
#ifndef PKBPF_SYMBOL_JIT_CODE_ASKER_H
#define PKBPF_SYMBOL_JIT_CODE_ASKER_H

#include "symbol/jit/code_places.h"
#include "symbol/jit/code_reader.h"

struct readers;

/* Whose file it is; all is borrowed. */
struct code_asker {
	struct readers *readers;
	uint32_t pid;
	const struct code_places *places; /* sorted; entries that cover none of them are left out */
	uint32_t *records; /* that may be looked at for names of code that moved; counts down */
};

/* What is to be read, and how far: as the arguments of code_reader_read(). */
struct code_piece {
	uint64_t end, max_bytes;
	bool is_last;
};

/*
 * As code_reader_read(), except that names are demangled and those of moved code are found.
 * -ENOTCONN: nobody can be asked, read it here; -EIO: the file is lost, not to be asked about
 * again; negative errno of reading.
 */
int code_asker_read(const struct code_asker *asker, const struct code_reader *reader,
		    struct code_cursor *cursor, const struct code_piece *piece,
		    const struct code_taker *taker);
/* Takes what anybody may have written as the answer to a question. -EBADMSG: it is none, though
 * what stands before the fault may have been taken. */
int code_answer_take(const void *bytes, size_t size, const struct code_piece *piece,
		     struct code_cursor *cursor, uint32_t *records, const struct code_taker *taker);

#endif
