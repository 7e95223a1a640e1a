/* SPDX-License-Identifier: BSD-2-Clause */
/* A source attaches the BPF programs of one kind of event: one file, one row of the table. */
#ifndef PKBPF_SOURCE_SOURCE_H
#define PKBPF_SOURCE_SOURCE_H

#include "capture/session/session.h"

struct option_row;
struct source_options;
struct source; /* the running state of one kind, private to its file */

/* After the interval has begun for all sources and the account of resources, before it ends, and
 * after it exited for all. */
enum source_edge { SOURCE_EDGE_BEGUN, SOURCE_EDGE_ENDING, SOURCE_EDGE_ENDED };

typedef void source_stack_fn(void *context, uint64_t stack_id);

struct source_ops {
	enum pkbpf_profile_kind kind;
	const char *name;    /* as in -e: "cpu" */
	const char *summary; /* one line for --help */
	/* Its records can wait in the kernel's rings, and be unwound when they are read. */
	bool can_wait;
	/* Options of its own: rows about struct source_options, the last one without a name, and
	 * the defaults. NULL: none. */
	const struct option_row *options;
	void (*options_init)(struct source_options *options);
	/* Size of the cache of stacks that it needs, a power of two. Sources share it
	 * (stack_maps.h). NULL: it needs none. */
	uint32_t (*cached_stacks)(void);
	/* The programs and maps of this kind are part of what is loaded, or not. */
	void (*choose)(struct pkbpf_bpf *skeleton, bool wanted);
	/* Between session_new and session_load, once chosen: set sizes and constants, and leave out
	 * what need not be loaded. */
	int (*configure)(struct session *session, const struct source_options *options,
			 struct source **ret_source, struct error *error);
	/* After session_start: events flow from now on. */
	int (*attach)(struct source *source, struct error *error);
	/* The interval: what happened outside of it must not be told, and attaching all takes its
	 * time. Quick; may be NULL. */
	void (*begin)(struct source *source, uint64_t start_ns);
	void (*end)(struct source *source, uint64_t end_ns);
	/* A slice of the interval ends now: sends all that belongs to it. What goes on is divided
	 * at until_ns; largest values and the choice of the slowest start anew. May be NULL. */
	int (*cut)(struct source *source, uint64_t until_ns);
	/* Reads how threads are at its edges; others wait meanwhile. May be NULL. */
	int (*look)(struct source *source, enum source_edge edge, struct error *error);
	/* Called every now and then while running: CPUs that came, aggregated maps to drain. May be
	 * NULL. */
	int (*poll)(struct source *source);
	/* Tells the numbers of stacks that later events may name, however long ago the stacks were
	 * sent. May be NULL. */
	void (*each_stack)(const struct source *source, source_stack_fn *take, void *context);
	/* No event after this. */
	void (*detach)(struct source *source);
	void (*free)(struct source *source);
	/* What really samples ("cycles", "cpu-clock"), for the report's header; may be NULL. */
	const char *(*event_name)(const struct source *source);
};

const struct source_ops *source_by_name(const char *name);
const struct source_ops *source_at(size_t index); /* NULL at the end */
/* Those of all these kinds can wait; the mask is 1 << enum pkbpf_profile_kind. */
bool sources_can_wait(uint32_t kinds_mask);

/* All sources named in the session's kinds_mask, in table order. */
struct source_set;
int source_set_configure(struct session *session, const struct source_options *options,
			 struct source_set **ret_set, struct error *error);
int source_set_attach(struct source_set *set, struct error *error);
/* The interval begins and ends for all sources at once. */
void source_set_begin(struct source_set *set, uint64_t start_ns);
void source_set_end(struct source_set *set, uint64_t end_ns);
/* All send what belongs to the slice that ends; the first error is told. */
int source_set_cut(struct source_set *set);
/* All look; the first error is told. */
int source_set_look(struct source_set *set, enum source_edge edge, struct error *error);
int source_set_poll(struct source_set *set);
void source_set_each_stack(const struct source_set *set, source_stack_fn *take, void *context);
void source_set_detach(struct source_set *set);
void source_set_free(struct source_set *set);
const char *source_set_event_name(const struct source_set *set, enum pkbpf_profile_kind kind);

#endif
