/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads one block of a code heap: its header, its CodeBlob, and what a compiled method points to.
 */
#ifndef PKBPF_HOTSPOT_HOTSPOT_BLOCK_H
#define PKBPF_HOTSPOT_HOTSPOT_BLOCK_H

#include "hotspot/hotspot_blob.h"
#include "hotspot/hotspot_layout.h"

/* What is kept of a block beyond the blob. */
struct hotspot_listed {
	struct hotspot_blob blob;
	uint64_t identity; /* differs from that of another blob at this address */
	uint64_t content;  /* hash of all that was read */
	bool is_settled;   /* read twice, and the same */
	size_t copied_bytes;
};

struct hotspot_block_reader {
	const struct hotspot_layout *layout;
	const struct hotspot_memory *memory;
	unsigned int log2_segment_size;
	uint8_t *bytes; /* of the block read last; freed by the owner */
	size_t capacity;
	uint64_t name_address; /* of the name read last: most have the same */
	char name[64];
	uint64_t read_bytes; /* so far */
};

/* The identity of the blob in a block that ends at `limit` at the latest; 0: unreadable. */
uint64_t hotspot_block_identity(struct hotspot_block_reader *reader, uint64_t start,
				uint64_t limit);
/*
 * Reads the blob of a block that ends at `limit` at the latest. *ret_listed->blob.code points into
 * reader->bytes. Debug information is left out beyond copy_limit bytes. -ENOENT: a free block;
 * -EAGAIN: it is being written; -EBADMSG: no blob; -ENOMEM; errors of reading. Freed by
 * hotspot_blob_free().
 */
int hotspot_block_read(struct hotspot_block_reader *reader, uint64_t start, uint64_t limit,
		       size_t copy_limit, struct hotspot_listed **ret_listed);

#endif
