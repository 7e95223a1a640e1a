// SPDX-License-Identifier: BSD-2-Clause
/* Collects garbage of exited processes: map entries, tracked processes, places of mappings. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "unwind/table/loader_private.h"

#define SWEEP_INTERVAL_NS (2 * NS_PER_SECOND)
/* Interval when room is short. Two intervals exceed the time for which the kernel side caches a
 * process (process_moment()). */
#define PRESSED_SWEEP_INTERVAL_NS (600 * NS_PER_MS)

/* Contents of the kernel side's map: PIDs and the extents of their entries, each sorted. */
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

/* A batch must have room for one complete hash bucket. */
#define BATCH_ENTRIES 4096U

/* Allocates by need, since the map is seldom full. Small memory comes from the heap, large memory
 * from mmap(). */
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

/* Concurrent additions and deletions may be missed or read twice. Returns -errno on kernels without
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
		if (err && err != -ENOENT) /* -ENOENT marks the last batch */
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
	/* Bounded by the map's capacity, since the kernel side may add entries meanwhile. */
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

/* The kernel side deletes a process's entry when its last thread exits. The loader may have written
 * the entry after that. */
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
	/* A zombie, or a process whose leader has exited while other threads live. */
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
		/* Two consecutive sweeps: an unwind that looked the entry up before the first one
		 * has ended. */
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
