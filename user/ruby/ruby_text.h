/* SPDX-License-Identifier: BSD-2-Clause */
/* Text of Ruby strings. */
#ifndef PKBPF_RUBY_RUBY_TEXT_H
#define PKBPF_RUBY_RUBY_TEXT_H

#include <stddef.h>

/* A copy as UTF-8 between two texts. Bytes that are no UTF-8, and zeros, become U+FFFD, but for a
 * character that the start or the end of the bytes cuts: it is left out. NULL: out of memory. */
char *ruby_text_utf8(const char *text, size_t bytes, const char *before, const char *after);

#endif
