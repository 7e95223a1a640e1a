// SPDX-License-Identifier: BSD-2-Clause
/* Descendants by the parents that fork records have named. */
#include "source/regions/past_targets.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "process/process_table.h"

/* Processes between a target and its last descendant. */
#define MOST_GENERATIONS 32

static int compare_pids(const void *a, const void *b)
{
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	return first < second ? -1 : first > second;
}

static void sort_pids(struct u32_list *pids)
{
	if (pids->count)
		qsort(pids->items, pids->count, sizeof(*pids->items), compare_pids);
}

bool past_targets_has(const struct u32_list *targets, uint32_t pid)
{
	return targets->count &&
	       bsearch(&pid, targets->items, targets->count, sizeof(*targets->items), compare_pids);
}

static bool is_new_target(const struct process *process, enum pkbpf_follow follow,
			  uint64_t since_ns, const struct u32_list *targets)
{
	return process && process->end_ns && process->end_ns >= since_ns &&
	       (follow == PKBPF_FOLLOW_DESCENDANTS || !process->execed) &&
	       past_targets_has(targets, process->parent_pid) &&
	       !past_targets_has(targets, process->pid);
}

/* Adds the children of the targets that are known. */
static int add_generation(struct process_table *processes, enum pkbpf_follow follow,
			  uint64_t since_ns, struct u32_list *targets)
{
	const struct u32_list known = *targets;
	size_t count = process_table_count(processes);
	struct u32_list found = {0};
	int err = 0;

	for (uint32_t id = 0; id < count && !err; id++) {
		const struct process *process = process_table_by_id(processes, id);
		uint32_t *pid;

		if (!is_new_target(process, follow, since_ns, &known))
			continue;
		pid = array_add(&found);
		if (pid)
			*pid = process->pid;
		else
			err = -ENOMEM;
	}
	for (size_t i = 0; i < found.count && !err; i++) {
		uint32_t *pid = array_add(targets);

		if (pid)
			*pid = found.items[i];
		else
			err = -ENOMEM;
	}
	free(found.items);
	sort_pids(targets);
	return err;
}

int past_targets_add(struct process_table *processes, enum pkbpf_follow follow, uint64_t since_ns,
		     struct u32_list *targets)
{
	int err = 0;

	sort_pids(targets);
	for (int i = 0; i < MOST_GENERATIONS && follow != PKBPF_FOLLOW_NONE && !err; i++) {
		size_t before = targets->count;

		err = add_generation(processes, follow, since_ns, targets);
		if (targets->count == before)
			break;
	}
	return err;
}
