/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a recording block by block. Whatever ends it between two blocks, those written can be
 * read. */
#ifndef PKBPF_RECORDING_RECORDING_WRITER_H
#define PKBPF_RECORDING_RECORDING_WRITER_H

#include <stdio.h>

#include "base/array.h"
#include "recording/packed_bytes.h"
#include "recording/recording_file.h"

/* Sections of a block while they are put together. Zero-initialised is empty. */
struct recording_sections {
	struct packed_bytes bytes;
	size_t count;
	int err;
};

/* Compresses a section and adds it; errors are kept for recording_writer_add(). */
void recording_sections_add(struct recording_sections *sections, uint16_t kind, const void *data,
			    size_t size);
void recording_sections_done(struct recording_sections *sections);

struct recording_writer_entry {
	struct recording_span span;
	uint64_t offset;
};

struct recording_writer {
	FILE *out; /* borrowed */
	uint64_t offset;
	ARRAY_OF(struct recording_writer_entry) entries;
};

/* Each: 0; -EIO, -ENOSPC and the like from the stream; -ENOMEM; -EFBIG: beyond the limits of the
 * format. */
int recording_writer_begin(struct recording_writer *writer, FILE *out, int64_t now_unix_ns);
/* Writes a block and flushes the stream. After an error the file is whole up to writer->offset, and
 * can go on there once it was cut to that size. */
int recording_writer_add(struct recording_writer *writer, const struct recording_span *span,
			 const struct recording_sections *sections);
/* Writes the index. */
int recording_writer_end(struct recording_writer *writer);
void recording_writer_done(struct recording_writer *writer);

#endif
