/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams of all kinds of records, made up from a seed, and played with cuts: processes that fork,
 * call exec and exit, samples, waits, requests, faults, losses, late records, and an account of
 * resources whose counters follow the time, so that it can be read at any cut.
 */
#ifndef PKBPF_TEST_SLICE_STREAM_H
#define PKBPF_TEST_SLICE_STREAM_H

#include "fake_profile.h"

#define SLICE_STREAM_START_NS 10000000000ULL

struct slice_actor; /* a thread on paper */

struct slice_stream {
	struct event_buffer records; /* in order of arrival */
	struct slice_actor *actors;
	size_t actor_count;
	uint64_t end_ns;
	bool per_thread;
};

/* A stream of about so many records. */
void slice_stream_init(struct slice_stream *stream, uint64_t seed, size_t records);
/* The same with single waits. */
void slice_stream_init_traced(struct slice_stream *stream, uint64_t seed, size_t records);
void slice_stream_done(struct slice_stream *stream);
uint64_t slice_stream_random(uint64_t *state, uint64_t below);

struct slice_plan {
	const uint64_t *cuts; /* ascending times */
	size_t cut_count;
	bool reads_at_cuts;	/* the account of resources */
	size_t max_names_bytes; /* see struct aggregator_options, as the next one */
	uint64_t trace_ns;
	bool in_pairs; /* merges two slices, and that into the others */
	void (*take)(void *context, const struct profile *slice); /* gets each; NULL: nobody */
	void *context;
	/* out: */
	size_t slice_count;
	uint64_t late_records;
	uint64_t run_ns; /* sum of what slices say by themselves */
};

/* Plays the stream, and merges its slices, named, into one profile, which the caller frees. */
struct profile *slice_stream_play(const struct slice_stream *stream, struct slice_plan *plan);
/* What formats of lines say of it, in one text, which the caller frees. */
char *slice_stream_write(struct profile *profile);

#endif
