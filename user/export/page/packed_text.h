/* SPDX-License-Identifier: BSD-2-Clause */
/* A stream that packs what is written to it and writes it on as text: one raw deflate stream in
 * base64. Nothing is held but a few buffers. */
#ifndef PKBPF_EXPORT_PAGE_PACKED_TEXT_H
#define PKBPF_EXPORT_PAGE_PACKED_TEXT_H

#include <stdio.h>

/* level: zlib's. For fclose(), which writes the end; `out` stays open. NULL: out of memory. */
FILE *packed_text_open(FILE *out, int level);

#endif
