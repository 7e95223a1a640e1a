/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions with call frame information, ordered by address without overlap. */
#ifndef PKBPF_UNWIND_CFI_FDE_LIST_H
#define PKBPF_UNWIND_CFI_FDE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Addresses are offsets from the start of the file's text, which is smaller than 4 GiB. */
struct fde {
	uint32_t start;
	uint32_t size;	  /* never 0 */
	uint32_t program; /* offset in its section */
	uint32_t program_size;
	uint32_t cie; /* index */
};

struct fde_list {
	struct fde *items;
	size_t count;
	size_t capacity;
};

/* Sorts by start, in linear time. Of several functions at one address the first in the list stays.
 * A function ends where the next one begins. Returns false when out of memory. */
bool fde_list_sort(struct fde_list *list);
/* Adds the functions of `others` that overlap none in `list`; both are ordered. May take the memory
 * of `others`. */
bool fde_list_fill_gaps(struct fde_list *list, struct fde_list *others);

#endif
