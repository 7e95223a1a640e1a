// SPDX-License-Identifier: BSD-2-Clause
/* Adds the accounts of threads up by process. */
#include "rows/waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash_map.h"

struct thread_sum {
	uint32_t tid;
	uint64_t sum_ns, wall_ns;
};

struct work {
	ARRAY_OF(struct waits_process) processes;
	ARRAY_OF(struct thread_sum) threads;
	struct hash_map process_numbers; /* incarnation -> number in processes */
	struct hash_map thread_numbers;	 /* incarnation, tid -> number in threads */
};

static void work_done(struct work *work)
{
	array_free(&work->processes);
	array_free(&work->threads);
	hash_map_done(&work->process_numbers);
	hash_map_done(&work->thread_numbers);
}

static struct waits_process *get_process(struct work *work, uint32_t process)
{
	bool added;
	uint64_t *number =
		hash_map_get(&work->process_numbers, process, work->processes.count, &added);

	if (!number)
		return NULL;
	if (added) {
		struct waits_process *item = array_add(&work->processes);

		if (item)
			item->process = process;
		return item;
	}
	return &work->processes.items[*number];
}

static struct thread_sum *get_thread(struct work *work, const struct distribution_key *key,
				     struct waits_process *process)
{
	bool added;
	uint64_t *number =
		hash_map_get(&work->thread_numbers, (uint64_t)key->process << 32 | key->tid,
			     work->threads.count, &added);

	if (!number)
		return NULL;
	if (added) {
		struct thread_sum *thread = array_add(&work->threads);

		if (!thread)
			return NULL;
		thread->tid = key->tid;
		process->thread_count++;
		return thread;
	}
	return &work->threads.items[*number];
}

static int add(struct work *work, struct waits *waits, const struct distribution *distribution)
{
	const struct distribution_key *key = &distribution->key;
	struct waits_process *process;
	struct thread_sum *thread;

	if (key->kind != PKBPF_PROFILE_OFFCPU)
		return 0;
	if (distribution->estimated)
		waits->estimated = true;
	if (key->measure != PKBPF_OFFCPU_TIME && key->measure != PKBPF_OFFCPU_SWITCHES &&
	    key->measure != PKBPF_OFFCPU_WALL)
		return 0;
	process = get_process(work, key->process);
	thread = process ? get_thread(work, key, process) : NULL;
	if (!thread)
		return -ENOMEM;
	switch (key->measure) {
	case PKBPF_OFFCPU_TIME:
		thread->sum_ns += distribution->total;
		if (key->state < PKBPF_WAIT_STATES) {
			process->time_ns[key->state] += distribution->total;
			process->count[key->state] += distribution->count;
		}
		break;
	case PKBPF_OFFCPU_SWITCHES:
		if (key->state == 0)
			process->voluntary += distribution->count;
		else
			process->involuntary += distribution->count;
		break;
	case PKBPF_OFFCPU_WALL:
		thread->wall_ns += distribution->total;
		process->wall_ns += distribution->total;
		break;
	}
	return 0;
}

uint64_t waits_blocked_ns(const struct waits_process *process)
{
	uint64_t total_ns = 0;

	for (int state = PKBPF_WAIT_RUNQUEUE + 1; state < PKBPF_WAIT_STATES; state++)
		total_ns += process->time_ns[state];
	return total_ns;
}

static int compare_processes(const void *left, const void *right)
{
	const struct waits_process *a = left, *b = right;
	uint64_t x = waits_blocked_ns(a) + a->time_ns[PKBPF_WAIT_RUNQUEUE];
	uint64_t y = waits_blocked_ns(b) + b->time_ns[PKBPF_WAIT_RUNQUEUE];

	if (x != y)
		return x > y ? -1 : 1;
	return a->process < b->process ? -1 : a->process > b->process;
}

static void sum_up(struct work *work, struct waits *waits)
{
	array_foreach(&work->processes, process) {
		for (int state = 0; state < PKBPF_WAIT_STATES; state++) {
			waits->all.time_ns[state] += process->time_ns[state];
			waits->all.count[state] += process->count[state];
		}
		waits->all.voluntary += process->voluntary;
		waits->all.involuntary += process->involuntary;
		waits->all.wall_ns += process->wall_ns;
		waits->all.thread_count += process->thread_count;
	}
	array_foreach(&work->threads, thread) {
		uint64_t miss_ns = thread->sum_ns > thread->wall_ns
					   ? thread->sum_ns - thread->wall_ns
					   : thread->wall_ns - thread->sum_ns;

		if (miss_ns > waits->worst_miss_ns) {
			waits->worst_miss_ns = miss_ns;
			waits->worst_wall_ns = thread->wall_ns;
			waits->worst_tid = thread->tid;
		}
	}
}

int waits_init(struct waits *waits, const struct profile *profile)
{
	_cleanup_(work_done) struct work work = {0};
	const struct distribution *distribution;

	*waits = (struct waits){0};
	for (size_t i = 0; (distribution = profile_distribution_at(profile, i)); i++) {
		int err = add(&work, waits, distribution);

		if (err)
			return err;
	}
	sum_up(&work, waits);
	if (work.processes.count)
		qsort(work.processes.items, work.processes.count, sizeof(*work.processes.items),
		      compare_processes);
	waits->count = work.processes.count;
	waits->processes = take_pointer(work.processes.items);
	return 0;
}

void waits_done(struct waits *waits)
{
	free(waits->processes);
	*waits = (struct waits){0};
}

void waits_lengths(const struct profile *profile, uint32_t process, enum pkbpf_wait_state state,
		   struct histogram *ret_histogram)
{
	struct distribution_key key = {.kind = PKBPF_PROFILE_OFFCPU,
				       .process = process,
				       .state = (uint8_t)state,
				       .measure = PKBPF_OFFCPU_LENGTHS};
	const struct distribution *distribution = profile_distribution(profile, &key);

	memset(ret_histogram, 0, sizeof(*ret_histogram));
	if (distribution)
		distribution_merge(distribution, ret_histogram);
}
