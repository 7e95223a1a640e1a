/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes protocol buffers: fields one after the other into memory, messages inside of messages by
 * way of a writer of their own. Running out of memory is remembered, and asked for once at the end.
 */
#ifndef PKBPF_EXPORT_PROTO_WRITER_H
#define PKBPF_EXPORT_PROTO_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

struct proto_writer { /* zero-initialised is an empty message */
	ARRAY_OF(uint8_t) bytes;
	bool failed;
};

/* A field that is 0 is left out, as readers expect. */
void proto_number(struct proto_writer *writer, uint32_t field, uint64_t number);
/* One that is written when it is 0, too: of fields of which one is chosen. */
void proto_number_always(struct proto_writer *writer, uint32_t field, uint64_t number);
/* Eight bytes: fixed64, or the bits of a double. */
void proto_fixed64(struct proto_writer *writer, uint32_t field, uint64_t bits);
void proto_bytes(struct proto_writer *writer, uint32_t field, const void *bytes, size_t size);
void proto_string(struct proto_writer *writer, uint32_t field, const char *string);
/* Repeated numbers in one field. */
void proto_packed(struct proto_writer *writer, uint32_t field, const uint64_t *numbers,
		  size_t count);
/* A message, which is empty afterwards and can be filled again. */
void proto_message(struct proto_writer *writer, uint32_t field, struct proto_writer *message);
void proto_done(struct proto_writer *writer);

#endif
