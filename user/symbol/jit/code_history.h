/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of generated code at the time of each sample. The perf map or jitdump of a process is
 * opened when it is known to have generated code, and looked at again whenever a sample comes and
 * every so often in between: what was added since says which code has been replaced, and when. Of
 * its lines those that cover sampled addresses are kept. One owner thread.
 *
 * Bounds: CODE_HISTORY_MAX_FILES descriptors; CODE_HISTORY_MAX_PLACES addresses, of which the
 * rarest are forgotten first; CODE_HISTORY_MAX_NAME_BYTES of names, of which those of the rarest
 * places are the first not to be kept any more. What loses its name by that is counted.
 */
#ifndef PKBPF_SYMBOL_JIT_CODE_HISTORY_H
#define PKBPF_SYMBOL_JIT_CODE_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/string_pool.h"
#include "symbol/symbolizer.h"

#define CODE_HISTORY_MAX_FILES	    64
#define CODE_HISTORY_MAX_PLACES	    (1U << 17)
#define CODE_HISTORY_MAX_NAME_BYTES (16U << 20)
/* While processes write into their files these are looked at so often. */
#define CODE_HISTORY_LOOK_NS 100000000ULL

struct code_history;
struct pkbpf_event_v8_function;
struct v8_site;

/* Borrows all three. NULL: out of memory. */
struct code_history *code_history_new(const struct symbolizer_options *options,
				      struct process_table *processes, struct string_pool *strings);
void code_history_free(struct code_history *code);

/* Between records: the process has mapped memory for generated code. */
void code_history_expect(struct code_history *code, uint32_t process,
			 const struct mapping *mapping);
/* The code at an address at the time of a sample, for struct frame_location; 0: out of memory. */
uint32_t code_history_at(struct code_history *code, uint32_t process, uint64_t address,
			 uint64_t time_ns);
/* The same for an interpreted Java method, by its word (pkbpf/hotspot.h); leaf: the address in the
 * interpreter of a leaf, or 0. 0: it is none, or has no name. */
uint32_t code_history_interpreted(struct code_history *code, uint32_t process, uint64_t word,
				  uint64_t leaf, uint64_t time_ns);
/* A JavaScript function that stacks of the process refer to from now on. */
void code_history_note_javascript(struct code_history *code, uint32_t process,
				  const struct pkbpf_event_v8_function *record);
/* Whether stacks of the process may refer to JavaScript functions. */
bool code_history_has_javascript(const struct code_history *code, uint32_t process);
/* The JavaScript function that runs at a place, for the location of a frame whose address is the
 * first word of the site. 0: it is none, or has no name. */
uint32_t code_history_javascript(struct code_history *code, uint32_t process,
				 const struct v8_site *site);
/* Looks at files and reads what is to be read, until then (CLOCK_MONOTONIC). true: there is
 * more. */
bool code_history_work(struct code_history *code, uint64_t until_ns);
/* Whether files should be looked at every CODE_HISTORY_LOOK_NS. */
bool code_history_is_busy(const struct code_history *code);
/* Reads all there is to read: names are final after that. */
void code_history_settle(struct code_history *code);
/* How many processes have ended whose names are final, and that could be forgotten by
 * code_history_forget_ended() once their frames have names. */
size_t code_history_ended_count(const struct code_history *code);
void code_history_forget_ended(struct code_history *code);
/* Marks the ids of processes that it refers to; is_used has room for process_table_count(). */
void code_history_mark_processes(const struct code_history *code, bool *is_used);
/* Samples without names or lines of generated code: to save memory and time, or unreadable. */
uint64_t code_history_dropped(const struct code_history *code);

/* Names frames in FRAME_ANONYMOUS; their `code` 0: as if they were sampled just now. Says
 * SYMBOL_PENDING until the process has ended or code_history_settle() was called. Borrows. */
struct symbolizer *code_history_symbolizer_new(struct code_history *code);

#endif
