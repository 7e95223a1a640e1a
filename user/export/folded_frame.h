/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames of folded stacks. */
#ifndef PKBPF_EXPORT_FOLDED_FRAME_H
#define PKBPF_EXPORT_FOLDED_FRAME_H

#include <stddef.h>

/* Makes foreign text fit for a frame: no separator, no control character, valid UTF-8, not
 * empty. */
void folded_frame(char *dst, size_t size, const char *text);

#endif
