// SPDX-License-Identifier: BSD-2-Clause
/* Merges exited processes into groups, and exited threads into their process. */
#include "profile/shrink/process_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/account/account.h"
#include "profile/profile_private.h"

#define NO_ACCOUNT UINT32_MAX

enum {
	NEEDED_BY_LIST = 1,   /* by a row of an account, which shows its pid */
	NEEDED_BY_FRAMES = 2, /* by frames that are symbolized through it */
};

struct merging {
	struct profile *profile;
	struct process_table *processes;
	size_t count;	 /* process ids are below this */
	uint8_t *needed; /* process id -> NEEDED_… */
	/* process id -> its index in the account, before and after the merge; NO_ACCOUNT: none */
	uint32_t *account;
	struct hash_index groups; /* by name and cgroup */
	uint32_t *to;		  /* process id -> id of its group, or itself */
};

struct group_key {
	const char *comm;
	uint64_t cgroup_id;
};

static uint64_t group_hash(const struct merging *work, const struct group_key *key)
{
	return hash_bytes(key->comm, strlen(key->comm),
			  work->profile->seed ^ hash_u64(key->cgroup_id));
}

static bool group_equal(const void *context, uint32_t item, const void *wanted)
{
	const struct merging *work = context;
	const struct process *group = process_table_by_id(work->processes, item);
	const struct group_key *key = wanted;

	return group->cgroup_id == key->cgroup_id && strcmp(group->comm, key->comm) == 0;
}

static struct process *get_group(struct merging *work, struct group_key key)
{
	uint64_t hash = group_hash(work, &key);
	uint32_t id = hash_index_find(&work->groups, hash, group_equal, work, &key);
	struct process *group;

	if (id != HASH_INDEX_NONE)
		return process_table_by_id(work->processes, id);
	if (work->groups.count >= RESOURCE_GROUPS_MAX &&
	    strcmp(key.comm, RESOURCE_OTHERS_COMM) != 0)
		return get_group(work, (struct group_key){RESOURCE_OTHERS_COMM, 0});
	group = process_table_add_group(work->processes, key.comm, key.cgroup_id);
	return group && hash_index_add(&work->groups, hash, group->id) ? group : NULL;
}

static bool find_groups(struct merging *work)
{
	for (uint32_t id = 0; id < work->count; id++) {
		const struct process *group = process_table_by_id(work->processes, id);
		struct group_key key;

		if (!group || !process_table_is_group(work->processes, id))
			continue;
		key = (struct group_key){group->comm, group->cgroup_id};
		if (!hash_index_add(&work->groups, group_hash(work, &key), id))
			return false;
	}
	return true;
}

/* ---- choosing ---- */

/* Whether the table still tells this process by its pid: it lives, or ended later there. The two
 * sources of its end differ by some microseconds. */
static bool is_told_by_pid(const struct process *process, const struct resource_process *account,
			   uint64_t before_ns)
{
	return process->start_ns <= account->end_ns &&
	       (!process->end_ns || process->end_ns >= before_ns);
}

/* Finds the processes in the account, and chooses those to group there. */
static int merge_account(struct merging *work, uint64_t before_ns)
{
	struct resource_usage *usage = work->profile->resources;
	size_t count = resource_usage_process_count(usage);
	_cleanup_free_ bool *chosen = calloc(count + 1, sizeof(*chosen));
	_cleanup_free_ uint32_t *numbers = NULL;

	if (!chosen)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct resource_process process = resource_usage_process(usage, i);

		chosen[i] = process.end_ns && process.end_ns < before_ns;
	}
	for (uint32_t id = 0; id < work->count; id++) {
		const struct process *process = process_table_by_id(work->processes, id);
		struct resource_process account;
		size_t index;

		work->account[id] = NO_ACCOUNT;
		if (!process ||
		    !resource_usage_find(usage, process->pid,
					 process->start_ns ? process->start_ns : process->end_ns,
					 &index))
			continue;
		work->account[id] = (uint32_t)index;
		account = resource_usage_process(usage, index);
		if (is_told_by_pid(process, &account, before_ns))
			chosen[index] = false;
	}
	if (resource_usage_merge(usage, chosen, before_ns, &numbers))
		return -ENOMEM;
	for (uint32_t id = 0; id < work->count; id++) {
		if (work->account[id] != NO_ACCOUNT)
			work->account[id] = numbers[work->account[id]];
	}
	return 0;
}

/* Processes of rows that keep theirs. */
static int find_needed_by_lists(struct merging *work)
{
	_cleanup_free_ bool *needed = calloc(work->count + 1, sizeof(*needed));

	if (!needed)
		return -ENOMEM;
	for (enum account i = 0; i < ACCOUNT_COUNT; i++) {
		if (!account_ops_of(i)->regroup)
			account_mark(i, work->profile->accounts[i], RECORDED_PROCESS, needed,
				     work->count);
	}
	for (size_t id = 0; id < work->count; id++)
		work->needed[id] |= needed[id] ? NEEDED_BY_LIST : 0;
	return 0;
}

static void find_needed_by_frames(struct merging *work)
{
	for (size_t i = 0; i < frame_table_count(&work->profile->names->frames); i++) {
		const struct frame_location *location =
			&frame_table_at(&work->profile->names->frames, i)->location;

		if ((location->space == FRAME_ANONYMOUS || location->space == FRAME_UNMAPPED) &&
		    location->object < work->count)
			work->needed[location->object] |= NEEDED_BY_FRAMES;
	}
}

/* Groups by the name in the account: a process that has called exec has the name of its last
 * program there. */
static bool choose_group(const struct merging *work, const struct process *process,
			 struct group_key *ret_key, struct resource_process *ret_account)
{
	uint32_t number = work->account[process->id];

	*ret_key = (struct group_key){process->comm, process->cgroup_id};
	if (number == NO_ACCOUNT)
		return true;
	*ret_account = resource_usage_process(work->profile->resources, number);
	if (!ret_account->pid)
		*ret_key = (struct group_key){ret_account->comm, ret_account->cgroup_id};
	/* Another process has its pid, or its last record has not arrived. */
	return !ret_account->pid || process_table_find(work->processes, process->pid);
}

static int choose(struct merging *work, uint64_t before_ns)
{
	for (uint32_t id = 0; id < work->count; id++) {
		const struct process *process = process_table_by_id(work->processes, id);
		struct resource_process account;
		const struct process *image;
		struct group_key key;
		struct process *group;

		work->to[id] = id;
		if (!process_table_is_kept(work->processes, id) || process->end_ns >= before_ns ||
		    work->needed[id] & NEEDED_BY_LIST)
			continue;
		/* The process continues as another program, and is one process in the account
		 * until it exits. */
		image = process_table_next_image(work->processes, process);
		if (image) {
			work->to[id] = image->id;
			continue;
		}
		if (!choose_group(work, process, &key, &account))
			continue;
		group = get_group(work, key);
		if (!group)
			return -ENOMEM;
		work->to[id] = group->id;
	}
	return 0;
}

/* ---- merging ---- */

/* Figures of no process, such as those of a device, stay what they are. */
static uint32_t new_process(const struct merging *work, uint32_t process)
{
	return process < work->count ? work->to[process] : process;
}

static bool merge_ends(const struct merging *work)
{
	struct profile *profile = work->profile;
	typeof(profile->process_ends) ends = {0};
	struct hash_map numbers = {0};
	const struct hash_map_slot *slot;
	size_t cursor = 0;

	while ((slot = hash_map_next(&profile->ends_of_process, &cursor))) {
		bool added;
		uint64_t *number = hash_map_get(&numbers, new_process(work, (uint32_t)slot->key),
						ends.count, &added);

		if (!number || (added && !array_add(&ends))) {
			hash_map_done(&numbers);
			array_free(&ends);
			return false;
		}
		for (size_t end = 0; end < PKBPF_END_COUNT; end++)
			ends.items[*number].counts[end] +=
				profile->process_ends.items[slot->value].counts[end];
	}
	hash_map_done(&profile->ends_of_process);
	array_free(&profile->process_ends);
	profile->ends_of_process = numbers;
	memcpy(&profile->process_ends, &ends, sizeof(ends));
	return true;
}

/* The tid whose row gets a thread's figures from now on; 0: its process. */
static uint32_t new_tid(const struct merging *work, uint32_t process, uint32_t tid)
{
	return process < work->count &&
			       process_table_thread_lives(work->processes, work->to[process], tid)
		       ? tid
		       : 0;
}

static void rekey_distribution(const void *context, struct distribution_key *key)
{
	const struct merging *work = context;

	key->tid = new_tid(work, key->process, key->tid);
	key->process = new_process(work, key->process);
}

static void rekey_row(const void *context, struct profile_row *row)
{
	const struct merging *work = context;

	if (row->tid != PROFILE_NO_THREAD)
		row->tid = new_tid(work, row->process, row->tid);
	row->process = new_process(work, row->process);
}

static uint32_t group_of(const void *context, uint32_t process)
{
	return new_process(context, process);
}

static int regroup_accounts(const struct merging *work)
{
	int err = 0;

	for (enum account i = 0; i < ACCOUNT_COUNT && !err; i++) {
		if (account_ops_of(i)->regroup)
			err = account_ops_of(i)->regroup(work->profile->accounts[i], group_of,
							 work);
	}
	return err;
}

static int merge_figures(const struct merging *work)
{
	struct profile *profile = work->profile;

	if (distribution_table_rekey(profile->distributions, rekey_distribution, work) ||
	    regroup_accounts(work) || !merge_ends(work) ||
	    !profile_rekey_rows(profile, rekey_row, work))
		return -ENOMEM;
	return 0;
}

int profile_merge_processes(struct profile *profile, uint64_t before_ns, uint32_t **ret_numbers)
{
	size_t count = process_table_count(profile->processes);
	_cleanup_free_ uint8_t *needed = calloc(count + 1, sizeof(*needed));
	_cleanup_free_ uint32_t *account = malloc((count + 1) * sizeof(*account));
	_cleanup_free_ uint32_t *to = malloc((count + 1) * sizeof(*to));
	struct merging work = {.profile = profile,
			       .processes = profile->processes,
			       .count = count,
			       .needed = needed,
			       .account = account,
			       .to = to};
	int err = needed && account && to && find_groups(&work) ? merge_account(&work, before_ns)
								: -ENOMEM;

	err = err ? err : find_needed_by_lists(&work);
	if (!err)
		find_needed_by_frames(&work);
	err = err ? err : choose(&work, before_ns);
	err = err ? err : merge_figures(&work);
	hash_index_done(&work.groups);
	if (err)
		return err;
	for (uint32_t id = 0; id < count; id++) {
		if (to[id] != id)
			process_table_merge(profile->processes, id, to[id],
					    needed[id] & NEEDED_BY_FRAMES);
		else if (!needed[id])
			process_table_release_member(profile->processes, id);
	}
	*ret_numbers = take_pointer(to);
	return 0;
}

size_t profile_ended_processes(const struct profile *profile)
{
	size_t kept = process_table_kept_count(profile->processes),
	       ended = resource_usage_ended_count(profile->resources);

	return kept > ended ? kept : ended;
}

uint64_t profile_ended_tasks(const struct profile *profile)
{
	return profile_ended_processes(profile) + process_table_ended_threads(profile->processes);
}

uint64_t profile_grouped_processes(const struct profile *profile)
{
	uint64_t accounted = 0, recorded = 0;

	for (size_t i = 0; i < resource_usage_process_count(profile->resources); i++) {
		struct resource_process process = resource_usage_process(profile->resources, i);

		accounted += process.pid ? 0 : process.processes;
	}
	for (uint32_t id = 0; id < process_table_count(profile->processes); id++) {
		const struct process *process = process_table_by_id(profile->processes, id);

		recorded += process ? process->members : 0;
	}
	return accounted ? accounted : recorded;
}
