/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sink that turns records in time order into a profile: attributes each address to the mapping
 * its process had at that moment, and adds weights. One owner thread.
 */
#ifndef PKBPF_PROFILE_AGGREGATOR_H
#define PKBPF_PROFILE_AGGREGATOR_H

#include "event/event_sink.h"
#include "profile/profile.h"

struct aggregator_options {
	/* Told of samples in generated code, so that they get the name of their time; NULL: nobody
	 * is. Borrowed. */
	struct code_history *code_history;
	bool per_thread;
	bool want_user, want_kernel; /* leave the other kind of frames out */
	size_t slow_io_limit;	     /* of the slowest block requests, so many are kept */
	/* Stacks are merged when they take so many bytes, and again whenever they have doubled; 0:
	 * never. Beyond the most, the rarest are shortened. */
	size_t merge_bytes, max_bytes;
	/* Places get their names before that, so long at a time. 0: all at once. */
	uint64_t most_naming_ns;
	/* When so many processes and threads exited, and as many again, those processes that
	 * ended a while ago are told in groups, and the threads with their processes. 0: never. */
	size_t max_ended_tasks;
	/* When the kernel side has numbered so many stacks, those that nothing has named for long
	 * are forgotten, and that nobody keeps (aggregator_keep_stack()). Events that name one
	 * after all come without a stack, which is counted. 0: never. */
	size_t max_numbered_stacks;
	/* When frames, stacks and strings of slices take so many bytes, the next slice begins with
	 * none but the stacks that later events may name. 0: never. */
	size_t max_names_bytes;
};

struct aggregator;

/*
 * Takes profile over, the first slice. At each CUT of the stream the next one begins. The one
 * before is closed at the next CUT, or when it has been over for PROCESS_LATE_NS: until then it
 * gets what comes late.
 */
struct aggregator *aggregator_new(const struct aggregator_options *options,
				  struct profile *profile);
/* With all slices that nobody has taken. */
void aggregator_free(struct aggregator *aggregator);
/* The slice that runs; NULL after the end. */
struct profile *aggregator_running(const struct aggregator *aggregator);
/* The oldest of the closed slices, which is the caller's from now on; NULL: none is closed yet.
 * The next record may use its numbers of processes for others: it is finished before. now_ns: no
 * older record can come but late ones. */
struct profile *aggregator_take_closed(struct aggregator *aggregator, uint64_t now_ns);
/* The next cut begins a generation of names: the stacks that later events may name are kept before
 * (aggregator_keep_stack()). */
bool aggregator_renews_names(const struct aggregator *aggregator);
/* Is this one of the names of the slice that runs? Otherwise, and if no other slice has its names,
 * nobody asks for them when it is freed. */
bool aggregator_has_names_of(const struct aggregator *aggregator, const struct profile *slice);
/* Between slices: forgets processes that have ended and that nothing refers to. */
void aggregator_release_processes(struct aggregator *aggregator);
/* After the end, when all slices are taken. */
bool aggregator_is_done(const struct aggregator *aggregator);
/* There are no more records, nor may any come: the slice that runs is closed, too. */
void aggregator_end(struct aggregator *aggregator);
/* Passes task and mapping records on to the profile's process table. */
struct event_sink aggregator_sink(struct aggregator *aggregator);
/* Whether the next step forgets numbers of stacks; then those that later events may name have to be
 * kept before. */
bool aggregator_forgets_stacks(const struct aggregator *aggregator);
void aggregator_keep_stack(struct aggregator *aggregator, uint64_t stack_id);
/* Between records: does the next step towards less memory, if one is due, and only that, so that
 * whoever fills rings meanwhile does not have to wait for all of them. 1: a step was done; 0: none
 * is due, or places have to get their names first; -ENOMEM. */
int aggregator_limit_memory(struct aggregator *aggregator, struct symbolizer *symbolizer);
/* Between records: names places in files and in the kernel, for a while. false: there are more. */
bool aggregator_name_places(struct aggregator *aggregator, struct symbolizer *symbolizer);
/* Between records: names places in generated code of processes that have ended, for a while. false:
 * there are more. */
bool aggregator_name_generated(struct aggregator *aggregator, struct symbolizer *symbolizer);
/* Between records: keeps of the named places that read the same one alone, so that the profile
 * refers to no more files than it has to. -ENOMEM: all is as it was. */
int aggregator_forget_places(struct aggregator *aggregator);

#endif
