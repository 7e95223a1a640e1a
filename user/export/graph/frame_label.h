/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of functions in the room that a frame of a flame graph has. */
#ifndef PKBPF_EXPORT_FRAME_LABEL_H
#define PKBPF_EXPORT_FRAME_LABEL_H

#include <stddef.h>

#define FRAME_LABEL_MIN 4 /* columns; below, a label says nothing */

/*
 * The name in at most `columns` characters: all of it if it fits, else without its arguments and
 * template parameters, else the end of the qualified name ("…Parser::run"), else its beginning.
 * "" where columns < FRAME_LABEL_MIN. name is valid UTF-8; returns dst, which is of `size` bytes.
 */
char *frame_label(char *dst, size_t size, const char *name, size_t columns);

#endif
