// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/table/loader_hotspot.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "unwind/hotspot/hotspot_tracker.h"
#include "unwind/table/table_live.h"

/* Tables follow changes at this interval, and a pause of so many times the CPU time. */
#define PUBLISH_NS	 (100 * NS_PER_MS)
#define REST_PER_PUBLISH 50
/* A pause when there is no room: other JVMs may end. */
#define NO_ROOM_NS (5 * NS_PER_SECOND)

/* A code heap. */
struct heap {
	uint64_t start, reserved_end;
	struct table_live *table;
	bool is_announced; /* mappings refer to the table */
};

struct jvm {
	uint32_t pid;
	uint64_t serial;     /* of the tracker's */
	uint64_t generation; /* of the published tables */
	uint64_t next_ns;
	bool is_known; /* mappings were published as those of a JVM */
	struct heap heaps[HOTSPOT_MAX_HEAPS];
	size_t count;
};

struct loader_hotspot {
	struct unwind_loader *loader;
	struct hotspot_tracker *code;
	struct jvm jvms[HOTSPOT_TRACKER_PROCESSES];
	size_t count;
	bool warned_no_room;
};

struct loader_hotspot *loader_hotspot_new(struct unwind_loader *loader)
{
	struct loader_hotspot *hotspot = calloc(1, sizeof(*hotspot));

	if (!hotspot)
		return NULL;
	hotspot->loader = loader;
	hotspot->code = hotspot_tracker_new(loader->log);
	if (!hotspot->code) {
		free(hotspot);
		return NULL;
	}
	return hotspot;
}

void loader_hotspot_free(struct loader_hotspot *hotspot)
{
	if (!hotspot)
		return;
	hotspot_tracker_free(hotspot->code); /* tables are freed by their cache */
	free(hotspot);
}

struct hotspot_tracker *loader_hotspot_tracker(struct loader_hotspot *hotspot)
{
	return hotspot->code;
}

static struct jvm *find_jvm(struct loader_hotspot *hotspot, uint32_t pid)
{
	for (size_t i = 0; i < hotspot->count; i++)
		if (hotspot->jvms[i].pid == pid)
			return &hotspot->jvms[i];
	return NULL;
}

static void drop_tables(struct loader_hotspot *hotspot, struct jvm *jvm)
{
	for (size_t i = 0; i < jvm->count; i++)
		table_live_drop(hotspot->loader->tables, jvm->heaps[i].table);
	jvm->count = 0;
	jvm->generation = 0;
}

static void forget(struct loader_hotspot *hotspot, struct jvm *jvm)
{
	drop_tables(hotspot, jvm);
	*jvm = hotspot->jvms[--hotspot->count];
}

void loader_hotspot_follow(struct loader_hotspot *hotspot, const struct tracked_process *process)
{
	struct table_cache *tables = hotspot->loader->tables;
	uint64_t born_ns =
		process->exec_ns > process->born_ns ? process->exec_ns : process->born_ns;
	const struct hotspot_image *image = NULL;
	uint64_t bias = 0;

	for (size_t i = 0; i < process->map->list.count && !image; i++) {
		const struct mapping *code = &process->map->list.items[i];

		image = table_cache_hotspot(tables, code->file, code->start, code->end,
					    code->file_offset, &bias);
		if (image)
			hotspot_tracker_follow(hotspot->code, process->pid, born_ns, image, bias,
					       table_cache_path(tables, code->file));
	}
	if (!image)
		hotspot_tracker_forget(hotspot->code, process->pid);
}

void loader_hotspot_describe(struct loader_hotspot *hotspot, uint32_t pid,
			     struct pkbpf_unwind_mapping *mapping)
{
	struct jvm *jvm;

	if (!(mapping->flags & PKBPF_MAPPING_ANONYMOUS) ||
	    !hotspot_tracker_covers(hotspot->code, pid, mapping->start, mapping->end))
		return;
	/* Until it has a table, the kernel side copies stacks for the raw unwinder. */
	mapping->flags = PKBPF_MAPPING_PENDING;
	jvm = find_jvm(hotspot, pid);
	for (size_t i = jvm ? jvm->count : 0; i-- > 0;) {
		/* One mapping may have two heaps, for which there is no table. */
		if (mapping->start < jvm->heaps[i].start ||
		    mapping->end > jvm->heaps[i].reserved_end || !jvm->heaps[i].is_announced)
			continue;
		mapping->flags = 0;
		mapping->bias = 0;
		mapping->file = table_live_file(jvm->heaps[i].table);
		return;
	}
}

/* Returns the table of a heap, a new one if it has none; NULL: no room. */
static struct table_live *table_of(struct loader_hotspot *hotspot, struct jvm *jvm,
				   const struct hotspot_heap_range *range)
{
	struct heap *heap;

	for (size_t i = 0; i < jvm->count; i++)
		if (jvm->heaps[i].start == range->start)
			return jvm->heaps[i].table;
	if (jvm->count == HOTSPOT_MAX_HEAPS)
		return NULL;
	heap = &jvm->heaps[jvm->count];
	*heap = (struct heap){range->start, range->reserved_end,
			      table_live_new(hotspot->loader->tables), false};
	jvm->count += heap->table != NULL;
	return heap->table;
}

/* -ENOSPC: a table has no room; -ENOMEM. Such tables are to be tried again. */
static int publish_tables(struct loader_hotspot *hotspot, struct jvm *jvm)
{
	size_t count = hotspot_tracker_heap_count(hotspot->code, jvm->pid);
	int first_err = 0;

	for (size_t i = 0; i < count; i++) {
		struct hotspot_heap_range range = hotspot_tracker_heap(hotspot->code, jvm->pid, i);
		const struct pkbpf_unwind_rule *rules;
		struct unwind_table *table;
		struct table_live *live;
		uint32_t rule_count;
		int err = -ENOSPC;

		if (hotspot_tracker_table(hotspot->code, jvm->pid, i, &table, &rules, &rule_count))
			continue;
		live = table_of(hotspot, jvm, &range);
		if (live)
			err = table_live_set(hotspot->loader->tables, live, table, rules,
					     rule_count);
		else
			unwind_table_free(table);
		first_err = first_err ? first_err : err;
	}
	return first_err;
}

static int compare_heaps(const void *a, const void *b)
{
	const struct heap *left = a, *right = b;

	return left->start < right->start ? -1 : left->start > right->start;
}

/* Returns whether mappings may refer to more tables than before. */
static bool announce(struct loader_hotspot *hotspot, struct jvm *jvm)
{
	bool has_news = false;

	for (size_t i = 0; i < jvm->count; i++) {
		struct heap *heap = &jvm->heaps[i];

		if (heap->is_announced ||
		    !table_live_is_ready(hotspot->loader->tables, heap->table))
			continue;
		heap->is_announced = has_news = true;
	}
	qsort(jvm->heaps, jvm->count, sizeof(jvm->heaps[0]), compare_heaps);
	return has_news;
}

static void warn_no_room(struct loader_hotspot *hotspot, const struct jvm *jvm)
{
	if (!hotspot->warned_no_room)
		log_warning(hotspot->loader->log,
			    "no room for unwind tables of JVM %u; choose targets with --pid",
			    jvm->pid);
	hotspot->warned_no_room = true;
}

/* Returns whether the mappings are to be published again. */
static bool poll_one(struct loader_hotspot *hotspot, struct jvm *jvm, uint64_t now_ns)
{
	uint64_t generation = hotspot_tracker_generation(hotspot->code, jvm->pid);
	uint64_t begin_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID), rest_ns;
	bool has_news = announce(hotspot, jvm);
	int err;

	if (jvm->is_known && !hotspot_tracker_knows(hotspot->code, jvm->pid)) {
		jvm->is_known = false;
		has_news = true;
	}
	if (generation == jvm->generation || now_ns < jvm->next_ns)
		return has_news;
	err = publish_tables(hotspot, jvm);
	if (!err)
		jvm->generation = generation;
	if (err == -ENOSPC)
		warn_no_room(hotspot, jvm);
	rest_ns = err == -ENOSPC ? NO_ROOM_NS : PUBLISH_NS;
	jvm->next_ns =
		now_ns + REST_PER_PUBLISH * (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns);
	if (jvm->next_ns < now_ns + rest_ns)
		jvm->next_ns = now_ns + rest_ns;
	return has_news;
}

/* The processes are those that the code has. */
static void update_list(struct loader_hotspot *hotspot)
{
	uint32_t pids[HOTSPOT_TRACKER_PROCESSES];
	size_t count = hotspot_tracker_pids(hotspot->code, pids);

	for (size_t i = hotspot->count; i-- > 0;) {
		size_t at = 0;

		while (at < count && pids[at] != hotspot->jvms[i].pid)
			at++;
		/* After exec(2) another JVM may have the pid. */
		if (at == count ||
		    hotspot->jvms[i].serial != hotspot_tracker_serial(hotspot->code, pids[at]))
			forget(hotspot, &hotspot->jvms[i]);
	}
	for (size_t i = 0; i < count; i++)
		if (!find_jvm(hotspot, pids[i]))
			hotspot->jvms[hotspot->count++] = (struct jvm){
				.pid = pids[i],
				.serial = hotspot_tracker_serial(hotspot->code, pids[i]),
				.is_known = true,
			};
}

void loader_hotspot_poll(struct loader_hotspot *hotspot, uint64_t now_ns,
			 void (*changed)(void *context, uint32_t pid))
{
	hotspot_tracker_poll(hotspot->code, now_ns);
	update_list(hotspot);
	for (size_t i = 0; i < hotspot->count; i++) {
		struct jvm *jvm = &hotspot->jvms[i];

		if (poll_one(hotspot, jvm, now_ns))
			changed(hotspot->loader, jvm->pid);
	}
}
