/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files that read a slice; private. */
#ifndef PKBPF_RECORDING_SLICE_DECODING_H
#define PKBPF_RECORDING_SLICE_DECODING_H

#include <errno.h>

#include "profile/profile.h"
#include "recording/recording_reader.h"
#include "recording/slice_choice.h"
#include "recording/slice_tables.h"

#define NOT_CHOSEN UINT32_MAX

/* By place in the block: ids of the profile; NOT_CHOSEN. */
struct slice_numbers {
	uint32_t *items;
	size_t count;
};

struct slice_decoding {
	const struct recording_block *block;
	const struct slice_choice *choice;
	struct recorded_strings strings;
	struct profile *profile;
	struct slice_numbers processes, account_processes, frames, stacks;
	struct slice_numbers accounts[ACCOUNT_COUNT]; /* of their first tables */
	struct recorded_cgroup *cgroups;
	size_t cgroup_count;
	struct recorded_facts facts;
};

/* The rows of a table; none when the block has no such section. The caller frees them. -EBADMSG,
 * -ENOTSUP, -ENOMEM. */
int slice_read_table(const struct slice_decoding *work, const struct recorded_table *table,
		     void *ret_rows, size_t *ret_count);
static inline const char *slice_text(const char *string)
{
	return string ? string : "";
}

/* Is it among those that were chosen? */
bool slice_has_kind(const struct slice_decoding *work, enum pkbpf_profile_kind kind);
bool slice_has_process(const struct slice_decoding *work, uint32_t pid, const char *comm,
		       uint64_t cgroup_id);
/* place: 1 + place in the table. false: it is none of the chosen ones. 0, of no process, is one,
 * unless only some processes are wanted. -EBADMSG in *ret_err. */
bool slice_find_process(const struct slice_decoding *work, uint32_t place, uint32_t *ret_id,
			int *ret_err);

/* place: 1 + place in the table, which is that large; 0: UINT32_MAX. */
static inline uint32_t slice_find_stack(const struct slice_decoding *work, uint32_t place)
{
	return place ? work->stacks.items[place - 1] : UINT32_MAX;
}

/* Each: -EBADMSG, -ENOMEM. */
int slice_read_frames(struct slice_decoding *work);
int slice_read_stacks(struct slice_decoding *work);
int slice_read_cgroups(struct slice_decoding *work);
int slice_read_resources(struct slice_decoding *work);
/* Reads the accounts that distributions name, or the others. */
int slice_read_accounts(struct slice_decoding *work, bool is_named);

/* What a list has no room for is counted. */
static inline int slice_left_out(const struct slice_decoding *work, int err)
{
	if (err != -ENOSPC)
		return err;
	profile_info(work->profile)->counters[PKBPF_COUNTER_MERGE_TOO_MANY]++;
	return 0;
}

#endif
