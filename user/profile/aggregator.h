/* SPDX-License-Identifier: BSD-2-Clause */
/* The sink that turns records in time order into a profile. It resolves each address to the
 * mapping its process had at that moment, and adds weights. One owner thread. */
#ifndef PKBPF_PROFILE_AGGREGATOR_H
#define PKBPF_PROFILE_AGGREGATOR_H

#include "event/event_sink.h"
#include "process/library_watch.h"
#include "profile/profile.h"

struct aggregator_options {
	/* Gets samples in generated code, so that they are symbolized with the code of their
	 * time; NULL: none. Borrowed. */
	struct code_history *code_history;
	/* Learns the functions of Python frames; NULL: none. Borrowed. */
	struct python_functions *python;
	/* Names variables: which lock it is; NULL: none. Borrowed. */
	struct data_namer *data_namer;
	/* Sees tasks and mappings first; NULL: none. Borrowed. */
	struct library_watch *library_watch;
	bool python_full; /* keep the native frames that run Python frames */
	/* Kernel frames from the outermost of this code on are one, "[pkbpf]"; NULL: none.
	 * Borrowed, may grow before the first sample. */
	const struct own_code *own_code;
	/* Whether generated code of a process is looked for before a sample refers to it: records
	 * are of the whole machine. NULL: of each. */
	bool (*is_followed)(void *context, uint32_t pid);
	void *follow_context;
	bool per_thread;
	bool want_user, want_kernel; /* otherwise frames of this kind are left out */
	size_t slow_io_limit;	     /* maximum number of slowest block requests kept */
	size_t slow_request_limit;   /* of requests by contexts */
	size_t slow_region_limit;    /* and of regions and calls that took long */
	uint64_t slow_io_ns;	     /* faster ones are not among them */
	/* Also keep single events: CPU samples, and waits and requests of this length or more. 0:
	 * none. */
	uint64_t trace_ns;
	/* Stacks are merged when they reach merge_bytes, and again whenever they have doubled;
	 * 0: never. Above max_bytes the rarest stacks are shortened. */
	size_t merge_bytes, max_bytes;
	/* Time limit of one call that symbolizes frames before a merge. 0: no limit. */
	uint64_t most_naming_ns;
	/* Number of exited processes and threads that triggers a merge, each time anew: processes
	 * that exited some time ago into groups, exited threads into their processes. 0: never. */
	size_t max_ended_tasks;
	/* When the kernel side has numbered this many stacks, those without recent references are
	 * forgotten, except kept ones (aggregator_keep_stack()). A later event that refers to a
	 * forgotten stack has no stack, which is counted. 0: never. */
	size_t max_numbered_stacks;
	/* When frames, stacks and strings of slices reach this many bytes, the next slice begins
	 * with only the stacks that later events may refer to. 0: never. */
	size_t max_names_bytes;
	/* The same when they have been collected for so long. 0: never. */
	uint64_t max_names_ns;
};

struct aggregator;

/* Takes ownership of profile, the first slice. The next slice begins at each CUT of the stream.
 * The slice before is closed at the next CUT, or PROCESS_LATE_NS after its end: until then it
 * gets late records. */
struct aggregator *aggregator_new(const struct aggregator_options *options,
				  struct profile *profile);
/* Also frees all closed slices that were not taken. */
void aggregator_free(struct aggregator *aggregator);
/* The current slice; NULL after the end. */
struct profile *aggregator_running(const struct aggregator *aggregator);
/* Returns the oldest closed slice, now owned by the caller; NULL: none. The next record may
 * reuse its process ids for other processes, so finish it first. now_ns: all older records but
 * late ones have arrived. */
struct profile *aggregator_take_closed(struct aggregator *aggregator, uint64_t now_ns);
/* Decides whether the next cut, which is at time_ns, begins a new generation of names. true: it
 * does; keep the stacks that later events may refer to (aggregator_keep_stack()). A cut that was
 * not planned decides for itself. */
bool aggregator_plan_cut(struct aggregator *aggregator, uint64_t time_ns);
/* Marks the mapped files that frames of slices refer to; is_used has room for all ids. */
void aggregator_mark_files(const struct aggregator *aggregator, bool *is_used);
/* Forgets exited processes without references. Only between slices. */
void aggregator_release_processes(struct aggregator *aggregator);
/* True after the end, when all slices are taken. */
bool aggregator_is_done(const struct aggregator *aggregator);
/* Ends the stream: no more records may come, and the current slice is closed. */
void aggregator_end(struct aggregator *aggregator);
/* Passes task and mapping records on to the profile's process table. */
struct event_sink aggregator_sink(struct aggregator *aggregator);
/* True when the next step forgets stack numbers. Then keep those that later events may refer to. */
bool aggregator_forgets_stacks(const struct aggregator *aggregator);
void aggregator_keep_stack(struct aggregator *aggregator, uint64_t stack_id);
/* Takes the next due step towards less memory, and only one, so that rings are not left waiting
 * for all of them. Only between records. 1: a step was done; 0: none is due, or frames must be
 * symbolized first; -ENOMEM. */
int aggregator_limit_memory(struct aggregator *aggregator, struct symbolizer *symbolizer);
/* For a limit of memory that is reached before those of the options: makes the next step group
 * processes that have exited. */
void aggregator_group_processes(struct aggregator *aggregator);
/* Likewise: makes the next steps shorten stacks until they take half of their memory, which is the
 * maximum from now on; or count the rarest as one. false: they take little. */
bool aggregator_cut_stacks(struct aggregator *aggregator, bool joins);
/* Symbolizes frames in files and the kernel, for a limited time. Only between records. false:
 * more are left. */
bool aggregator_name_places(struct aggregator *aggregator, struct symbolizer *symbolizer);
/* Symbolizes frames in generated code of exited processes, for a limited time. Only between
 * records. false: more are left. */
bool aggregator_name_generated(struct aggregator *aggregator, struct symbolizer *symbolizer);
/* Keeps one of all symbolized frames with equal text, so that the profile refers to fewer files.
 * Only between records. -ENOMEM: nothing has changed. */
int aggregator_forget_places(struct aggregator *aggregator);

#endif
