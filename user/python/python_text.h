/* SPDX-License-Identifier: BSD-2-Clause */
/* Text of CPython's str objects as UTF-8. */
#ifndef PKBPF_PYTHON_PYTHON_TEXT_H
#define PKBPF_PYTHON_PYTHON_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Characters of `width` bytes each (1: Latin-1, 2: UCS-2, 4: UCS-4) as UTF-8. What is no character
 * (surrogates, beyond U+10FFFF, NUL) becomes U+FFFD. Bytes after the last whole character are left
 * out. Heap, the caller frees it; NULL: out of memory. before, after: put around it. */
char *python_text_utf8(const void *text, size_t bytes, unsigned int width, const char *before,
		       const char *after);

#endif
