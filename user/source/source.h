/* SPDX-License-Identifier: BSD-2-Clause */
/* A source attaches the BPF programs of one profile kind: one file, one row of the table. */
#ifndef PKBPF_SOURCE_SOURCE_H
#define PKBPF_SOURCE_SOURCE_H

#include "capture/session/session.h"

struct option_row;
struct source_options;
struct source; /* state of one running source, private to its file */

/* BEGUN: the interval has begun for all sources and for resource accounting. ENDING: it is about
 * to end. ENDED: it has ended for all. */
enum source_edge { SOURCE_EDGE_BEGUN, SOURCE_EDGE_ENDING, SOURCE_EDGE_ENDED };

typedef void source_stack_fn(void *context, uint64_t stack_id);

struct source_ops {
	enum pkbpf_profile_kind kind;
	const char *name;    /* as in -e: "cpu" */
	const char *summary; /* one line for --help */
	/* Records of this source may wait in the kernel's rings and be unwound when they are
	 * read. */
	bool can_wait;
	/* Recorded only when it is named: it costs more than most want to pay all the time. */
	bool by_request;
	/* Kinds without which there is none of this one, as a mask. */
	uint32_t included_kinds;
	/* Options of this source: rows about struct source_options, closed by a row without a
	 * name, and their defaults. NULL: none. */
	const struct option_row *options;
	void (*options_init)(struct source_options *options);
	/* For a source that no kind of event needs: whether its options want it. NULL: its kind
	 * says so. */
	bool (*is_wanted)(const struct source_options *options);
	/* Size of the stack cache this source needs, a power of two. Sources share the cache
	 * (stack_maps.h). NULL: needs none. */
	uint32_t (*cached_stacks)(void);
	/* Includes the programs and maps of this kind in the load, or excludes them. */
	void (*choose)(struct pkbpf_bpf *skeleton, bool wanted);
	/* Sets sizes and constants, and excludes programs that are not needed. Called between
	 * session_new and session_load, after choose. */
	int (*configure)(struct session *session, const struct source_options *options,
			 struct source **ret_source, struct error *error);
	/* Attaches the programs; events flow from now on. Called after session_start. */
	int (*attach)(struct source *source, struct error *error);
	/* Set the interval. Attaching takes time, so events outside the interval must not be
	 * reported. Quick; may be NULL. */
	void (*begin)(struct source *source, uint64_t start_ns);
	void (*end)(struct source *source, uint64_t end_ns);
	/* Ends a slice of the interval: sends everything that belongs to it. Waits and requests
	 * in flight are divided at until_ns. Maxima and the choice of the slowest requests
	 * restart. May be NULL. */
	int (*cut)(struct source *source, uint64_t until_ns);
	/* Reads the state of threads at an edge of the interval; nothing else runs meanwhile.
	 * May be NULL. */
	int (*look)(struct source *source, enum source_edge edge, struct error *error);
	/* Called periodically: follows CPU hotplug and drains aggregated maps. May be NULL. */
	int (*poll)(struct source *source);
	/* How long until the next poll at most; NULL: it has no haste. */
	int (*rest_ms)(const struct source *source);
	/* Passes the ids of all stacks that later events may refer to, including stacks sent
	 * long ago. May be NULL. */
	void (*each_stack)(const struct source *source, source_stack_fn *take, void *context);
	/* No events follow. */
	void (*detach)(struct source *source);
	/* The last records have been taken in: says what was missed. May be NULL. */
	void (*settle)(struct source *source);
	void (*free)(struct source *source);
	/* Event that samples ("cycles", "cpu-clock"), for the header of the report; may be NULL. */
	const char *(*event_name)(const struct source *source);
};

const struct source_ops *source_by_name(const char *name);
const struct source_ops *source_at(size_t index); /* of a kind of event; NULL at the end */
/* Options of all sources, one list of rows each; NULL at the end. */
const struct option_row *source_option_rows_at(size_t index);
/* The kind of a source, and the kinds that it is a part of, as a mask. */
uint32_t source_kinds(const struct source_ops *source);
/* True when all kinds of the mask can wait; a kind's bit is 1 << enum pkbpf_profile_kind. */
bool sources_can_wait(uint32_t kinds_mask);

/* All sources named in the session's kinds_mask, in table order. */
struct source_set;
int source_set_configure(struct session *session, const struct source_options *options,
			 struct source_set **ret_set, struct error *error);
int source_set_attach(struct source_set *set, struct error *error);
/* Begin and end the interval of all sources at once. */
void source_set_begin(struct source_set *set, uint64_t start_ns);
void source_set_end(struct source_set *set, uint64_t end_ns);
/* Sends everything that belongs to the slice, from all sources. Returns the first error. */
int source_set_cut(struct source_set *set);
/* Calls look of all sources. Returns the first error. */
int source_set_look(struct source_set *set, enum source_edge edge, struct error *error);
int source_set_poll(struct source_set *set);
/* The least of most_ms and what the sources want. */
int source_set_rest_ms(const struct source_set *set, int most_ms);
void source_set_each_stack(const struct source_set *set, source_stack_fn *take, void *context);
void source_set_detach(struct source_set *set);
void source_set_settle(struct source_set *set);
void source_set_free(struct source_set *set);
const char *source_set_event_name(const struct source_set *set, enum pkbpf_profile_kind kind);

#endif
