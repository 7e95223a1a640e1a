// SPDX-License-Identifier: BSD-2-Clause
/* Keeps the latest name of each track. */
#include "export/timeline/track_names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static uint64_t key_of(uint32_t pid, uint32_t tid, uint64_t born_ns)
{
	const uint64_t key[] = {(uint64_t)pid << 32 | tid, born_ns};

	return hash_bytes(key, sizeof(key), 0);
}

void track_names_done(struct track_names *names)
{
	hash_map_done(&names->index);
	array_free(&names->items);
}

int track_names_put(struct track_names *names, const struct track_name *name)
{
	struct track_name *known;
	bool added;
	const uint64_t *place =
		hash_map_get(&names->index, key_of(name->pid, name->tid, name->born_ns),
			     names->items.count, &added);

	if (!place)
		return -ENOMEM;
	known = added ? array_add(&names->items) : &names->items.items[*place];
	if (!known) {
		hash_map_remove(&names->index, key_of(name->pid, name->tid, name->born_ns));
		return -ENOMEM;
	}
	if (added || name->image_ns >= known->image_ns)
		*known = *name;
	return 0;
}

static void update(struct track_names *names, const struct process *process, uint64_t born_ns)
{
	const uint64_t *place = hash_map_find(&names->index, key_of(process->pid, 0, born_ns));
	struct track_name *known = place ? &names->items.items[*place] : NULL;

	if (!known || process->start_ns < known->image_ns || !process->comm[0])
		return;
	known->image_ns = process->start_ns;
	snprintf(known->text, sizeof(known->text), "%s", process->comm);
}

void track_names_update(struct track_names *names, struct process_table *processes)
{
	size_t count = process_table_count(processes);

	for (size_t id = 0; id < count; id++) {
		const struct process *process = process_table_by_id(processes, (uint32_t)id);

		if (!process_has_pid(process))
			continue;
		update(names, process, 0);
		if (process->born_ns)
			update(names, process, process->born_ns);
	}
}

const char *track_names_get(const struct track_names *names, uint32_t pid, uint32_t tid,
			    uint64_t born_ns)
{
	const uint64_t *place = hash_map_find(&names->index, key_of(pid, tid, born_ns));

	return place ? names->items.items[*place].text : NULL;
}
