/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code heaps of one process with a HotSpot JVM: contents and changes. Reads
 * memory only; nothing is stopped, and nothing is written to it.
 *
 * A change is noticed by the CodeHeap structures, which differ whenever a blob comes or goes. Then
 * the segment maps are compared, and what is new is read. What was read while it was being written
 * is read again at the next look; if it differs it is reported as gone and as new.
 *
 * Source: src/hotspot/share/memory/heap.cpp (CodeHeap), code/codeCache.cpp, code/nmethod.hpp.
 * Bounds: HOTSPOT_MAX_HEAPS heaps, HOTSPOT_MAX_HEAP_BYTES of each, HOTSPOT_MAX_BLOBS blobs, and
 * HOTSPOT_MAX_COPY_BYTES of their debug information: further ones are counted as dropped. One owner
 * thread.
 */
#ifndef PKBPF_HOTSPOT_HOTSPOT_PROCESS_H
#define PKBPF_HOTSPOT_HOTSPOT_PROCESS_H

#include "hotspot/hotspot_blob.h"
#include "hotspot/hotspot_layout.h"

#define HOTSPOT_MAX_HEAPS	    16
#define HOTSPOT_MAX_HEAP_BYTES	    (1ULL << 30)
#define HOTSPOT_MAX_ALL_HEAPS_BYTES (2ULL << 30)
#define HOTSPOT_MAX_BLOBS	    65536
#define HOTSPOT_MAX_COPY_BYTES	    (16U << 20)
#define HOTSPOT_MAX_CODELETS	    4096

struct hotspot_process;

/* What happens during hotspot_process_look(). Either may be NULL. Neither may call functions of the
 * process but hotspot_process_memory(), _codelets() and _stubs(): its list of blobs is being made.
 */
struct hotspot_process_ops {
	/* A blob is complete; it stays at this address until gone_blob(). Owner sets blob->user. */
	void (*new_blob)(void *context, struct hotspot_blob *blob);
	/* The blob is not there any more, and is freed afterwards. At most as long ago as the last
	 * look. */
	void (*gone_blob)(void *context, struct hotspot_blob *blob);
	void *context;
};

struct hotspot_heap_range {
	uint64_t start, end, reserved_end; /* committed: [start, end) */
};

/* A part of the interpreter. */
struct hotspot_codelet {
	uint64_t code_begin, code_end;
	char description[64]; /* "method entry point (kind = zerolocals)", "invokevirtual"; hostile
			       */
	int32_t bytecode;     /* -1: it is no bytecode */
};

/* The layout is copied; it was read from the same file. bias: of that file in this process. memory
 * is copied, its context borrowed. Nothing is read yet. NULL: out of memory. */
struct hotspot_process *hotspot_process_new(const struct hotspot_layout *layout, uint64_t bias,
					    const struct hotspot_memory *memory);
/* Blobs are freed without gone_blob(). */
void hotspot_process_free(struct hotspot_process *process);

/*
 * Looks for changes, at `now_ns` (CLOCK_MONOTONIC). 1: there were some; 0: none, at the cost of a
 * few system calls, or it is too early: a look that found changes is followed by a rest of 50 times
 * its CPU time, at most five seconds; negative errno: -ESRCH, -EPERM, -EFAULT of memory, -EBADMSG:
 * what is there is no code cache (a JVM that is just starting; ask again), -ENOMEM. After an error
 * blobs known before stay.
 */
int hotspot_process_look(struct hotspot_process *process, const struct hotspot_process_ops *ops,
			 uint64_t now_ns);

/* Time of the last look that was not put off, and listed all there was. */
uint64_t hotspot_process_looked_ns(const struct hotspot_process *process);
const struct hotspot_memory *hotspot_process_memory(const struct hotspot_process *process);
/* When hotspot_process_look() looks again: before, it returns 0 at once. */
uint64_t hotspot_process_next_look(const struct hotspot_process *process);

const struct hotspot_layout *hotspot_process_layout(const struct hotspot_process *process);
size_t hotspot_process_heap_count(const struct hotspot_process *process);
struct hotspot_heap_range hotspot_process_heap(const struct hotspot_process *process, size_t index);
/* Whether the address is in the reserved part of a heap: Java code, whether it is listed or not. */
bool hotspot_process_is_code(const struct hotspot_process *process, uint64_t address);
/* By address, ascending; of the last look. Valid until the next. */
size_t hotspot_process_blob_count(const struct hotspot_process *process);
struct hotspot_blob *hotspot_process_blob(const struct hotspot_process *process, size_t index);
/* The blob whose block has the address; NULL: none. */
struct hotspot_blob *hotspot_process_find(const struct hotspot_process *process, uint64_t address);
/* Blobs that the last look with changes has left out because of the bounds. */
uint64_t hotspot_process_dropped(const struct hotspot_process *process);

/* Copies the parts of the interpreter, by address. Returns how many there are, at most `limit`; 0:
 * it cannot be read. */
size_t hotspot_process_codelets(const struct hotspot_process *process,
				struct hotspot_codelet *codelets, size_t limit);
/* Where calls of Java methods return to that native code made; 0: not known. */
uint64_t hotspot_process_call_stub_return(const struct hotspot_process *process);
/* Entry points of stub routines, unsorted, at most `limit`. */
size_t hotspot_process_stubs(const struct hotspot_process *process, uint64_t *entries,
			     size_t limit);

#endif
