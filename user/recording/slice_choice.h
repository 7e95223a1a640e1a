/* SPDX-License-Identifier: BSD-2-Clause */
/* Which part of a recorded slice is wanted. */
#ifndef PKBPF_RECORDING_SLICE_CHOICE_H
#define PKBPF_RECORDING_SLICE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recorded_cgroup;
struct symbol_folder;

/* Strings are borrowed. Conditions that are given must all hold. */
struct slice_choice {
	uint32_t kinds_mask; /* 1 << enum pkbpf_profile_kind; 0: all */
	const uint32_t *pids;
	size_t pid_count;
	const char *comm;      /* of the process; NULL: any */
	const char *container; /* container_match(); NULL: any */
	/* names what was recorded without a name; NULL: nothing does */
	struct symbol_folder *symbols;
};

/* Are there conditions on processes? */
bool slice_choice_is_of_processes(const struct slice_choice *choice);
/* Does a process meet them? cgroups: those of its slice. */
bool slice_choice_has(const struct slice_choice *choice, uint32_t pid, const char *comm,
		      uint64_t cgroup_id, const struct recorded_cgroup *cgroups,
		      size_t cgroup_count);
/* "pid 812, comm nginx of the whole host": all: what was recorded. */
void slice_choice_describe(const struct slice_choice *choice, const char *all, char *ret_text,
			   size_t size);

#endif
