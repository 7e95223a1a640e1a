/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a profile, for profile.c, shrink/ and slice/; nobody else includes this. */
#ifndef PKBPF_PROFILE_PROFILE_PRIVATE_H
#define PKBPF_PROFILE_PROFILE_PRIVATE_H

#include "base/array.h"
#include "base/hash_map.h"
#include "profile/frame_table.h"
#include "profile/profile.h"
#include "profile/stack_table.h"
#include "symbol/symbol_notes.h"

struct stack_ends {
	uint64_t counts[PKBPF_END_COUNT];
};

struct line_store;

/* Frames, stacks and strings, by numbers that mean the same in all slices that share them. */
struct profile_names {
	size_t references;
	struct string_pool *strings;
	struct frame_table frames;
	struct stack_table *stacks;
	struct line_store *lines; /* of symbols that were put in with their texts */
};

/* With one reference; NULL: out of memory. */
struct profile_names *profile_names_new(void);
/* NULL is fine. */
void profile_names_unref(struct profile_names *names);

struct profile {
	struct process_table *processes;
	struct mapped_file_table *files; /* of a table of its own; else NULL */
	struct profile_info info;
	struct profile_names *names;

	ARRAY_OF(struct profile_row) rows;
	struct hash_index row_index;
	uint64_t cpu_samples;

	struct stack_ends ends;
	ARRAY_OF(struct stack_ends) process_ends; /* only of processes that had a sample */
	struct hash_map ends_of_process;	  /* process -> number in process_ends */
	uint64_t guessed_frames;

	struct distribution_table *distributions;
	struct hash_map device_names; /* number -> string */
	struct resource_usage *resources;
	struct slow_io_list *slow_io;
	struct symbol_notes notes;
	struct relation_list *relations;

	uint64_t seed;
};

/* Names the frames of these spaces (1 << enum frame_space) that have no name yet, one at least,
 * until then at the latest (CLOCK_MONOTONIC), or when the file that is read then has been. false:
 * there are more. */
bool profile_name_frames(struct profile *profile, struct symbolizer *symbolizer, uint32_t spaces,
			 uint64_t until_ns);

/* The rows again, with keys changed; those that get the same one are added up. false: out of
 * memory, and all is as it was. */
bool profile_rekey_rows(struct profile *profile,
			void (*rekey)(const void *context, struct profile_row *row),
			const void *context);

#endif
