/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrays of structs as bytes, column by column, from one description for both directions:
 *
 *	static const struct recorded_column columns[] = {
 *		RECORDED(1, struct slow_io, tid),
 *		RECORDED_AS(RECORDED_FLAG, 2, struct slow_io, failed),
 *	};
 *
 * A column has a number for good. Columns that hold 0 in all rows are left out; a reader fills what
 * is not there with 0 and skips numbers that it does not know. So both sides may be older or newer.
 */
#ifndef PKBPF_RECORDING_RECORDED_TABLE_H
#define PKBPF_RECORDING_RECORDED_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "recording/packed_bytes.h"
#include "recording/recorded_strings.h"

enum recorded_form {
	RECORDED_NUMBER, /* unsigned of 1, 2, 4 or 8 bytes, or enum */
	RECORDED_FLAG,	 /* bool */
	RECORDED_SIGNED, /* int64_t */
	RECORDED_STEP,	 /* uint64_t, as its difference to that of the row before */
	RECORDED_TEXT,	 /* char array, cut to its size when it is read */
	RECORDED_STRING, /* const char *, or NULL; borrowed from the strings when it is read */
};

struct recorded_column {
	uint16_t number;
	enum recorded_form form;
	size_t offset, size; /* of the member */
};

#define RECORDED_AS(form_, number_, type, member)                                                  \
	{                                                                                          \
		.number = (number_), .form = (form_), .offset = offsetof(type, member),            \
		.size = sizeof(((type *)NULL)->member)                                             \
	}
#define RECORDED(number, type, member) RECORDED_AS(RECORDED_NUMBER, number, type, member)

struct recorded_table {
	uint16_t section; /* its number in a block */
	size_t row_size;
	const struct recorded_column *columns;
	size_t column_count;
};

/* Appends the rows to bytes; a failure is bytes->failed. */
void recorded_table_encode(const struct recorded_table *table, const void *rows, size_t count,
			   struct recorded_strings *strings, struct packed_bytes *bytes);
/* Reads rows that anybody may have written: numbers may be anything that fits into their member,
 * texts are terminated. The caller frees the array, which strings outlives. -EBADMSG, -ENOMEM. */
int recorded_table_decode(const struct recorded_table *table, const void *data, size_t size,
			  const struct recorded_strings *strings, void **ret_rows,
			  size_t *ret_count);

#endif
