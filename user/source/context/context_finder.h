/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds processes that publish thread contexts, and says to the kernel side where these are. */
#ifndef PKBPF_SOURCE_CONTEXT_CONTEXT_FINDER_H
#define PKBPF_SOURCE_CONTEXT_CONTEXT_FINDER_H

#include <stdbool.h>
#include <stdint.h>

#include "source/context/context_options.h"

struct session;
struct context_finder;

/* A process with contexts has ended, and none of its records are to come. */
typedef void context_ended_fn(void *context, uint32_t pid);

/* labels: borrowed. NULL: out of memory. */
struct context_finder *context_finder_new(struct session *session,
					  const struct context_labels *labels,
					  context_ended_fn *ended, void *context);
void context_finder_free(struct context_finder *finder);
/* Looks at processes; map_fd: that of context_processes. is_first: at all of them, whatever that
 * takes. */
void context_finder_look(struct context_finder *finder, int map_fd, bool is_first);
/* Processes that were found so far. */
uint32_t context_finder_count(const struct context_finder *finder);

#endif
