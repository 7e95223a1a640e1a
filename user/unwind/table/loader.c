// SPDX-License-Identifier: BSD-2-Clause
/* Publishes processes and tables for the BPF unwinder. */
#include "unwind/table/loader.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pkbpf/config.h>

#include "base/clock.h"
#include "process/procfs_maps.h"
#include "process/procfs_status.h"
#include "unwind/hotspot/hotspot_tracker.h"
#include "unwind/table/loader_hotspot.h"
#include "unwind/table/loader_private.h"
#include "unwind/table/loader_python.h"
#include "unwind/table/loader_v8.h"

#define MISS_WAIT_MIN_NS (100 * NS_PER_MS)
#define MISS_WAIT_MAX_NS (5 * NS_PER_SECOND)
/* Reading one large maps file takes a millisecond. The remaining misses are dropped. */
#define RESCANS_PER_POLL 16

struct unwind_loader_sizes unwind_loader_choose_sizes(bool host_wide, uint64_t table_bytes)
{
	uint64_t chunk_bytes = PKBPF_CHUNK_ROWS * sizeof(uint32_t);
	uint64_t chunks = (table_bytes ? table_bytes : UNWIND_LOADER_TABLE_BYTES) / chunk_bytes;

	if (chunks < 4)
		chunks = 4;
	if (chunks > 1024)
		chunks = 1024;
	/*
	 * Pages: 2 GiB of distinct text host-wide, which is as much as the default cap of rows
	 * describes; else 1 GiB. Twice that for a higher cap. pkbpf_recent_place() has 20 bits for
	 * page numbers, so it cannot be more. Once mapped here, the whole map counts as RSS: 14 MiB
	 * or 7 MiB in all.
	 */
	return (struct unwind_loader_sizes){
		.rows = (uint32_t)chunks,
		.pages = (host_wide ? 1U << 19 : 1U << 18)
			 << (table_bytes > UNWIND_LOADER_TABLE_BYTES),
		.rules = PKBPF_UNWIND_MAX_RULES,
		.files = host_wide ? 1U << 14 : 1U << 13,
		.mappings = host_wide ? 1U << 17 : 1U << 15,
		.processes = host_wide ? 1U << 16 : 1U << 13,
		.raw_ring_bytes = 2U << 20,
	};
}

static uint32_t file_of(void *context, const struct mapping_view *mapping)
{
	return table_cache_add(((struct unwind_loader *)context)->tables, mapping);
}

/* The map's entries are reused once no process refers to them. */
static void retire_place(struct unwind_loader *loader, struct code_map *map)
{
	struct limbo_extent *extent;

	if (!map->published_count)
		return;
	for (size_t i = 0; i < map->list.count; i++)
		table_cache_release(loader->tables, map->list.items[i].file);
	loader->stats.mappings -= map->published_count;
	extent = array_add(&loader->limbo);
	if (extent)
		*extent = (struct limbo_extent){map->published_first, map->published_count, 0};
	map->published_count = 0;
}

static void map_done(void *context, struct code_map *map)
{
	retire_place(context, map);
}

/* Rewrites the entries of all processes that share the map. */
static void publish_again(struct unwind_loader *loader, struct tracked_process *process)
{
	retire_place(loader, process->map);
	process->missed = true;
	process->urgent = true;
	process_tracker_mark_changed(loader->tracker, process);
}

/* The mapping has no ELF file. */
static bool is_generated(struct unwind_loader *loader, const struct mapping *code)
{
	struct pkbpf_unwind_mapping mapping;

	table_cache_describe(loader->tables, code->file, code->start, code->end, code->file_offset,
			     &mapping);
	return mapping.flags & PKBPF_MAPPING_ANONYMOUS;
}

/* doubt: the unwind by frame pointers failed in generated code, or succeeded but may have skipped
 * frames. */
static void want_generated_code(struct unwind_loader *loader, const struct tracked_process *process,
				uint64_t address, enum generated_code_doubt doubt)
{
	const struct mapping *code = mapping_list_find(&process->map->list, address);

	if (code && is_generated(loader, code) &&
	    !hotspot_tracker_covers(loader_hotspot_tracker(loader->hotspot), process->pid,
				    code->start, code->end))
		generated_code_want(loader->generated, process->pid, code->start, code->end, doubt,
				    clock_now_ns());
}

/* The table of a file was missing, or its part for this address. The mapping was published before
 * the file could be opened, or the file cannot be opened again, or (was_without_file) the mapping
 * was published as one whose file cannot be opened. */
static void want_table(struct unwind_loader *loader, struct tracked_process *process,
		       uint64_t address, bool was_without_file)
{
	const struct mapping *code = mapping_list_find(&process->map->list, address);
	struct pkbpf_unwind_mapping mapping;

	if (!code)
		return;
	if (is_generated(loader, code)) {
		/* A forked child inherits the parent's map entry, but not its rows. */
		want_generated_code(loader, process, address, GENERATED_CODE_INHERITED);
		return;
	}
	table_cache_describe(loader->tables, code->file, code->start, code->end, code->file_offset,
			     &mapping);
	table_cache_want_code(loader->tables, code->file, address - mapping.bias);
	table_cache_describe(loader->tables, code->file, code->start, code->end, code->file_offset,
			     &mapping);
	if (process->map->published_incomplete ||
	    was_without_file != !!(mapping.flags & PKBPF_MAPPING_NO_FILE))
		publish_again(loader, process);
}

/* The kernel side has found threads of the interpreter in its list only. */
static void want_python(struct unwind_loader *loader, struct tracked_process *process)
{
	if (!process || !process->map || !process->python_looked)
		return;
	process->python_looked = false;
	process->missed = process->urgent = true;
	process_tracker_mark_changed(loader->tracker, process);
}

static bool generated_code_exists(void *context, uint32_t pid, uint64_t start, uint64_t end)
{
	struct unwind_loader *loader = context;
	struct tracked_process *process = process_tracker_find(loader->tracker, pid);
	const struct mapping *code =
		process && process->map ? mapping_list_find(&process->map->list, start) : NULL;

	return code && !process->exit_ns && is_generated(loader, code) && code->start == start &&
	       code->end == end;
}

static void generated_code_changed(void *context, uint32_t pid)
{
	struct unwind_loader *loader = context;
	struct tracked_process *process = process_tracker_find(loader->tracker, pid);

	if (process && process->map)
		publish_again(loader, process);
}

static int on_miss(void *context, void *data, size_t size)
{
	struct unwind_loader *loader = context;
	const struct pkbpf_unwind_miss *miss = data;
	struct tracked_process *process;
	struct missed_process *missed;

	if (size < sizeof(*miss))
		return 0;
	loader->stats.misses++;
	process = process_tracker_find(loader->tracker, miss->pid);
	if ((miss->end == PKBPF_END_NO_TABLE || miss->end == PKBPF_END_NO_FILE) && process &&
	    process->map) {
		want_table(loader, process, miss->address, miss->end == PKBPF_END_NO_FILE);
		return 0;
	}
	if (miss->end == PKBPF_MISS_PYTHON) {
		want_python(loader, process);
		return 0;
	}
	if (miss->end == PKBPF_END_FAULT_FP || miss->end <= PKBPF_END_LAST_COMPLETE) {
		if (process && process->map)
			want_generated_code(loader, process, miss->address,
					    miss->end == PKBPF_END_FAULT_FP
						    ? GENERATED_CODE_FAILED
						    : GENERATED_CODE_UNPROVEN);
		return 0;
	}
	missed = array_add(&loader->missed);
	if (missed)
		*missed = (struct missed_process){miss->pid, miss->end == PKBPF_END_NO_PROCESS,
						  miss->address};
	return 0;
}

int unwind_loader_new(const struct unwind_loader_maps *maps,
		      const struct unwind_loader_options *options,
		      struct unwind_loader **ret_loader, struct error *error)
{
	struct unwind_loader *loader = calloc(1, sizeof(*loader));
	struct process_tracker_ops ops = {file_of, map_done, loader};
	struct table_cache_options tables = {.files = options->files,
					     .on_demand = options->on_demand,
					     .readers = options->readers};
	int err;

	if (!loader)
		return error_set(error, ENOMEM, "cannot prepare stack unwinding: out of memory");
	loader->proc_fd = -1;
	loader->log = options->log;
	loader->found = options->found;
	err = loader_memory_open(maps, &loader->memory, error);
	if (err) {
		free(loader);
		return err;
	}
	tables.max_chunks = loader->memory.chunk_count;
	/* Few files need more than one chunk; each later growth costs the building thread 10 ms. */
	tables.initial_chunks = options->only_relatives || options->on_demand ? 2 : 6;
	loader->mapping_room = extent_allocator_new(loader->memory.mapping_count);
	loader->tracker = process_tracker_new(&ops, options->only_relatives);
	loader->generated = generated_code_new(NULL);
	loader->hotspot = loader_hotspot_new(loader);
	loader->tables = table_cache_new(&loader->memory.tables, &tables);
	loader->proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	loader->misses = ring_buffer__new(maps->misses, on_miss, loader, NULL);
	if (!loader->mapping_room || !loader->tracker || !loader->generated || !loader->hotspot ||
	    !loader->tables || loader->proc_fd < 0 || !loader->misses) {
		err = errno ? errno : ENOMEM;
		unwind_loader_free(loader);
		return error_set(error, err, "cannot prepare stack unwinding: %s", strerror(err));
	}
	*ret_loader = loader;
	return 0;
}

void unwind_loader_free(struct unwind_loader *loader)
{
	if (!loader)
		return;
	ring_buffer__free(loader->misses);
	process_tracker_free(loader->tracker);
	generated_code_free(loader->generated);
	loader_hotspot_free(loader->hotspot);
	table_cache_free(loader->tables);
	extent_allocator_free(loader->mapping_room);
	loader_memory_close(&loader->memory);
	array_free(&loader->missed);
	array_free(&loader->limbo);
	if (loader->proc_fd >= 0)
		close(loader->proc_fd);
	free(loader);
}

static void on_task(void *context, const struct task_view *task)
{
	process_tracker_on_task(((struct unwind_loader *)context)->tracker, task);
}

static void on_mapping(void *context, const struct mapping_view *mapping)
{
	process_tracker_on_mapping(((struct unwind_loader *)context)->tracker, mapping);
}

struct event_sink unwind_loader_sink(struct unwind_loader *loader)
{
	static const struct event_sink_ops ops = {
		.on_task = on_task,
		.on_mapping = on_mapping,
	};

	return (struct event_sink){&ops, loader};
}

/* Writes a map to newly allocated entries. Returns false when there is no room. */
static bool place_map(struct unwind_loader *loader, struct code_map *map, uint32_t pid)
{
	uint32_t first, count = (uint32_t)map->list.count;
	bool incomplete = false;

	if (!extent_allocator_take(loader->mapping_room, count, &first))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const struct mapping *code = &map->list.items[i];
		struct pkbpf_unwind_mapping mapping = {.start = code->start, .end = code->end};

		/* Reference first: the description names a file number that must not be reused for
		 * another file. */
		table_cache_reference(loader->tables, code->file);
		table_cache_describe(loader->tables, code->file, code->start, code->end,
				     code->file_offset, &mapping);
		incomplete |= (mapping.flags & PKBPF_MAPPING_PENDING) != 0;
		/* The kernel side has no rows of generated code: it copies the stack for the raw
		 * unwinder. */
		if (mapping.flags & PKBPF_MAPPING_ANONYMOUS &&
		    generated_code_has(loader->generated, pid, code->start, code->end))
			mapping.flags |= PKBPF_MAPPING_PENDING;
		loader_hotspot_describe(loader->hotspot, pid, &mapping);
		loader->memory.mappings[first + i] = mapping;
	}
	map->published_incomplete = incomplete;
	map->published_first = first;
	map->published_count = count;
	loader->stats.mappings += count;
	return true;
}

/* The kernel side repeats its look-up when this counter has changed. */
static void note_change(struct unwind_loader *loader)
{
	__atomic_fetch_add(loader->memory.fds.generation, 1, __ATOMIC_SEQ_CST);
}

void loader_forget_entry(struct unwind_loader *loader, uint32_t pid)
{
	if (!bpf_map_delete_elem(loader->memory.fds.processes, &pid))
		note_change(loader);
}

static void unpublish(struct unwind_loader *loader, struct tracked_process *process)
{
	if (process->published_ns)
		loader_forget_entry(loader, process->pid);
	process->published_ns = 0;
}

static void publish(struct unwind_loader *loader, struct tracked_process *process)
{
	struct code_map *map = process->map;
	struct pkbpf_unwind_process entry;

	if (!map || !map->list.count) {
		unpublish(loader, process);
		return;
	}
	loader_hotspot_follow(loader->hotspot, process);
	if (!map->published_count)
		map = process_tracker_share_with_parent(loader->tracker, process);
	/* Forked after its map was published: the kernel side has copied the entry already. */
	if (map->published_count && process->born_ns > map->published_ns &&
	    process->exec_ns < process->born_ns && !process->missed) {
		process->published_ns = clock_now_ns();
		return;
	}
	if (!map->published_count && !place_map(loader, map, process->pid)) {
		loader->stats.refused++;
		/* Until there is room again, the entry of the same image stays valid. */
		if (process->exec_ns > process->published_ns)
			unpublish(loader, process);
		process_tracker_mark_changed(loader->tracker, process);
		return;
	}
	entry = (struct pkbpf_unwind_process){
		.first_mapping = map->published_first,
		.mapping_count = map->published_count,
		.start_ns = procfs_start_ticks("/proc", process->pid) * PKBPF_TICK_NS,
		/* An inherited image is older than any exec of the process. */
		.exec_ns = process->exec_ns > process->born_ns ? process->exec_ns : 0,
		.python = loader_python_of(loader, process),
		.v8 = loader_v8_of(loader, process),
	};
	if (bpf_map_update_elem(loader->memory.fds.processes, &process->pid, &entry, BPF_ANY)) {
		loader->stats.refused++;
		return;
	}
	note_change(loader);
	process->published_ns = clock_now_ns();
	process->missed = false;
	loader->stats.publications++;
	if (!map->published_ns)
		map->published_ns = process->published_ns;
}

struct scan {
	struct unwind_loader *loader;
	const struct tracked_process *process; /* state before the scan; NULL: unknown process */
	struct code_map *map;
	uint32_t pid;
	uint64_t time_ns;
};

static void on_scanned(void *context, const struct procfs_mapping *found)
{
	struct scan *scan = context;
	struct mapping_view mapping = {
		.time_ns = scan->time_ns,
		.pid = scan->pid,
		.tid = scan->pid,
		.start = found->start,
		.end = found->end,
		.file_offset = found->file_offset,
		.inode = found->inode,
		.device_major = found->device_major,
		.device_minor = found->device_minor,
		.protection = found->protection,
		.from_snapshot = true,
		.path = found->path,
	};
	const struct event_sink *sink = &scan->loader->found;
	struct mapping code;

	if (!process_tracker_code_of(scan->loader->tracker, &mapping, &code))
		return;
	mapping_list_add(&scan->map->list, &code);
	if (!scan->process || !process_tracker_has(scan->process, &code))
		sink->ops->on_mapping(sink->context, &mapping);
}

/* Doubles the minimum wait each time a re-read of the maps changed nothing. */
static void note_rescan(struct tracked_process *process, uint64_t time_ns, bool was_news)
{
	process->miss_ns = time_ns;
	if (was_news || !process->miss_wait_ns)
		process->miss_wait_ns = MISS_WAIT_MIN_NS;
	else if (process->miss_wait_ns < MISS_WAIT_MAX_NS)
		process->miss_wait_ns *= 2;
}

/* The mapping is known but was unpublished when the sample was taken. */
static bool is_published_next(struct tracked_process *process, const struct missed_process *missed)
{
	if (!process || !process->changed || !process->map ||
	    !mapping_list_find(&process->map->list, missed->address))
		return false;
	process->missed = process->missed || missed->unknown;
	process->urgent = true;
	return true;
}

/* Re-reads the maps of a process, unless a recent re-read changed nothing. */
static bool rescan(struct unwind_loader *loader, const struct missed_process *missed)
{
	struct tracked_process *process = process_tracker_find(loader->tracker, missed->pid);
	struct scan scan = {.loader = loader,
			    .process = process,
			    .pid = missed->pid,
			    .time_ns = clock_now_ns()};
	bool same;

	if (is_published_next(process, missed) ||
	    (process && scan.time_ns - process->miss_ns < process->miss_wait_ns))
		return false;
	scan.map = code_map_new();
	if (!scan.map)
		return false;
	loader->stats.rescans++;
	if (procfs_maps_read(loader->proc_fd, missed->pid, on_scanned, &scan) >= 0 &&
	    scan.map->list.count)
		process = process_tracker_follow(loader->tracker, missed->pid);
	else
		process = NULL; /* exited */
	if (!process) {
		code_map_free(scan.map);
		return true;
	}
	same = process->map && mapping_list_equal(&process->map->list, &scan.map->list);
	note_rescan(process, scan.time_ns, !same || missed->unknown);
	process_tracker_replace(loader->tracker, process, scan.map, scan.time_ns);
	process->urgent = process->changed;
	if (missed->unknown) {
		process->missed = true;
		process->urgent = true;
		process_tracker_mark_changed(loader->tracker, process);
	}
	return true;
}

static void rescan_missed(struct unwind_loader *loader)
{
	size_t done = 0, i;

	for (i = 0; i < loader->missed.count && done < RESCANS_PER_POLL; i++)
		done += rescan(loader, &loader->missed.items[i]);
	/* Dropped misses recur if they matter. */
	loader->missed.count = 0;
}

void unwind_loader_poll(struct unwind_loader *loader)
{
	struct tracked_process *process;
	uint64_t now_ns = clock_now_ns();

	ring_buffer__consume(loader->misses);
	rescan_missed(loader);
	generated_code_poll(loader->generated, now_ns, generated_code_exists,
			    generated_code_changed, loader);
	loader_hotspot_poll(loader->hotspot, now_ns, generated_code_changed);
	while ((process = process_tracker_take_changed(loader->tracker, now_ns)))
		publish(loader, process);
	loader_sweep(loader, now_ns);
}

int unwind_loader_fd(const struct unwind_loader *loader)
{
	return loader->memory.fds.misses;
}

bool unwind_loader_wait_ready(struct unwind_loader *loader, uint64_t timeout_ns)
{
	unwind_loader_poll(loader);
	return table_cache_wait(loader->tables, timeout_ns);
}

bool unwind_loader_postpones(const struct unwind_loader *loader)
{
	return process_tracker_has_changed(loader->tracker);
}

bool unwind_loader_idle(struct unwind_loader *loader)
{
	return table_cache_idle(loader->tables);
}

struct unwind_loader_stats unwind_loader_stats(struct unwind_loader *loader)
{
	struct unwind_loader_stats stats = loader->stats;

	stats.tables = table_cache_stats(loader->tables);
	stats.processes = (uint32_t)process_tracker_count(loader->tracker);
	return stats;
}

struct table_cache *unwind_loader_tables(struct unwind_loader *loader)
{
	return loader->tables;
}

struct hotspot_tracker *unwind_loader_hotspot(struct unwind_loader *loader)
{
	return loader_hotspot_tracker(loader->hotspot);
}

struct generated_code *unwind_loader_generated(struct unwind_loader *loader)
{
	return loader->generated;
}

struct process_tracker *unwind_loader_processes(struct unwind_loader *loader)
{
	return loader->tracker;
}
