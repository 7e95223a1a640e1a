// SPDX-License-Identifier: BSD-2-Clause
/* Compares what processes and devices transferred. */
#include "finding/disk_neighbour.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <pkbpf/blockio.h>

#include "finding/finding_rules.h"

/* Of what others moved on these devices: who moved less is not the reason alone. */
#define NAMED_PERCENT 50
#define DEVICES	      64

struct devices {
	uint32_t numbers[DEVICES];
	uint64_t own_bytes[DEVICES];
	size_t count;
};

static bool is_own(const struct analysis *analysis, const struct activity *activity, uint32_t id)
{
	const struct process *process =
		process_table_by_id(profile_processes(analysis->rows->profile), id);

	return process && activity_has_pid(activity, process->pid);
}

/* The devices that the group used, with the bytes of its requests. */
static struct devices devices_of(const struct analysis *analysis, const struct activity *activity)
{
	const struct distribution *distribution;
	struct devices devices = {.count = 0};

	for (size_t i = 0; (distribution = profile_distribution_at(analysis->rows->profile, i));
	     i++) {
		const struct distribution_key *key = &distribution->key;
		size_t at = 0;

		if (key->kind != PKBPF_PROFILE_BLOCKIO ||
		    (key->measure != PKBPF_BLOCKIO_DEVICE_TIME &&
		     key->measure != PKBPF_BLOCKIO_LOWER_DEVICE_TIME) ||
		    !is_own(analysis, activity, key->process))
			continue;
		while (at < devices.count && devices.numbers[at] != key->device)
			at++;
		if (at == DEVICES)
			continue;
		devices.count += at == devices.count;
		devices.numbers[at] = key->device;
		devices.own_bytes[at] += distribution->bytes;
	}
	return devices;
}

/* What others transferred on these devices, and all on other ones; false: not known. */
static bool add_devices(const struct analysis *analysis, const struct activity *activity,
			struct disk_neighbour *neighbour, uint64_t *ret_elsewhere)
{
	const struct relation_list *list = profile_relations(analysis->rows->profile);
	struct devices devices = devices_of(analysis, activity);
	bool is_known = false;
	char name[32];

	*ret_elsewhere = 0;

	for (size_t i = 0; i < relation_list_count(list); i++) {
		const struct relation *relation = relation_list_at(list, i);
		bool is_used = false;

		for (size_t j = 0; relation->kind == PKBPF_RELATION_DEVICE && j < devices.count;
		     j++) {
			snprintf(name, sizeof(name), "%" PRIu32 ":%" PRIu32,
				 devices.numbers[j] >> 20, devices.numbers[j] & 0xfffff);
			if (strcmp(relation->text, name) != 0)
				continue;
			is_known = is_used = true;
			neighbour->own_bytes += devices.own_bytes[j];
			if (relation->value > devices.own_bytes[j])
				neighbour->all_bytes += relation->value - devices.own_bytes[j];
		}
		if (relation->kind == PKBPF_RELATION_DEVICE && !is_used)
			*ret_elsewhere += relation->value;
	}
	return is_known;
}

static void add_bytes(struct disk_neighbour *most, const char *name, uint64_t bytes)
{
	most->all_bytes += bytes;
	if (bytes <= most->bytes)
		return;
	most->bytes = bytes;
	snprintf(most->name, sizeof(most->name), "%s", name);
}

/* Who else moved most bytes, on whatever device: rows of the profile, or, when only targets were
 * looked at, the processes beside them. */
static struct disk_neighbour others_of(const struct analysis *analysis,
				       const struct activity *activity)
{
	const struct relation_list *list = profile_relations(analysis->rows->profile);
	struct disk_neighbour most = {.name = ""};

	for (size_t i = 0; i < analysis->count; i++) {
		const struct row_group *group = analysis->activities[i].group;

		if (&analysis->activities[i] != activity)
			add_bytes(&most, finding_name(group->worst),
				  group->sum.storage.read_bytes + group->sum.storage.written_bytes);
	}
	for (size_t i = 0; i < relation_list_count(list); i++) {
		const struct relation *relation = relation_list_at(list, i);

		if (relation->kind == PKBPF_RELATION_STORAGE && analysis->has_targets)
			add_bytes(&most, relation->other_comm, relation->value);
	}
	return most;
}

struct disk_neighbour disk_neighbour_of(const struct analysis *analysis,
					const struct activity *activity)
{
	struct disk_neighbour others = others_of(analysis, activity), there = {.name = ""};
	uint64_t elsewhere, least;

	/* Without the bytes of devices, others may have moved theirs on any. */
	if (!add_devices(analysis, activity, &there, &elsewhere))
		return (struct disk_neighbour){.name = ""};
	if (finding_percent((double)others.bytes, (double)there.all_bytes) < NAMED_PERCENT)
		return there;
	/* Who moved that much has done so there, unless other devices moved as much. */
	least = others.bytes > elsewhere ? others.bytes - elsewhere : 0;
	there.is_there = finding_percent((double)least, (double)there.all_bytes) >= NAMED_PERCENT;
	memcpy(there.name, others.name, sizeof(there.name));
	there.bytes = others.bytes;
	return there;
}
