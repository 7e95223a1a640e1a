/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions with call frame information, ordered by address without overlap. */
#ifndef PKBPF_UNWIND_CFI_FDE_LIST_H
#define PKBPF_UNWIND_CFI_FDE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Addresses count from the start of the file's text, which is below 4 GiB in size. */
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

/* Orders by start; of functions at one address the first in the list stays, and a function ends
 * where the next begins. Linear in count. false: out of memory. */
bool fde_list_sort(struct fde_list *list);
/* Adds to an ordered list those functions of another ordered list that do not touch any in it. May
 * take the other's memory. */
bool fde_list_fill_gaps(struct fde_list *list, struct fde_list *others);

#endif
