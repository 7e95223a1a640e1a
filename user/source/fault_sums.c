// SPDX-License-Identifier: BSD-2-Clause
#include "source/fault_sums.h"

#include <errno.h>

static struct fault_sum *sum_of(struct fault_sums *sums, uint32_t pid)
{
	size_t next = sums->items.count;
	uint64_t *index;
	bool added;

	if (!array_reserve(&sums->items, next + 1))
		return NULL;
	index = hash_map_get(&sums->by_pid, pid, next, &added);
	if (!index)
		return NULL;
	if (added)
		*array_add(&sums->items) = (struct fault_sum){.pid = pid};
	return &sums->items.items[*index];
}

static void take(__u64 *now, __u64 *sent)
{
	__u64 value = *now;

	/* Less than before: the entry was made anew. */
	*now -= value >= *sent ? *sent : 0;
	*sent = value;
}

int fault_sums_take(struct fault_sums *sums, uint32_t pid, struct pkbpf_fault_process *process,
		    struct pkbpf_fault_announced *announced)
{
	struct fault_sum *sent = sum_of(sums, pid);

	if (!sent)
		return -ENOMEM;
	if (process->minor == sent->process.minor && process->major == sent->process.major)
		return 0;
	take(&process->minor, &sent->process.minor);
	take(&process->major, &sent->process.major);
	for (int i = 0; i < 2; i++) {
		take(&announced->count[i], &sent->announced.count[i]);
		take(&announced->squares[i], &sent->announced.squares[i]);
	}
	return 1;
}

void fault_sums_forget(struct fault_sums *sums, uint32_t pid)
{
	const uint64_t *found = hash_map_find(&sums->by_pid, pid);
	struct fault_sum *sum, *last;

	if (!found)
		return;
	sum = &sums->items.items[*found];
	last = &sums->items.items[sums->items.count - 1];
	if (sum != last) {
		*sum = *last;
		*hash_map_find(&sums->by_pid, sum->pid) = *found;
	}
	sums->items.count--;
	hash_map_remove(&sums->by_pid, pid);
}

void fault_sums_done(struct fault_sums *sums)
{
	array_free(&sums->items);
	hash_map_done(&sums->by_pid);
}
