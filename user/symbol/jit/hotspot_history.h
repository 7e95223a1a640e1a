/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of Java code at the time of each sample, from what HotSpot says of its own code: methods
 * with those inlined into them, and lines. Names are read when an address is first sampled: a
 * method can be unloaded later. One owner thread.
 *
 * Bounds: HOTSPOT_HISTORY_MAX_JVMS processes; of each, HOTSPOT_HISTORY_MAX_PLACES pieces of code at
 * addresses; HOTSPOT_HISTORY_MAX_NAME_BYTES of names. Beyond these frames have no name, and are
 * counted.
 */
#ifndef PKBPF_SYMBOL_JIT_HOTSPOT_HISTORY_H
#define PKBPF_SYMBOL_JIT_HOTSPOT_HISTORY_H

#include "base/string_pool.h"
#include "symbol/symbolizer.h"

#define HOTSPOT_HISTORY_MAX_JVMS       64
#define HOTSPOT_HISTORY_MAX_PLACES     (1U << 17)
#define HOTSPOT_HISTORY_MAX_NAME_BYTES (16U << 20)

struct hotspot_history;

/* Borrows all three. NULL: out of memory. */
struct hotspot_history *hotspot_history_new(const struct symbolizer_options *options,
					    struct process_table *processes,
					    struct string_pool *strings);
void hotspot_history_free(struct hotspot_history *history);

/* The Java code at an address at the time of a sample (return addresses: less 1). 0: it is none, or
 * the process has no JVM of a known version. Never above HOTSPOT_HISTORY_MAX_NUMBER. */
#define HOTSPOT_HISTORY_MAX_NUMBER 0x7fffffffU
uint32_t hotspot_history_at(struct hotspot_history *history, uint32_t process, uint64_t address,
			    uint64_t time_ns);
/* The interpreted method of a word of a stack (pkbpf/hotspot.h); leaf: the address in the
 * interpreter of a leaf, 0: it has called something. 0: as above. */
uint32_t hotspot_history_interpreted(struct hotspot_history *history, uint32_t process,
				     uint64_t word, uint64_t leaf, uint64_t time_ns);
/* Names what these two have returned. is_final: nothing will be read any more. */
void hotspot_history_name(struct hotspot_history *history, uint32_t process, uint32_t number,
			  bool is_final, struct symbol *ret_symbol);
/* Looks for code that is new, or gone. To be called every CODE_HISTORY_LOOK_NS or more rarely. */
void hotspot_history_work(struct hotspot_history *history, uint64_t now_ns);
/* Marks the ids of processes that it refers to. */
void hotspot_history_mark_processes(const struct hotspot_history *history, bool *is_used);
/* Forgets those that have ended long ago: their frames have names. */
void hotspot_history_forget_ended(struct hotspot_history *history, uint64_t now_ns);
uint64_t hotspot_history_dropped(const struct hotspot_history *history);

#endif
