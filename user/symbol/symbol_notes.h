/* SPDX-License-Identifier: BSD-2-Clause */
/* What people should know about names that are missing although they could be had: a sentence
 * each, said once. */
#ifndef PKBPF_SYMBOL_SYMBOL_NOTES_H
#define PKBPF_SYMBOL_SYMBOL_NOTES_H

#include <stddef.h>

/* More are counted. */
#define SYMBOL_NOTES_MAX      16
#define SYMBOL_NOTE_MAX_BYTES 1024

struct symbol_notes {
	char *items[SYMBOL_NOTES_MAX];
	size_t count;
	size_t left_out;
};

/* Longer ones are cut; what is there already, or beyond the limit, is not added. Paths in it are
 * as a target chose them: not safe for a terminal. */
void symbol_notes_add(struct symbol_notes *notes, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void symbol_notes_done(struct symbol_notes *notes);

#endif
