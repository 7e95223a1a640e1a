/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of JavaScript functions (Node) at the time of each sample, from records of the kernel side
 * and what V8 keeps in the process. One owner thread.
 *
 * Bounds: V8_HISTORY_MAX_MACHINES processes whose functions have names, V8_HISTORY_MAX_NAME_BYTES
 * of these; see v8_machine.h.
 */
#ifndef PKBPF_SYMBOL_JIT_V8_HISTORY_H
#define PKBPF_SYMBOL_JIT_V8_HISTORY_H

#include "base/string_pool.h"
#include "symbol/jit/v8_machine.h"
#include "symbol/symbolizer.h"

#define V8_HISTORY_MAX_MACHINES	  64
#define V8_HISTORY_MAX_NAME_BYTES (16U << 20)

struct v8_history;

/* Borrows all three. NULL: out of memory. */
struct v8_history *v8_history_new(const struct symbolizer_options *options,
				  struct process_table *processes, struct string_pool *strings);
void v8_history_free(struct v8_history *history);

/* From now on the record's function is at its address in the process. */
void v8_history_note(struct v8_history *history, uint32_t process,
		     const struct pkbpf_event_v8_function *record);
/* Whether a record of the process came. Elsewhere a word that looks like a JavaScript frame is what
 * lies in a damaged stack. */
bool v8_history_knows(const struct v8_history *history, uint32_t process);
/* The function that runs at a place; 0: none that is known. */
uint32_t v8_history_at(struct v8_history *history, uint32_t process, const struct v8_site *site);
/* The symbol of a number from v8_history_at(). */
void v8_history_name(const struct v8_history *history, uint32_t process, uint32_t number,
		     struct symbol *ret_symbol);
/* Marks the ids of processes that it refers to. */
void v8_history_mark_processes(const struct v8_history *history, bool *is_used);
/* Forgets those that have ended long ago: their frames have names. */
void v8_history_forget_ended(struct v8_history *history, uint64_t now_ns);
/* Number of processes that it would forget. */
size_t v8_history_ended_count(const struct v8_history *history, uint64_t now_ns);
/* Functions and frames without names or lines: unreadable, or beyond the bounds. */
uint64_t v8_history_dropped(const struct v8_history *history);

#endif
