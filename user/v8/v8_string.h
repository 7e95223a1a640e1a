/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads JavaScript strings: flat ones, and those that are made of others. */
#ifndef PKBPF_V8_V8_STRING_H
#define PKBPF_V8_V8_STRING_H

#include <pkbpf/v8.h>

#include "v8/v8_memory.h"

/* Of one string: larger ones are no source of a program. */
#define V8_STRING_MAX_UNITS (32U << 20)

/* Takes the next `count` units of 16 bits; false: no more are wanted. */
typedef bool (*v8_take_units)(void *context, const uint16_t *units, size_t count);

/* Hands on all units of a string. -EFBIG: it is too long, or made of more than 128 parts; -EINVAL:
 * it is none; -ECANCELED: take was satisfied. */
int v8_string_visit(const struct v8_memory *memory, uint64_t string, v8_take_units take,
		    void *context);
/* The string as UTF-8, cut to size - 1 bytes. */
int v8_string_read(const struct v8_memory *memory, uint64_t string, char *buffer, size_t size);

/* The same of a string in a record, whose bytes may be only a part of it. The whole `size` is used.
 */
void v8_string_text(const struct pkbpf_v8_string *string, char *buffer, size_t size);

#endif
