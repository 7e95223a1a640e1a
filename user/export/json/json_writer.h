/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes JSON value by value; commas, indentation and escapes are done here. Keys are ours and
 * plain ASCII; key NULL: an item of an array.
 */
#ifndef PKBPF_EXPORT_JSON_JSON_WRITER_H
#define PKBPF_EXPORT_JSON_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json_writer {
	FILE *out;
	unsigned int depth;
	bool has_items; /* the object or array at hand */
};

void json_writer_object_begin(struct json_writer *writer, const char *key);
void json_writer_object_end(struct json_writer *writer);
void json_writer_array_begin(struct json_writer *writer, const char *key);
void json_writer_array_end(struct json_writer *writer);
void json_writer_string(struct json_writer *writer, const char *key,
			const char *value); /* NULL: null */
/* An array of numbers, in one line. */
void json_writer_numbers(struct json_writer *writer, const char *key, const uint32_t *numbers,
			 size_t count);
void json_writer_u64(struct json_writer *writer, const char *key, uint64_t value);
void json_writer_i64(struct json_writer *writer, const char *key, int64_t value);
void json_writer_decimal(struct json_writer *writer, const char *key,
			 double value); /* finite; three decimals */
/* Finite, with nine significant digits. */
void json_writer_real(struct json_writer *writer, const char *key, double value);
void json_writer_bool(struct json_writer *writer, const char *key, bool value);

#endif
