/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of windows of the history, for comparisons of intervals that move on: a window that was in
 * the last comparison is not read again. One owner thread. */
#ifndef PKBPF_HISTORY_WINDOW_MEMORY_H
#define PKBPF_HISTORY_WINDOW_MEMORY_H

#include "diff/measurement.h"
#include "store/store.h"

/* Values that are kept, of 32 bytes each; windows beyond are read each time. */
#define WINDOW_MEMORY_VALUES_MAX 1000000
/* Names beyond which all is begun anew: those of windows that have left are among them. */
#define WINDOW_MEMORY_NAMES_MAX 262144

struct window_memory;

/* Of these kinds (1 << enum pkbpf_profile_kind) and levels (1 << enum diff_level). NULL: out of
 * memory. */
struct window_memory *window_memory_new(uint32_t kinds_mask, uint32_t levels_mask);
void window_memory_free(struct window_memory *memory);
/* Names of all values; they are other ones after window_memory_forget(). */
struct diff_names *window_memory_names(struct window_memory *memory);
/* Begins a side of a comparison, to which windows are added. */
void window_memory_begin_side(const struct window_memory *memory, struct measurement *side);
/* Adds a window as the next slice. Errors of store_read(); -ENOMEM. */
int window_memory_add(struct window_memory *memory, struct store *store,
		      const struct store_window *window, struct measurement *side);
/* Between two comparisons: forgets windows that were in neither of the last one's sides. -ENOMEM:
 * all are forgotten, and there are no names. */
int window_memory_forget(struct window_memory *memory);
/* Windows that were read so far. */
uint64_t window_memory_reads(const struct window_memory *memory);

#endif
