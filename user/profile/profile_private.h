/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a profile, for profile.c, shrink/ and slice/; private. */
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

/* Frames, stacks and strings; their numbers are valid in all slices that share them. */
struct profile_names {
	size_t references;
	struct string_pool *strings;
	struct frame_table frames;
	struct stack_table *stacks;
	struct line_store *lines; /* of symbols */
};

/* Starts with one reference; NULL: out of memory. */
struct profile_names *profile_names_new(void);
/* Accepts NULL. */
void profile_names_unref(struct profile_names *names);
/* Replaces the symbol's texts and lines by copies that live as long as the names; false: out of
 * memory. */
bool profile_names_keep(struct profile_names *names, struct symbol *symbol);

struct profile {
	struct process_table *processes;
	struct mapped_file_table *files; /* of a process table owned by the profile; else NULL */
	struct profile_info info;
	struct profile_names *names;

	ARRAY_OF(struct profile_row) rows;
	struct hash_index row_index;
	uint64_t cpu_samples;

	struct stack_ends ends;
	ARRAY_OF(struct stack_ends) process_ends; /* only for processes with a sample */
	struct hash_map ends_of_process;	  /* process -> number in process_ends */
	uint64_t guessed_frames;

	struct distribution_table *distributions;
	struct hash_map device_names; /* number -> string */
	struct resource_usage *resources;
	void *accounts[ACCOUNT_COUNT]; /* account/account.h */
	struct symbol_notes notes;
	struct time_line *times; /* NULL: not wanted */

	uint64_t seed;
};

/* Symbolizes frames of these spaces (1 << enum frame_space) that have no symbol yet: at least
 * one. Stops at until_ns (CLOCK_MONOTONIC), or after the file being read then. false: more are
 * left. */
bool profile_name_frames(struct profile *profile, struct symbolizer *symbolizer, uint32_t spaces,
			 uint64_t until_ns);

/* Changes the keys of all rows and adds up rows with equal new keys. false: out of memory,
 * nothing has changed. */
bool profile_rekey_rows(struct profile *profile,
			void (*rekey)(const void *context, struct profile_row *row),
			const void *context);

#endif
