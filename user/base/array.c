// SPDX-License-Identifier: BSD-2-Clause
/* Grows the storage of a typed array. */
#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/large_memory.h"

#define ARRAY_MIN_CAPACITY 8

bool array_reserve_items(void **items, size_t *capacity, size_t needed, size_t item_size)
{
	size_t grown = *capacity < ARRAY_MIN_CAPACITY / 2 ? ARRAY_MIN_CAPACITY : *capacity;
	void *old, *new;

	if (needed <= *capacity)
		return true;
	/* Doubling keeps the cost of n additions at O(n); near the end of size_t only the exact
	 * need is left. */
	grown = grown <= SIZE_MAX / 2 ? grown * 2 : needed;
	if (grown < needed)
		grown = needed;
	if (item_size && grown > PTRDIFF_MAX / item_size) {
		grown = needed;
		if (grown > PTRDIFF_MAX / item_size)
			return false;
	}

	/* The caller's pointer is a `type *`: memcpy reads and writes it without aliasing it as
	 * `void *`. */
	memcpy(&old, items, sizeof(old));
	new = realloc(old, grown * item_size);
	if (!new)
		return false;
	large_memory_advise((char *)new + *capacity *item_size, (grown - *capacity) * item_size);
	memcpy(items, &new, sizeof(new));
	*capacity = grown;
	return true;
}
