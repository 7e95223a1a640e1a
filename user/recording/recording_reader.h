/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a recording, which may be anybody's and in any state. Nothing that fails a checksum is
 * given out; what is missing is known. Memory: 48 bytes per block, and one block at a time.
 */
#ifndef PKBPF_RECORDING_RECORDING_READER_H
#define PKBPF_RECORDING_RECORDING_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"
#include "recording/recording_file.h"
#include "recording/recording_writer.h"

struct recording_place { /* of a block */
	struct recording_span span;
	uint64_t offset;
};

struct recording_reader {
	int fd; /* borrowed; anything that can be read by pread() */
	uint64_t size_bytes;
	ARRAY_OF(struct recording_place) blocks; /* slices with a valid header, as in the file */
	/* Between blocks: bytes that belong to none. Slices may have been there. */
	uint64_t damaged_bytes;
	/* Blocks that the index has and that are not there any more. 0 when it is not known. */
	uint64_t missing_blocks;
	bool cut_off;	    /* it ends without its index */
	bool index_damaged; /* there is one, which cannot be read */
};

/* Takes in where all blocks are. -EBADMSG: no recording; -ENOTSUP: of a newer version; errors of
 * pread(), -ENOMEM; all with the sentence, which begins behind the name of the file. */
int recording_reader_open(struct recording_reader *reader, int fd, struct error *error);
void recording_reader_done(struct recording_reader *reader);

struct recording_section {
	uint16_t kind;
	uint16_t codec;
	const uint8_t *data; /* in the block */
	size_t stored, plain;
};

struct recording_block {
	uint8_t *bytes;
	struct recording_section *sections;
	size_t section_count;
};

/* The sections of blocks.items[index]. -EBADMSG: damaged; -ENOMEM; errors of pread(). */
int recording_reader_read(const struct recording_reader *reader, size_t index,
			  struct recording_block *ret_block);
void recording_block_done(struct recording_block *block);
/* The block as it was read, to be written elsewhere; borrows its bytes. */
struct recording_sections recording_block_sections(const struct recording_block *block);
/* NULL: the block has none of this kind. */
const struct recording_section *recording_block_find(const struct recording_block *block,
						     uint16_t kind);
/* Its plain bytes, which the caller frees (with a NUL behind them). -EBADMSG, -ENOMEM; -ENOTSUP:
 * packed in a way that is not known here. */
int recording_section_unpack(const struct recording_section *section, uint8_t **ret_data);

#endif
