// SPDX-License-Identifier: BSD-2-Clause
/* Fills a slice with what a block says, which may be anything. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "event/counter_table.h"
#include "profile/slice/slice.h"
#include "recording/slice_codec.h"
#include "recording/slice_decoding.h"

int slice_read_table(const struct slice_decoding *work, const struct recorded_table *table,
		     void *ret_rows, size_t *ret_count)
{
	const struct recording_section *section = recording_block_find(work->block, table->section);
	_cleanup_free_ uint8_t *data = NULL;
	int err;

	*(void **)ret_rows = NULL;
	*ret_count = 0;
	if (!section)
		return 0;
	err = recording_section_unpack(section, &data);
	return err ? err
		   : recorded_table_decode(table, data, section->plain, &work->strings, ret_rows,
					   ret_count);
}

static int read_strings(struct slice_decoding *work)
{
	const struct recording_section *section = recording_block_find(work->block, SLICE_STRINGS);
	uint8_t *data;
	int err = section ? recording_section_unpack(section, &data) : -EBADMSG;

	return err ? err : recorded_strings_decode(&work->strings, data, section->plain);
}

bool slice_has_kind(const struct slice_decoding *work, enum pkbpf_profile_kind kind)
{
	return !work->choice || !work->choice->kinds_mask ||
	       ((unsigned int)kind < 32 && work->choice->kinds_mask & 1U << kind);
}

/* ---- facts ---- */

static int read_counters(struct slice_decoding *work, struct profile_info *info)
{
	_cleanup_free_ struct recorded_counter *rows = NULL;
	size_t count;
	int err = slice_read_table(work, &slice_counters, &rows, &count);

	/* One that is not known here was counted by a later version, or by an earlier one. */
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < PKBPF_COUNTER_COUNT; j++)
			if (strcmp(slice_text(rows[i].name), counter_table[j].name) == 0)
				info->counters[j] = rows[i].count;
	return err;
}

static int read_facts(struct slice_decoding *work)
{
	_cleanup_free_ struct recorded_facts *rows = NULL;
	struct profile_info *info = profile_info(work->profile);
	size_t count;
	int err = slice_read_table(work, &slice_facts, &rows, &count);

	if (err || count != 1)
		return err ? err : -EBADMSG;
	work->facts = rows[0];
	if (work->facts.info.end_ns < work->facts.info.start_ns)
		return -EBADMSG;
	*info = work->facts.info;
	slow_io_list_limit(profile_slow_io(work->profile),
			   work->facts.slow_io_limit < 100000 ? work->facts.slow_io_limit : 100000);
	slow_region_list_limit(
		profile_slow_regions(work->profile),
		work->facts.slow_region_limit < 100000 ? work->facts.slow_region_limit : 100000);
	request_list_limit(profile_contexts(work->profile), work->facts.slow_request_limit < 100000
								    ? work->facts.slow_request_limit
								    : 100000);
	return read_counters(work, info);
}

/* ---- processes ---- */

bool slice_has_process(const struct slice_decoding *work, uint32_t pid, const char *comm,
		       uint64_t cgroup_id)
{
	return slice_choice_has(work->choice, pid, comm, cgroup_id, work->cgroups,
				work->cgroup_count);
}

static int read_processes(struct slice_decoding *work)
{
	_cleanup_free_ struct process *rows = NULL;
	int err = slice_read_table(work, &slice_processes, &rows, &work->processes.count);

	work->processes.items =
		malloc((work->processes.count + 1) * sizeof(*work->processes.items));
	if (!err && !work->processes.items)
		err = -ENOMEM;
	for (size_t i = 0; i < work->processes.count && !err; i++) {
		struct process *put;

		work->processes.items[i] = NOT_CHOSEN;
		if (!slice_has_process(work, rows[i].pid, rows[i].comm, rows[i].cgroup_id))
			continue;
		put = process_table_put(profile_processes(work->profile), &rows[i]);
		if (!put)
			return -ENOMEM;
		work->processes.items[i] = put->id;
	}
	return err;
}

bool slice_find_process(const struct slice_decoding *work, uint32_t place, uint32_t *ret_id,
			int *ret_err)
{
	if (place > work->processes.count)
		*ret_err = -EBADMSG;
	if (*ret_err)
		return false;
	*ret_id = place ? work->processes.items[place - 1] : UINT32_MAX;
	return place ? *ret_id != NOT_CHOSEN : !slice_choice_is_of_processes(work->choice);
}

/* ---- figures ---- */

static int put_row(struct slice_decoding *work, const struct recorded_row *recorded)
{
	struct profile_row row = recorded->row;
	int err = 0;

	if (!row.stack || row.stack > work->stacks.count || row.waker > work->stacks.count)
		return -EBADMSG;
	if (!slice_has_kind(work, row.kind) ||
	    !slice_find_process(work, row.process, &row.process, &err))
		return err;
	row.stack = slice_find_stack(work, row.stack);
	row.waker = row.waker ? slice_find_stack(work, row.waker) + 1 : 0;
	row.comm = profile_intern_string(work->profile, slice_text(recorded->comm));
	return row.comm == UINT32_MAX ? -ENOMEM : profile_add(work->profile, &row);
}

static int read_rows(struct slice_decoding *work)
{
	_cleanup_free_ struct recorded_row *rows = NULL;
	size_t count;
	int err = slice_read_table(work, &slice_rows, &rows, &count);

	for (size_t i = 0; i < count && !err; i++)
		err = put_row(work, &rows[i]);
	return err;
}

static int read_ends(struct slice_decoding *work)
{
	_cleanup_free_ struct recorded_end *rows = NULL;
	size_t count;
	int err = slice_read_table(work, &slice_ends, &rows, &count);

	for (size_t i = 0; i < count && !err; i++) {
		uint32_t process;

		if (rows[i].end < PKBPF_END_COUNT &&
		    slice_find_process(work, rows[i].process, &process, &err))
			profile_count_end(work->profile, process, rows[i].end, rows[i].count, 0);
	}
	if (!slice_choice_is_of_processes(work->choice))
		profile_add_guessed_frames(work->profile, work->facts.guessed_frames);
	return err;
}

/* The profile's number of the peer of a distribution. false: there is no such peer. */
static bool find_peer(const struct slice_decoding *work, struct distribution_key *key)
{
	const struct slice_numbers *peers = &work->accounts[ACCOUNT_peers];

	if (key->kind != PKBPF_PROFILE_NETWORK || !key->device)
		return true;
	if (key->device > peers->count)
		return false;
	key->device = peers->items[key->device - 1];
	return true;
}

static int read_distributions(struct slice_decoding *work)
{
	_cleanup_free_ struct recorded_distribution *rows = NULL;
	_cleanup_free_ struct distribution_bucket *buckets = NULL;
	size_t count, bucket_count = 0, bucket = 0;
	int err = slice_read_table(work, &slice_distributions, &rows, &count);

	err = err ? err : slice_read_table(work, &slice_buckets, &buckets, &bucket_count);
	for (size_t i = 0; i < count && !err; i++) {
		struct distribution distribution = rows[i].distribution;

		if (rows[i].bucket_count > bucket_count - bucket)
			return -EBADMSG;
		distribution.buckets = rows[i].bucket_count ? &buckets[bucket] : NULL;
		distribution.bucket_count = rows[i].bucket_count;
		bucket += rows[i].bucket_count;
		for (size_t j = 0; j < distribution.bucket_count; j++)
			if (distribution.buckets[j].index >= PKBPF_HISTOGRAM_BUCKETS ||
			    (j &&
			     distribution.buckets[j].index <= distribution.buckets[j - 1].index))
				return -EBADMSG;
		if (!find_peer(work, &distribution.key))
			return -EBADMSG;
		if (slice_has_kind(work, distribution.key.kind) &&
		    slice_find_process(work, distribution.key.process, &distribution.key.process,
				       &err))
			err = profile_put_distribution(work->profile, &distribution);
	}
	return err;
}

static int read_devices(struct slice_decoding *work)
{
	_cleanup_free_ struct recorded_device *rows = NULL;
	size_t count;
	int err = slice_read_table(work, &slice_devices, &rows, &count);

	for (size_t i = 0; i < count && !err; i++)
		err = profile_set_device_name(work->profile, rows[i].device,
					      slice_text(rows[i].name));
	return err;
}

/* ---- all of it ---- */

static int read_named(struct slice_decoding *work)
{
	return slice_read_accounts(work, true);
}

static int read_others(struct slice_decoding *work)
{
	return slice_read_accounts(work, false);
}

/* How many samples were expected of some processes is known from those alone that were recorded,
 * and from losses, which may have been theirs. */
static int note_choice(struct slice_decoding *work)
{
	struct profile_info *info = profile_info(work->profile);
	struct profile_account account;

	if (work->choice && work->choice->kinds_mask)
		info->kinds_mask &= work->choice->kinds_mask;
	if (!slice_choice_is_of_processes(work->choice))
		return 0;
	account = profile_account(work->profile);
	info->counters[PKBPF_COUNTER_CPU_EXPECTED] = account.recorded + account.lost;
	info->counters[PKBPF_COUNTER_CPU_RECORDED] = account.recorded;
	info->has_targets = true;
	slice_choice_describe(work->choice, work->facts.info.targets, info->targets,
			      sizeof(info->targets));
	return 0;
}

int slice_decode(const struct recording_block *block, const struct slice_choice *choice,
		 struct profile **ret_slice)
{
	static int (*const parts[])(struct slice_decoding *) = {
		read_strings,	      read_facts,	  slice_read_cgroups, read_processes,
		slice_read_frames,    slice_read_stacks,  read_rows,	      read_ends,
		read_named,	      read_distributions, read_devices,	      read_others,
		slice_read_resources, note_choice,
	};
	struct slice_decoding work = {.block = block, .choice = choice, .profile = slice_new()};
	int err = work.profile ? 0 : -ENOMEM;

	for (size_t i = 0; i < ARRAY_SIZE(parts) && !err; i++)
		err = parts[i](&work);
	recorded_strings_done(&work.strings);
	free(work.processes.items);
	free(work.account_processes.items);
	free(work.frames.items);
	free(work.stacks.items);
	for (enum account i = 0; i < ACCOUNT_COUNT; i++)
		free(work.accounts[i].items);
	free(work.cgroups);
	if (err)
		profile_free(work.profile);
	else
		*ret_slice = work.profile;
	return err;
}
