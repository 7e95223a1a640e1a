/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of numbered and cached stacks. All sources that aggregate in the kernel share them. */
#ifndef PKBPF_SOURCE_STACK_MAPS_H
#define PKBPF_SOURCE_STACK_MAPS_H

#include "source/mapped_table.h"
#include "source/source.h"

struct stack_maps {
	struct session *session;
	struct mapped_table memos; /* struct pkbpf_stack_memo */
};

/* cached: capacity in stacks, a power of two. With 0, no source needs the tables: they are not
 * created and *ret_maps is NULL, which all other functions accept. */
int stack_maps_configure(struct session *session, uint32_t cached, struct stack_maps **ret_maps,
			 struct error *error);
/* Passes the ids of the cached stacks, which later events may refer to. Only after load. */
void stack_maps_each_stack(struct stack_maps *maps, source_stack_fn *take, void *context);
/* Number of cache hits of the stacks in the table. */
uint64_t stack_maps_hits(struct stack_maps *maps);
/* Logs the number of cache hits. */
void stack_maps_log_hits(struct stack_maps *maps);
void stack_maps_free(struct stack_maps *maps);

#endif
