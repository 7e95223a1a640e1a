/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts programs among a process and its descendants that run without a library meant for all of
 * them: those that are statically linked, and those started with another LD_PRELOAD. One owner
 * thread; feed it the records of tasks and mappings in time order. */
#ifndef PKBPF_PROCESS_LIBRARY_WATCH_H
#define PKBPF_PROCESS_LIBRARY_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <pkbpf/event.h>

#include "base/array.h"
#include "event/event_sink.h"

/* More processes at a time are counted, and not followed. */
#define LIBRARY_WATCH_MAX 4096

struct library_watch_process {
	uint32_t pid;
	bool is_program; /* it has called exec itself */
	bool is_loaded;
	uint64_t exec_ns;
	char comm[PKBPF_COMM_SIZE + 1];
};

struct library_watch {
	const char *name; /* of the file, without folders; borrowed */
	ARRAY_OF(struct library_watch_process) processes;
	uint64_t without;		 /* programs that ended without it */
	uint64_t unfollowed;		 /* forked while there was no room */
	char first[PKBPF_COMM_SIZE + 1]; /* name of the first of them */
};

/* Follows a process that has not called exec yet. -ENOMEM: out of memory, or too many. */
int library_watch_add(struct library_watch *watch, uint32_t pid);
void library_watch_on_task(struct library_watch *watch, const struct task_view *task);
void library_watch_on_mapping(struct library_watch *watch, const struct mapping_view *mapping);
/* Counts programs that still run, unless they began less than 100 ms before now_ns: these may
 * still load it. */
void library_watch_end(struct library_watch *watch, uint64_t now_ns);
void library_watch_done(struct library_watch *watch);

#endif
