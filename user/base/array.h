/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Growing arrays with typed items:
 *
 *	ARRAY_OF(struct mapping) mappings = {0};
 *	struct mapping *m = array_add(&mappings);	// zeroed, at the end; NULL: out of memory
 *	array_foreach(&mappings, each) { … }
 *	array_free(&mappings);
 *
 * Items move when the array grows: keep indexes, not pointers.
 */
#ifndef PKBPF_BASE_ARRAY_H
#define PKBPF_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define ARRAY_OF(type)                                                                             \
	struct {                                                                                   \
		type *items;                                                                       \
		size_t count;                                                                      \
		size_t capacity;                                                                   \
	}

/* Room for at least `needed` items in all; false and unchanged when memory (or size_t) does not
 * suffice. */
bool array_reserve_items(void **items, size_t *capacity, size_t needed, size_t item_size);

#define array_reserve(array, needed)                                                               \
	array_reserve_items((void **)&(array)->items, &(array)->capacity, (needed),                \
			    sizeof(*(array)->items))

#define array_add(array)                                                                           \
	({                                                                                         \
		__typeof__((array)->items) item_ = NULL;                                           \
		if (array_reserve((array), (array)->count + 1)) {                                  \
			item_ = &(array)->items[(array)->count++];                                 \
			__builtin_memset(item_, 0, sizeof(*item_));                                \
		}                                                                                  \
		item_;                                                                             \
	})

#define array_foreach(array, each)                                                                 \
	for (__typeof__((array)->items + 0) each = (array)->items;                                 \
	     each && each < (array)->items + (array)->count; each++)

#define array_free(array)                                                                          \
	do {                                                                                       \
		free((array)->items);                                                              \
		(array)->items = NULL;                                                             \
		(array)->count = (array)->capacity = 0;                                            \
	} while (0)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
