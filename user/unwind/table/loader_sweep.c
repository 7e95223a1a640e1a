// SPDX-License-Identifier: BSD-2-Clause
/* Collects what processes left behind: entries, tracked processes, places of mappings. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "unwind/table/loader_private.h"

#define SWEEP_INTERVAL_NS (2 * NS_PER_SECOND)
/* Where there is little room left. Two are longer than the kernel side believes what it has found
 * of a process (process_moment()). */
#define PRESSED_SWEEP_INTERVAL_NS (600 * NS_PER_MS)

/* What the kernel side has: pids and the extents that their entries refer to, each sorted. */
struct entry_list {
	uint32_t *pids, *extents;
	size_t count;
};

static int compare_numbers(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return left < right ? -1 : left > right;
}

static bool contains(const uint32_t *sorted, size_t count, uint32_t number)
{
	return bsearch(&number, sorted, count, sizeof(number), compare_numbers) != NULL;
}

/* A batch must have room for one whole bucket. */
#define BATCH_ENTRIES 4096U

/* Room for what there is, since the map is seldom full: small memory comes from the heap, large
 * memory from the kernel. */
static bool reserve(struct entry_list *list, size_t count)
{
	uint32_t *pids = realloc(list->pids, count * sizeof(*pids)), *extents;

	if (!pids)
		return false;
	list->pids = pids;
	extents = realloc(list->extents, count * sizeof(*extents));
	if (!extents)
		return false;
	list->extents = extents;
	return true;
}

/* Entries that come or go meanwhile may be missed or seen twice; -errno where the kernel has no
 * batches (before 5.6). */
static int read_entries(int fd, struct entry_list *list, struct pkbpf_unwind_process *entries,
			uint32_t limit)
{
	uint32_t cursor, *previous = NULL;
	int err = 0;

	while (!err && list->count < limit) {
		uint32_t count = BATCH_ENTRIES;

		if (!reserve(list, list->count + count))
			return -ENOMEM;
		if (bpf_map_lookup_batch(fd, previous, &cursor, &list->pids[list->count], entries,
					 &count, NULL))
			err = -errno;
		if (err && err != -ENOENT) /* that one says: these were the last */
			return err;
		for (uint32_t i = 0; i < count; i++)
			list->extents[list->count + i] = entries[i].first_mapping;
		list->count += count;
		previous = &cursor;
	}
	return 0;
}

static bool list_entries(struct unwind_loader *loader, struct entry_list *list)
{
	/* Of a map that others fill meanwhile no more is read than it can hold. */
	uint32_t limit = loader->memory.process_count + BATCH_ENTRIES;
	_cleanup_free_ struct pkbpf_unwind_process *entries =
		malloc(BATCH_ENTRIES * sizeof(*entries));

	if (!entries || read_entries(loader->memory.fds.processes, list, entries, limit))
		return false;
	qsort(list->pids, list->count, sizeof(*list->pids), compare_numbers);
	qsort(list->extents, list->count, sizeof(*list->extents), compare_numbers);
	return true;
}

static bool process_exists(const struct unwind_loader *loader, uint32_t pid)
{
	char name[16];

	snprintf(name, sizeof(name), "%u", pid);
	return faccessat(loader->proc_fd, name, F_OK, 0) == 0;
}

struct sweep {
	struct unwind_loader *loader;
	struct entry_list entries;
	uint64_t now_ns;
};

/* The kernel side deletes a process's entry when the last of it has gone; ours may have come after
 * that. */
static void visit_process(void *context, struct tracked_process *process)
{
	struct sweep *sweep = context;
	bool has_entry = contains(sweep->entries.pids, sweep->entries.count, process->pid);
	uint64_t news_ns = process->born_ns;

	if (process->exec_ns > news_ns)
		news_ns = process->exec_ns;
	if (process->exit_ns > news_ns)
		news_ns = process->exit_ns;
	if (process->scanned_ns > news_ns)
		news_ns = process->scanned_ns;
	if (sweep->now_ns - news_ns < SWEEP_INTERVAL_NS)
		return;
	if (!process->exit_ns && (has_entry || !process->published_ns))
		return;
	/* Its parent has not collected it, or its leader exited and other threads live on. */
	if (process_exists(sweep->loader, process->pid))
		return;
	if (has_entry)
		loader_forget_entry(sweep->loader, process->pid);
	process_tracker_forget(sweep->loader->tracker, process->pid);
}

static void reuse_places(struct unwind_loader *loader, const struct entry_list *entries)
{
	size_t kept = 0;

	array_foreach(&loader->limbo, extent) {
		if (contains(entries->extents, entries->count, extent->first))
			extent->idle_sweeps = 0;
		else
			extent->idle_sweeps++;
		/* Twice in a row: also a walk that had looked an entry up before the first time has
		 * ended. */
		if (extent->idle_sweeps >= 2)
			extent_allocator_give(loader->mapping_room, extent->first, extent->count);
		else
			loader->limbo.items[kept++] = *extent;
	}
	loader->limbo.count = kept;
}

static bool room_runs_out(const struct unwind_loader *loader)
{
	return loader->limbo.count &&
	       extent_allocator_free_count(loader->mapping_room) < loader->memory.mapping_count / 4;
}

void loader_sweep(struct unwind_loader *loader, uint64_t now_ns)
{
	uint64_t interval_ns =
		room_runs_out(loader) ? PRESSED_SWEEP_INTERVAL_NS : SWEEP_INTERVAL_NS;
	struct sweep sweep = {.loader = loader, .now_ns = now_ns};

	if (now_ns - loader->last_sweep_ns < interval_ns)
		return;
	loader->last_sweep_ns = now_ns;
	if (list_entries(loader, &sweep.entries)) {
		process_tracker_visit(loader->tracker, visit_process, &sweep);
		reuse_places(loader, &sweep.entries);
	}
	free(sweep.entries.pids);
	free(sweep.entries.extents);
}
