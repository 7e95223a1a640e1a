/* SPDX-License-Identifier: BSD-2-Clause */
/* A "thread" of the Firefox Profiler: the stacks of one kind of a process over time, with tables of
 * its own. */
#ifndef PKBPF_EXPORT_TIMELINE_FIREFOX_TRACK_H
#define PKBPF_EXPORT_TIMELINE_FIREFOX_TRACK_H

#include <stdio.h>

#include <pkbpf/event.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "base/string_pool.h"
#include "export/timeline/firefox_nodes.h"
#include "export/timeline/timeline_slice.h"

/* Places in meta.categories. */
enum firefox_category {
	FIREFOX_OTHER,
	FIREFOX_USER,
	FIREFOX_KERNEL,
	FIREFOX_JIT,
	FIREFOX_PYTHON,
	FIREFOX_CATEGORIES,
};

struct firefox_function {
	uint32_t name, file, module; /* strings; file and module 0: none */
	uint32_t line;
	enum firefox_category category;
	bool inlined;
};

struct firefox_sample {
	double time_ms;
	uint64_t weight;
	uint32_t stack; /* 1 + place; 0: none */
};

struct firefox_request {
	double begin_ms, end_ms, queue_ms, device_ms;
	const char *operation, *device; /* device becomes the track's own */
	uint32_t bytes;
};

struct firefox_wait {
	double begin_ms, end_ms, queue_ms;
	const char *state;
	uint32_t stack; /* 1 + place; 0: none */
};

struct firefox_track {
	uint32_t pid;
	uint64_t born_ns; /* see struct timeline_stack */
	uint32_t tid;	  /* of single events; 0: sums of a process */
	enum pkbpf_profile_kind kind;
	double weight_ns; /* CPU time of a sample; 0: it is none */
	struct string_pool *strings;
	struct hash_map function_of;
	ARRAY_OF(struct firefox_function) functions;
	struct firefox_nodes nodes;
	ARRAY_OF(struct firefox_sample) samples;
	ARRAY_OF(struct firefox_request) requests;
	ARRAY_OF(struct firefox_wait) waits;
};

struct firefox_step {
	uint32_t function; /* of the slice */
	uint32_t node;	   /* 1 + place */
};

/* What is known of the stacks of one track in one slice: its functions, and the stack before, which
 * in sorted order begins as the next one does. Zero-initialised knows nothing. */
struct firefox_memo {
	const struct firefox_track *track;
	uint32_t number; /* of what is known; older answers do not count */
	struct firefox_answer {
		uint32_t number, function;
	} * answers; /* by function of the slice */
	size_t answer_count;
	ARRAY_OF(struct firefox_step) path; /* root first */
};

/* Before each slice; -ENOMEM. */
int firefox_memo_begin(struct firefox_memo *memo, const struct timeline_slice *slice);
void firefox_memo_done(struct firefox_memo *memo);

/* NULL: out of memory. */
struct firefox_track *firefox_track_new(uint32_t pid, enum pkbpf_profile_kind kind);
void firefox_track_free(struct firefox_track *track);
/* 1 + place of a stack; UINT32_MAX: out of memory. */
uint32_t firefox_track_stack(struct firefox_track *track, const struct timeline_slice *slice,
			     const struct timeline_stack *stack, struct firefox_memo *memo);
/* Each -ENOMEM. */
int firefox_track_add(struct firefox_track *track, const struct timeline_slice *slice,
		      const struct timeline_stack *stack, struct firefox_memo *memo,
		      double time_ms);
int firefox_track_add_request(struct firefox_track *track, const struct firefox_request *request);
int firefox_track_add_wait(struct firefox_track *track, const struct firefox_wait *wait);
/* Puts samples in order of time. */
void firefox_track_sort(struct firefox_track *track);
/* By process and kind. */
int firefox_track_compare(const struct firefox_track *a, const struct firefox_track *b);
/* thread: NULL for a track without a tid. */
struct firefox_track_names {
	const char *process, *thread;
};
/* As an item of the profile's threads. is_first: of its process. */
void firefox_track_write(const struct firefox_track *track, const struct firefox_track_names *names,
			 bool is_first, double end_ms, FILE *out);

#endif
