// SPDX-License-Identifier: BSD-2-Clause
/* Fills a slice with what a block says, which may be anything. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "event/counter_table.h"
#include "profile/slice/slice.h"
#include "recording/slice_codec.h"
#include "recording/slice_tables.h"
#include "symbol/elf/symbol_folder.h"

/* Frames of one stack, inlined ones aside: more than any unwinder gives. */
#define STACK_MAX_FRAMES 4096
/* Of all stacks of a block together: shared callers take no bytes, but here they take memory. */
#define ALL_STACKS_MAX_FRAMES (16U << 20)

struct decoding {
	const struct recording_block *block;
	const struct slice_choice *choice;
	struct recorded_strings strings;
	struct profile *profile;
	/* by place in the block: ids of the profile; UINT32_MAX: not chosen */
	uint32_t *processes, *account_processes, *frames, *stacks;
	size_t process_count, account_process_count, frame_count, stack_count;
	uint32_t *peers;
	size_t peer_count;
	struct recorded_cgroup *cgroups;
	size_t cgroup_count;
	struct recorded_facts facts;
};

#define NOT_CHOSEN UINT32_MAX

/* The rows of a table; none when the block has no such section. The caller frees them. */
static int read_table(const struct decoding *work, const struct recorded_table *table,
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

static int read_strings(struct decoding *work)
{
	const struct recording_section *section = recording_block_find(work->block, SLICE_STRINGS);
	uint8_t *data;
	int err = section ? recording_section_unpack(section, &data) : -EBADMSG;

	return err ? err : recorded_strings_decode(&work->strings, data, section->plain);
}

static const char *text_of(const char *string)
{
	return string ? string : "";
}

static bool has_kind(const struct decoding *work, enum pkbpf_profile_kind kind)
{
	return !work->choice || !work->choice->kinds_mask ||
	       ((unsigned int)kind < 32 && work->choice->kinds_mask & 1U << kind);
}

/* ---- facts ---- */

static int read_counters(struct decoding *work, struct profile_info *info)
{
	_cleanup_free_ struct recorded_counter *rows = NULL;
	size_t count;
	int err = read_table(work, &slice_counters, &rows, &count);

	/* One that is not known here was counted by a later version, or by an earlier one. */
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < PKBPF_COUNTER_COUNT; j++)
			if (strcmp(text_of(rows[i].name), counter_table[j].name) == 0)
				info->counters[j] = rows[i].count;
	return err;
}

static int read_facts(struct decoding *work)
{
	_cleanup_free_ struct recorded_facts *rows = NULL;
	struct profile_info *info = profile_info(work->profile);
	size_t count;
	int err = read_table(work, &slice_facts, &rows, &count);

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
	return read_counters(work, info);
}

/* ---- processes ---- */

static int read_cgroups(struct decoding *work)
{
	struct resource_usage *usage = profile_resources(work->profile);
	int err = read_table(work, &slice_cgroups, &work->cgroups, &work->cgroup_count);

	for (size_t i = 0; i < work->cgroup_count && !err; i++) {
		const struct recorded_cgroup *cgroup = &work->cgroups[i];

		err = cgroup->is_container ? resource_usage_put_container(usage, cgroup->cgroup_id,
									  text_of(cgroup->text))
					   : resource_usage_put_cgroup(usage, cgroup->cgroup_id,
								       text_of(cgroup->text));
	}
	return err;
}

static bool is_chosen(const struct decoding *work, uint32_t pid, const char *comm,
		      uint64_t cgroup_id)
{
	return slice_choice_has(work->choice, pid, comm, cgroup_id, work->cgroups,
				work->cgroup_count);
}

static int read_processes(struct decoding *work)
{
	_cleanup_free_ struct process *rows = NULL;
	int err = read_table(work, &slice_processes, &rows, &work->process_count);

	work->processes = malloc((work->process_count + 1) * sizeof(*work->processes));
	if (!err && !work->processes)
		err = -ENOMEM;
	for (size_t i = 0; i < work->process_count && !err; i++) {
		struct process *put;

		work->processes[i] = NOT_CHOSEN;
		if (!is_chosen(work, rows[i].pid, rows[i].comm, rows[i].cgroup_id))
			continue;
		put = process_table_put(profile_processes(work->profile), &rows[i]);
		if (!put)
			return -ENOMEM;
		work->processes[i] = put->id;
	}
	return err;
}

/* place: 1 + place in the table. false: it is none of the chosen ones. One of nobody is, unless
 * only some processes are wanted. -EBADMSG in *ret_err. */
static bool find_process(const struct decoding *work, uint32_t place, uint32_t *ret_id,
			 int *ret_err)
{
	if (place > work->process_count)
		*ret_err = -EBADMSG;
	if (*ret_err)
		return false;
	*ret_id = place ? work->processes[place - 1] : UINT32_MAX;
	return place ? *ret_id != NOT_CHOSEN : !slice_choice_is_of_processes(work->choice);
}

/* ---- frames and stacks ---- */

/* Recordings of before there was the offset have it in full. */
static uint64_t module_address(const struct recorded_frame *row)
{
	if (row->location.space != FRAME_FILE || row->module_address)
		return row->module_address;
	return row->location.address + (uint64_t)row->address_offset;
}

static int read_frames(struct decoding *work)
{
	_cleanup_free_ struct recorded_frame *rows = NULL;
	_cleanup_free_ struct symbol_line *lines = NULL;
	size_t line_count, line = 0;
	int err = read_table(work, &slice_frames, &rows, &work->frame_count);

	err = err ? err : read_table(work, &slice_lines, &lines, &line_count);
	if (err)
		return err;
	work->frames = malloc((work->frame_count + 1) * sizeof(*work->frames));
	if (!work->frames)
		return -ENOMEM;
	for (size_t i = 0; i < work->frame_count; i++) {
		const struct recorded_frame *row = &rows[i];
		struct frame frame = {.location = row->location, .named = true};

		if (row->line_count > line_count - line)
			return -EBADMSG;
		frame.symbol = (struct symbol){
			.result = row->result,
			.flags = row->flags,
			.module = row->module,
			.build_id = row->build_id,
			.module_address = module_address(row),
			.function_address = row->function_address,
			.lines = row->line_count ? &lines[line] : NULL,
			.line_count = row->line_count,
		};
		line += row->line_count;
		if (work->choice && work->choice->symbols && row->location.space == FRAME_FILE)
			symbol_folder_name(work->choice->symbols, row->location.is_return_address,
					   &frame.symbol);
		work->frames[i] = profile_put_frame(work->profile, &frame);
		if (work->frames[i] == UINT32_MAX)
			return -ENOMEM;
	}
	return 0;
}

/* Leaf first. false: what it says cannot be. */
static bool follow_callers(const struct decoding *work, const struct recorded_node *nodes,
			   uint32_t node, uint32_t frames[STACK_MAX_FRAMES], size_t *ret_count)
{
	size_t count = 0;

	for (;;) {
		if (count == STACK_MAX_FRAMES || nodes[node].frame >= work->frame_count ||
		    nodes[node].caller > node)
			return false;
		frames[count++] = work->frames[nodes[node].frame];
		if (!nodes[node].caller)
			break;
		node -= nodes[node].caller;
	}
	*ret_count = count;
	return true;
}

static int read_stacks(struct decoding *work)
{
	_cleanup_free_ struct recorded_node *nodes = NULL;
	_cleanup_free_ struct recorded_stack *rows = NULL;
	_cleanup_free_ uint32_t *frames = malloc(STACK_MAX_FRAMES * sizeof(*frames));
	size_t node_count, total = 0;
	int err = read_table(work, &slice_nodes, &nodes, &node_count);

	err = err ? err : read_table(work, &slice_stacks, &rows, &work->stack_count);
	if (err)
		return err;
	work->stacks = malloc((work->stack_count + 1) * sizeof(*work->stacks));
	if (!work->stacks || !frames)
		return -ENOMEM;
	for (size_t i = 0; i < work->stack_count; i++) {
		size_t count = 0;

		if (rows[i].node > node_count ||
		    (rows[i].node &&
		     !follow_callers(work, nodes, rows[i].node - 1, frames, &count)))
			return -EBADMSG;
		total += count;
		if (total > ALL_STACKS_MAX_FRAMES)
			return -EBADMSG;
		work->stacks[i] = profile_intern_stack(work->profile, frames, count);
		if (work->stacks[i] == UINT32_MAX)
			return -ENOMEM;
	}
	return 0;
}

/* place: 1 + place in the table. */
static uint32_t find_stack(const struct decoding *work, uint32_t place)
{
	return place ? work->stacks[place - 1] : UINT32_MAX;
}

/* ---- figures ---- */

static int put_row(struct decoding *work, const struct recorded_row *recorded)
{
	struct profile_row row = recorded->row;
	int err = 0;

	if (!row.stack || row.stack > work->stack_count || row.waker > work->stack_count)
		return -EBADMSG;
	if (!has_kind(work, row.kind) || !find_process(work, row.process, &row.process, &err))
		return err;
	row.stack = find_stack(work, row.stack);
	row.waker = row.waker ? find_stack(work, row.waker) + 1 : 0;
	row.comm = profile_intern_string(work->profile, text_of(recorded->comm));
	return row.comm == UINT32_MAX ? -ENOMEM : profile_add(work->profile, &row);
}

static int read_rows(struct decoding *work)
{
	_cleanup_free_ struct recorded_row *rows = NULL;
	size_t count;
	int err = read_table(work, &slice_rows, &rows, &count);

	for (size_t i = 0; i < count && !err; i++)
		err = put_row(work, &rows[i]);
	return err;
}

static int read_ends(struct decoding *work)
{
	_cleanup_free_ struct recorded_end *rows = NULL;
	size_t count;
	int err = read_table(work, &slice_ends, &rows, &count);

	for (size_t i = 0; i < count && !err; i++) {
		uint32_t process;

		if (rows[i].end < PKBPF_END_COUNT &&
		    find_process(work, rows[i].process, &process, &err))
			profile_count_end(work->profile, process, rows[i].end, rows[i].count, 0);
	}
	if (!slice_choice_is_of_processes(work->choice))
		profile_add_guessed_frames(work->profile, work->facts.guessed_frames);
	return err;
}

static int read_peers(struct decoding *work)
{
	_cleanup_free_ struct recorded_peer *rows = NULL;
	int err = read_table(work, &slice_peers, &rows, &work->peer_count);

	work->peers = malloc((work->peer_count + 1) * sizeof(*work->peers));
	if (!err && !work->peers)
		err = -ENOMEM;
	for (size_t i = 0; i < work->peer_count && !err; i++) {
		memcpy(rows[i].peer.address.address, rows[i].address, sizeof(rows[i].address));
		if (rows[i].peer.address.family > PKBPF_NETWORK_PIPE ||
		    rows[i].peer.address.role > PKBPF_NETWORK_SERVER)
			return -EBADMSG;
		work->peers[i] = peer_table_get(profile_peers(work->profile), &rows[i].peer);
		if (work->peers[i] == PEER_NONE)
			err = -ENOMEM;
	}
	return err;
}

/* The profile's number of the peer of a distribution. false: there is no such peer. */
static bool find_peer(const struct decoding *work, struct distribution_key *key)
{
	if (key->kind != PKBPF_PROFILE_NETWORK || !key->device)
		return true;
	if (key->device > work->peer_count)
		return false;
	key->device = work->peers[key->device - 1];
	return true;
}

static int read_distributions(struct decoding *work)
{
	_cleanup_free_ struct recorded_distribution *rows = NULL;
	_cleanup_free_ struct distribution_bucket *buckets = NULL;
	size_t count, bucket_count = 0, bucket = 0;
	int err = read_table(work, &slice_distributions, &rows, &count);

	err = err ? err : read_table(work, &slice_buckets, &buckets, &bucket_count);
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
		if (has_kind(work, distribution.key.kind) &&
		    find_process(work, distribution.key.process, &distribution.key.process, &err))
			err = profile_put_distribution(work->profile, &distribution);
	}
	return err;
}

static int read_devices(struct decoding *work)
{
	_cleanup_free_ struct recorded_device *rows = NULL;
	size_t count;
	int err = read_table(work, &slice_devices, &rows, &count);

	for (size_t i = 0; i < count && !err; i++)
		err = profile_set_device_name(work->profile, rows[i].device, text_of(rows[i].name));
	return err;
}

static int read_slow_io(struct decoding *work)
{
	_cleanup_free_ struct recorded_slow_io *rows = NULL;
	size_t count;
	int err = read_table(work, &slice_slow_io, &rows, &count);

	for (size_t i = 0; i < count && !err; i++) {
		struct slow_io request = rows[i].request;

		if (request.stack > work->stack_count)
			return -EBADMSG;
		if (!has_kind(work, PKBPF_PROFILE_BLOCKIO) ||
		    !find_process(work, request.process, &request.process, &err))
			continue;
		request.stack = find_stack(work, request.stack);
		request.comm = profile_intern_string(work->profile, text_of(rows[i].comm));
		err = request.comm == UINT32_MAX
			      ? -ENOMEM
			      : slow_io_list_add(profile_slow_io(work->profile), &request);
	}
	return err;
}

static int read_slow_regions(struct decoding *work)
{
	_cleanup_free_ struct recorded_slow_region *rows = NULL;
	size_t count;
	int err = read_table(work, &slice_slow_regions, &rows, &count);

	for (size_t i = 0; i < count && !err; i++) {
		struct slow_region region = rows[i].region;

		if (region.stack > work->stack_count)
			return -EBADMSG;
		if (!find_process(work, region.process, &region.process, &err))
			continue;
		region.stack = find_stack(work, region.stack);
		region.comm = profile_intern_string(work->profile, text_of(rows[i].comm));
		region.name = profile_intern_string(work->profile, text_of(rows[i].name));
		err = region.comm == UINT32_MAX || region.name == UINT32_MAX
			      ? -ENOMEM
			      : slow_region_list_add(profile_slow_regions(work->profile), &region);
	}
	return err;
}

static int read_moments(struct decoding *work)
{
	struct moment_list *moments = profile_moments(work->profile);
	_cleanup_free_ struct recorded_moment *rows = NULL;
	size_t count;
	int err = read_table(work, &slice_moments, &rows, &count);

	for (size_t i = 0; i < count && !err; i++) {
		struct moment moment = rows[i].moment;

		if (!moment.stack || moment.stack > work->stack_count ||
		    (unsigned int)moment.kind >= PKBPF_PROFILE_KINDS)
			return -EBADMSG;
		if (!has_kind(work, moment.kind) ||
		    !find_process(work, moment.process, &moment.process, &err))
			continue;
		moment.stack = find_stack(work, moment.stack);
		moment.comm = profile_intern_string(work->profile, text_of(rows[i].comm));
		err = moment.comm == UINT32_MAX ? -ENOMEM : moment_list_add(moments, &moment);
		err = err == -ENOSPC ? -EBADMSG : err;
	}
	return err;
}

static bool is_chosen_pid(const struct decoding *work, uint32_t pid)
{
	struct process_table *table = profile_processes(work->profile);

	for (size_t i = 0; i < work->process_count; i++) {
		const struct process *process =
			work->processes[i] == NOT_CHOSEN
				? NULL
				: process_table_by_id(table, work->processes[i]);

		if (process && process->pid == pid)
			return true;
	}
	return false;
}

static int read_relations(struct decoding *work)
{
	_cleanup_free_ struct relation *rows = NULL;
	size_t count;
	int err = read_table(work, &slice_relations, &rows, &count);

	for (size_t i = 0; i < count && !err; i++) {
		if (rows[i].stack > work->stack_count || rows[i].other_stack > work->stack_count)
			return -EBADMSG;
		if (slice_choice_is_of_processes(work->choice) && !is_chosen_pid(work, rows[i].pid))
			continue;
		rows[i].stack = find_stack(work, rows[i].stack);
		rows[i].other_stack = find_stack(work, rows[i].other_stack);
		err = relation_list_add(profile_relations(work->profile), &rows[i]);
	}
	return err;
}

static bool are_buckets(const struct region_bucket *buckets, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (buckets[i].index >= PKBPF_HISTOGRAM_BUCKETS ||
		    (i && buckets[i].index <= buckets[i - 1].index))
			return false;
	return true;
}

/* places: of the regions before it, in the profile; REGION_ROOT: not chosen. */
static int put_region(struct decoding *work, const struct recorded_region *row,
		      const uint32_t *places, uint32_t *ret_place)
{
	struct region_table *table = profile_regions(work->profile);
	uint32_t parent = row->region.parent ? places[row->region.parent - 1] : REGION_ROOT, name,
		 process;
	int64_t place;
	int err = 0;

	*ret_place = REGION_ROOT;
	if (!find_process(work, row->region.process, &process, &err))
		return err;
	name = profile_intern_string(work->profile, text_of(row->name));
	if (name == UINT32_MAX)
		return -ENOMEM;
	place = region_table_get(table, process, parent, name, row->region.flags);
	if (place < 0)
		return place == -ENOSPC ? -EBADMSG : (int)place;
	*ret_place = (uint32_t)place;
	return region_table_add(table, *ret_place, &row->region.sums, row->region.buckets,
				row->region.bucket_count);
}

static int read_regions(struct decoding *work)
{
	_cleanup_free_ struct recorded_region *rows = NULL;
	_cleanup_free_ struct region_bucket *buckets = NULL;
	_cleanup_free_ uint32_t *places = NULL;
	size_t count, bucket_count = 0, bucket = 0;
	int err = read_table(work, &slice_regions, &rows, &count);

	err = err ? err : read_table(work, &slice_region_buckets, &buckets, &bucket_count);
	if (err)
		return err;
	places = malloc((count + 1) * sizeof(*places));
	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < count && !err; i++) {
		if (rows[i].bucket_count > bucket_count - bucket || rows[i].region.parent > i ||
		    !are_buckets(buckets + bucket, rows[i].bucket_count))
			return -EBADMSG;
		rows[i].region.buckets = buckets + bucket;
		rows[i].region.bucket_count = rows[i].bucket_count;
		bucket += rows[i].bucket_count;
		err = put_region(work, &rows[i], places, &places[i]);
	}
	return err;
}

static int read_heaps(struct decoding *work)
{
	_cleanup_free_ struct heap_place *rows = NULL;
	size_t count;
	int err = read_table(work, &slice_heaps, &rows, &count);

	for (size_t i = 0; i < count && !err; i++) {
		if (rows[i].stack > work->stack_count || rows[i].trend >= HEAP_TRENDS)
			return -EBADMSG;
		if (slice_choice_is_of_processes(work->choice) && !is_chosen_pid(work, rows[i].pid))
			continue;
		rows[i].stack = find_stack(work, rows[i].stack);
		err = rows[i].stack == UINT32_MAX
			      ? -EBADMSG
			      : heap_list_add(profile_heaps(work->profile), &rows[i]);
	}
	return err;
}

/* What a list has no room for is counted. */
static int left_out(const struct decoding *work, int err)
{
	if (err != -ENOSPC)
		return err;
	profile_info(work->profile)->counters[PKBPF_COUNTER_MERGE_TOO_MANY]++;
	return 0;
}

static int read_memory(struct decoding *work)
{
	_cleanup_free_ struct memory_point *rows = NULL;
	size_t count;
	int err = read_table(work, &slice_memory, &rows, &count);

	for (size_t i = 0; i < count && !err; i++) {
		if (slice_choice_is_of_processes(work->choice) && !is_chosen_pid(work, rows[i].pid))
			continue;
		err = left_out(work, memory_list_add(profile_memory(work->profile), &rows[i]));
	}
	return err;
}

static bool is_of_chosen_lock(const struct decoding *work, const struct lock *lock)
{
	return has_kind(work, PKBPF_PROFILE_LOCKS) &&
	       (!slice_choice_is_of_processes(work->choice) || is_chosen_pid(work, lock->pid));
}

/* numbers: of the block's locks in the profile; NOT_CHOSEN. */
static int put_locks(struct decoding *work, struct lock *locks, size_t count, uint32_t *numbers)
{
	for (size_t i = 0; i < count; i++) {
		int64_t number;

		numbers[i] = NOT_CHOSEN;
		if (locks[i].class >= PKBPF_LOCK_CLASSES)
			return -EBADMSG;
		if (!is_of_chosen_lock(work, &locks[i]))
			continue;
		number = lock_list_add(profile_locks(work->profile), &locks[i]);
		if (number < 0)
			return -ENOMEM;
		numbers[i] = (uint32_t)number;
	}
	return 0;
}

static int put_lock_parts(struct decoding *work, size_t lock_count, const uint32_t *numbers)
{
	_cleanup_free_ struct lock_part *parts = NULL;
	size_t count;
	int err = read_table(work, &slice_lock_parts, &parts, &count);

	for (size_t i = 0; i < count && !err; i++) {
		if (parts[i].lock >= lock_count || parts[i].stack > work->stack_count ||
		    parts[i].kind > PKBPF_LOCK_SITE || parts[i].state >= PKBPF_LOCK_STATES)
			return -EBADMSG;
		parts[i].lock = numbers[parts[i].lock];
		parts[i].stack = find_stack(work, parts[i].stack);
		if (parts[i].lock != NOT_CHOSEN)
			err = lock_list_add_part(profile_locks(work->profile), &parts[i]);
	}
	return err;
}

static int read_locks(struct decoding *work)
{
	_cleanup_free_ struct recorded_lock_bucket *buckets = NULL;
	_cleanup_free_ struct lock *locks = NULL;
	_cleanup_free_ uint32_t *numbers = NULL;
	size_t count, bucket_count;
	int err = read_table(work, &slice_locks, &locks, &count);

	err = err ? err : read_table(work, &slice_lock_buckets, &buckets, &bucket_count);
	if (err)
		return err;
	for (size_t i = 0; i < bucket_count; i++) {
		if (buckets[i].lock >= count || buckets[i].index >= PKBPF_LOCK_BUCKETS)
			return -EBADMSG;
		locks[buckets[i].lock].buckets[buckets[i].index] = buckets[i].count;
	}
	numbers = malloc((count + 1) * sizeof(*numbers));
	if (!numbers)
		return -ENOMEM;
	err = put_locks(work, locks, count, numbers);
	return err ? err : put_lock_parts(work, count, numbers);
}

/* ---- the account ---- */

static int read_account_processes(struct decoding *work)
{
	struct resource_usage *usage = profile_resources(work->profile);
	_cleanup_free_ struct resource_process *rows = NULL;
	int err = read_table(work, &slice_account_processes, &rows, &work->account_process_count);

	work->account_processes =
		malloc((work->account_process_count + 1) * sizeof(*work->account_processes));
	if (!err && !work->account_processes)
		err = -ENOMEM;
	for (size_t i = 0; i < work->account_process_count && !err; i++) {
		work->account_processes[i] = NOT_CHOSEN;
		if (!is_chosen(work, rows[i].pid, rows[i].comm, rows[i].cgroup_id))
			continue;
		work->account_processes[i] = resource_usage_put_process(usage, &rows[i]);
		if (work->account_processes[i] == UINT32_MAX)
			err = -ENOMEM;
	}
	return err;
}

static int read_account_threads(struct decoding *work)
{
	struct resource_usage *usage = profile_resources(work->profile);
	_cleanup_free_ struct resource_thread *rows = NULL;
	size_t count;
	int err = read_table(work, &slice_account_threads, &rows, &count);

	for (size_t i = 0; i < count && !err; i++) {
		if (rows[i].process >= work->account_process_count)
			return -EBADMSG;
		rows[i].process = work->account_processes[rows[i].process];
		if (rows[i].process != NOT_CHOSEN)
			err = left_out(work, resource_usage_put_thread(usage, &rows[i]));
	}
	return err;
}

static bool is_within(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return strncmp(path, folder, length) == 0 && (!path[length] || path[length] == '/');
}

/* A limit of a cgroup that no chosen process is in limits others. */
static bool limits_chosen(const struct decoding *work, const struct resource_cgroup_limit *limit)
{
	const struct resource_usage *usage = profile_resources(work->profile);

	if (!slice_choice_is_of_processes(work->choice))
		return true;
	for (size_t i = 0; i < resource_usage_process_count(usage); i++) {
		uint64_t cgroup_id = resource_usage_raw_process(usage, i).cgroup_id;
		const char *path = resource_usage_cgroup(usage, cgroup_id);

		if (cgroup_id == limit->cgroup_id || (path && is_within(path, limit->path)))
			return true;
	}
	return false;
}

static int read_account(struct decoding *work)
{
	struct resource_usage *usage = profile_resources(work->profile);
	_cleanup_free_ struct resource_cgroup_limit *limits = NULL;
	size_t limit_count;
	int err;

	resource_usage_put_known(usage, work->facts.account_start_ns, work->facts.account_end_ns,
				 work->facts.account_missing);
	if (work->facts.machine.known)
		resource_usage_put_machine(usage, &work->facts.machine);
	err = read_account_processes(work);
	err = err ? err : read_account_threads(work);
	err = err ? err : read_table(work, &slice_cgroup_limits, &limits, &limit_count);
	for (size_t i = 0; !err && i < limit_count; i++) {
		limits[i].path = text_of(limits[i].path);
		if (limits_chosen(work, &limits[i]))
			err = left_out(work, resource_usage_put_cgroup_limit(usage, &limits[i]));
	}
	return err;
}

/* ---- all of it ---- */

/* How many samples were expected of some processes is known from those alone that were recorded,
 * and from losses, which may have been theirs. */
static int note_choice(struct decoding *work)
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
	static int (*const parts[])(struct decoding *) = {
		read_strings, read_facts,   read_cgroups,      read_processes, read_frames,
		read_stacks,  read_rows,    read_ends,	       read_peers,     read_distributions,
		read_devices, read_slow_io, read_slow_regions, read_moments,   read_relations,
		read_regions, read_heaps,   read_memory,       read_locks,     read_account,
		note_choice,
	};
	struct decoding work = {.block = block, .choice = choice, .profile = slice_new()};
	int err = work.profile ? 0 : -ENOMEM;

	for (size_t i = 0; i < ARRAY_SIZE(parts) && !err; i++)
		err = parts[i](&work);
	recorded_strings_done(&work.strings);
	free(work.processes);
	free(work.account_processes);
	free(work.frames);
	free(work.stacks);
	free(work.peers);
	free(work.cgroups);
	if (err)
		profile_free(work.profile);
	else
		*ret_slice = work.profile;
	return err;
}
