/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands given as one text, and parameters in them. */
#ifndef PKBPF_BENCH_COMMAND_WORDS_H
#define PKBPF_BENCH_COMMAND_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* The words of a command, ends in NULL; the caller frees it by command_words_free(). A text without
 * anything that a shell would expand is split at spaces, with quotes and backslashes as in a shell;
 * any other becomes `sh -c TEXT` (*ret_shell). NULL with the sentence: an empty text, a quote
 * without its end, out of memory. */
char **command_words_split(const char *text, bool *ret_shell, struct error *error);
/* `sh -c TEXT`. NULL: out of memory. */
char **command_words_shell(const char *text);
/* One text of them, quoted so that a shell would read the same words. NULL: out of memory. */
char *command_words_join(char *const *words);
char **command_words_copy(char *const *words);
void command_words_free(char **words);

struct word_parameter {
	const char *name, *value;
};

/* text with every {name} replaced; values stay as they are. NULL: out of memory. */
char *command_words_fill(const char *text, const struct word_parameter *parameters, size_t count);
bool command_words_has(const char *text, const char *name);

#endif
