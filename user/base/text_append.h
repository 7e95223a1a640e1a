/* SPDX-License-Identifier: BSD-2-Clause */
/* Appends to a text in a buffer of fixed size. */
#ifndef PKBPF_BASE_TEXT_APPEND_H
#define PKBPF_BASE_TEXT_APPEND_H

#include <stddef.h>

/* Appends to the string in text, size bytes with its NUL; truncates what does not fit. */
void text_append(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
