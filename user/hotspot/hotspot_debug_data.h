/* SPDX-License-Identifier: BSD-2-Clause */
/* Debug information of a compiled method, within its block or pointed to from there. */
#ifndef PKBPF_HOTSPOT_HOTSPOT_DEBUG_DATA_H
#define PKBPF_HOTSPOT_HOTSPOT_DEBUG_DATA_H

#include "hotspot/hotspot_block.h"

/* Copies PcDescs, scopes and metadata of a block of which reader->bytes has `size` bytes; into one
 * allocation, at most copy_limit bytes, else none. Adds their hash to listed->content. -EAGAIN:
 * they make no sense yet; -ENOMEM; errors of reading. */
int hotspot_debug_data_read(struct hotspot_block_reader *reader, size_t size, size_t copy_limit,
			    struct hotspot_listed *listed);

#endif
