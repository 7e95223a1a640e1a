/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of numbered and of cached stacks, which all sources that add events up in the kernel
 * share, whichever of them there are. */
#ifndef PKBPF_SOURCE_STACK_MAPS_H
#define PKBPF_SOURCE_STACK_MAPS_H

#include "source/mapped_table.h"
#include "source/source.h"

struct stack_maps {
	struct session *session;
	struct mapped_table memos; /* struct pkbpf_stack_memo */
};

/* So many cached stacks at a time, a power of two; 0: no source wants any, the tables are left
 * out and *ret_maps is NULL, which all others take. */
int stack_maps_configure(struct session *session, uint32_t cached, struct stack_maps **ret_maps,
			 struct error *error);
/* Once they are loaded: the numbers of the cached stacks, which later events may name. */
void stack_maps_each_stack(struct stack_maps *maps, source_stack_fn *take, void *context);
/* How often those in the table were found again. */
uint64_t stack_maps_hits(struct stack_maps *maps);
/* Tells the log. */
void stack_maps_log_hits(struct stack_maps *maps);
void stack_maps_free(struct stack_maps *maps);

#endif
