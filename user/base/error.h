/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sentence a person will read when a call failed: what failed, on what, why, what to do.
 * Library code fills it and returns negative errno; only cli/ prints it.
 */
#ifndef PKBPF_BASE_ERROR_H
#define PKBPF_BASE_ERROR_H

#define ERROR_TEXT_SIZE 1024

struct error {
	char text[ERROR_TEXT_SIZE];
};

/* Sets the sentence (printf format, no trailing newline, no "pkbpf:" prefix) and returns -errnum,
 * so that callers write `return error_set(error, ENOENT, "…")`. error may be NULL. A text already
 * set is replaced; one too long is cut and ends in "...". */
int error_set(struct error *error, int errnum, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
