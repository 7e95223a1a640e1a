// SPDX-License-Identifier: BSD-2-Clause
/* Finds the perf map of a process, decides whether to believe it, and names code from it. */
#include "symbol/jit/perf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file_io.h"
#include "base/hash_map.h"
#include "base/named_line.h"
#include "symbol/demangle.h"
#include "symbol/target_file.h"

#define MAX_STATUS_BYTES (64U << 10)
/* A runtime that keeps writing while we look up its addresses makes us read the file again this
 * often at most. */
#define MAX_RELOADS 32

struct process_map {
	int fd; /* -1: no usable file */
	off_t size;
	unsigned int reloads;
	struct perf_map map;
};

struct perf_map_symbolizer {
	struct symbolizer symbolizer;
	const struct symbolizer_options *options;
	struct process_table *processes;
	struct string_pool *strings;
	ARRAY_OF(struct process_map) maps;
	struct hash_map by_process; /* incarnation id -> item of maps */
	struct symbol_line line;
};

struct process_status {
	uint32_t real_uid, effective_uid;
	uint32_t inner_pid; /* in the innermost pid namespace */
};

/* false: the process is gone. */
static bool read_status(const char *root, uint32_t pid, struct process_status *ret)
{
	_cleanup_free_ char *text = NULL;
	const char *uids, *pids, *end;
	char path[4096];
	size_t size;

	snprintf(path, sizeof(path), "%s/proc/%u/status", root, pid);
	if (file_read_all(AT_FDCWD, path, MAX_STATUS_BYTES, &text, &size))
		return false;
	uids = named_line(text, "Uid:");
	if (!uids || sscanf(uids, "%u %u", &ret->real_uid, &ret->effective_uid) != 2)
		return false;
	/* "NSpid:\t4711\t1": ours first, the process's own last. */
	ret->inner_pid = pid;
	pids = named_line(text, "NSpid:");
	if (!pids)
		return true;
	end = strchr(pids, '\n');
	while (pids && (!end || pids < end)) {
		char *after;
		unsigned long number = strtoul(pids, &after, 10);

		if (after == pids || (end && after > end))
			break;
		ret->inner_pid = (uint32_t)number;
		pids = after;
	}
	return true;
}

static bool is_believed(const struct stat *st, const uint32_t uids[2])
{
	return st->st_uid == uids[0] || st->st_uid == uids[1] || st->st_uid == 0;
}

static int open_believed(struct file_servers *servers, const char *root, uint32_t root_pid,
			 uint32_t map_pid, const uint32_t uids[2], struct stat *ret_stat)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", map_pid);
	fd = target_file_open(servers, root, root_pid, path, false, ret_stat);
	if (fd >= 0 && !is_believed(ret_stat, uids)) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

static int open_map(const struct perf_map_symbolizer *perf_map, uint32_t pid, struct stat *ret_stat)
{
	const char *root = perf_map->options->root ? perf_map->options->root : "";
	struct file_servers *servers =
		mapped_file_table_servers(process_table_files(perf_map->processes));
	struct process_status status;

	if (read_status(root, pid, &status)) {
		const uint32_t uids[] = {status.real_uid, status.effective_uid};
		int fd = open_believed(servers, root, pid, status.inner_pid, uids, ret_stat);

		if (fd >= 0)
			return fd;
		return open_believed(servers, root, 0, pid, uids, ret_stat);
	} else {
		const uint32_t uids[] = {geteuid(), perf_map->options->user_uid};

		return open_believed(servers, root, 0, pid, uids, ret_stat);
	}
}

static void close_map(struct process_map *map)
{
	perf_map_done(&map->map);
	if (map->fd >= 0)
		close(map->fd);
	map->fd = -1;
}

static void load_map(struct process_map *map, off_t size)
{
	struct perf_map fresh;

	if (size > (off_t)PERF_MAP_MAX_BYTES || perf_map_read(map->fd, &fresh)) {
		close_map(map);
		return;
	}
	perf_map_done(&map->map);
	map->map = fresh;
	map->size = size;
}

/* NULL: out of memory. */
static struct process_map *get_map(struct perf_map_symbolizer *perf_map, uint32_t process_id)
{
	uint64_t *item = hash_map_find(&perf_map->by_process, process_id);
	struct process_map *map;
	struct process *process;
	struct stat st;

	if (item)
		return &perf_map->maps.items[*item];
	map = array_add(&perf_map->maps);
	if (!map)
		return NULL;
	map->fd = -1;
	if (!hash_map_put(&perf_map->by_process, process_id, perf_map->maps.count - 1)) {
		perf_map->maps.count--;
		return NULL;
	}
	if (process_id >= process_table_count(perf_map->processes))
		return map;
	process = process_table_by_id(perf_map->processes, process_id);
	map->fd = process ? open_map(perf_map, process->pid, &st) : -1;
	if (map->fd >= 0)
		load_map(map, st.st_size);
	return map;
}

static const struct perf_map_entry *find_entry(struct process_map *map, uint64_t address)
{
	const struct perf_map_entry *entry = perf_map_find(&map->map, address);
	struct stat st;

	/* Code generated since we read the file is at its end. */
	if (entry || map->reloads >= MAX_RELOADS || fstat(map->fd, &st) < 0 ||
	    st.st_size == map->size)
		return entry;
	map->reloads++;
	load_map(map, st.st_size);
	return perf_map_find(&map->map, address);
}

static bool perf_map_resolve(struct symbolizer *symbolizer, const struct frame_location *location,
			     struct symbol *ret_symbol)
{
	struct perf_map_symbolizer *perf_map = (struct perf_map_symbolizer *)symbolizer;
	uint64_t address = location->address - (location->is_return_address ? 1 : 0);
	const struct perf_map_entry *entry;
	char name[PERF_MAP_MAX_NAME_BYTES];
	struct process_map *map;

	if (location->space != FRAME_ANONYMOUS)
		return false;
	*ret_symbol = (struct symbol){
		.result = SYMBOL_NO_PERF_MAP,
		.flags = SYMBOL_IS_JIT,
		.module_address = location->address,
	};
	map = get_map(perf_map, location->object);
	if (!map || map->fd < 0)
		return true;
	entry = find_entry(map, address);
	if (!entry || perf_map_read_name(map->fd, entry, name, sizeof(name))) {
		ret_symbol->result = map->fd < 0 ? SYMBOL_NO_PERF_MAP : SYMBOL_NOT_IN_TABLE;
		return true;
	}
	perf_map->line = (struct symbol_line){.function = demangle_name(perf_map->strings, name)};
	ret_symbol->result = SYMBOL_FOUND;
	ret_symbol->lines = &perf_map->line;
	ret_symbol->line_count = 1;
	return true;
}

static void perf_map_free(struct symbolizer *symbolizer)
{
	struct perf_map_symbolizer *perf_map = (struct perf_map_symbolizer *)symbolizer;

	if (!perf_map)
		return;
	array_foreach(&perf_map->maps, each)
		close_map(each);
	array_free(&perf_map->maps);
	hash_map_done(&perf_map->by_process);
	free(perf_map);
}

static const struct symbolizer_ops perf_map_ops = {
	.name = "perf_map",
	.resolve = perf_map_resolve,
	.free = perf_map_free,
};

struct symbolizer *perf_map_symbolizer_new(const struct symbolizer_options *options,
					   struct process_table *processes,
					   struct string_pool *strings)
{
	struct perf_map_symbolizer *perf_map = calloc(1, sizeof(*perf_map));

	if (!perf_map)
		return NULL;
	perf_map->symbolizer.ops = &perf_map_ops;
	perf_map->options = options;
	perf_map->processes = processes;
	perf_map->strings = strings;
	return &perf_map->symbolizer;
}
