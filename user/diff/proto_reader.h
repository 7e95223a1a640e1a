/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads protocol buffers of anybody, field by field, without copies. */
#ifndef PKBPF_DIFF_PROTO_READER_H
#define PKBPF_DIFF_PROTO_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proto_reader {
	const uint8_t *at, *end;
	bool is_damaged; /* it ended in the middle of something */
};

struct proto_field {
	uint32_t number;
	bool is_bytes;		   /* else a number */
	uint64_t value;		   /* of a number */
	struct proto_reader bytes; /* of a string, a message or packed numbers */
};

/* false at the end, or when it is damaged. */
bool proto_next(struct proto_reader *reader, struct proto_field *ret_field);
/* The numbers of a repeated field, packed or not: calls back with each; damage ends it. */
bool proto_numbers(const struct proto_field *field, bool (*take)(void *context, uint64_t value),
		   void *context);

#endif
