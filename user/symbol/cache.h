/* SPDX-License-Identifier: BSD-2-Clause */
/* What each distinct location was found to be, kept as long as the symbolizer lives. */
#ifndef PKBPF_SYMBOL_CACHE_H
#define PKBPF_SYMBOL_CACHE_H

#include "symbol/symbolizer.h"

struct symbol_cache;

struct symbol_cache *symbol_cache_new(void);
void symbol_cache_free(struct symbol_cache *cache);
/* NULL: not yet known. The pointer lives until the next add. */
const struct symbol *symbol_cache_find(const struct symbol_cache *cache,
				       const struct frame_location *location);
/* Copies *symbol with its lines (not their strings). The location is not in the cache yet. NULL:
 * out of memory. */
const struct symbol *symbol_cache_add(struct symbol_cache *cache,
				      const struct frame_location *location,
				      const struct symbol *symbol);

#endif
