/* SPDX-License-Identifier: BSD-2-Clause */
/* Symbolizes generated code by the perf-PID.map file of its runtime. */
#ifndef PKBPF_SYMBOL_JIT_PERF_MAP_H
#define PKBPF_SYMBOL_JIT_PERF_MAP_H

#include "base/string_pool.h"
#include "symbol/symbolizer.h"

/* A JVM with a full code cache writes 10 MiB; node's map grows as long as it runs. */
#define PERF_MAP_MAX_BYTES   (256U << 20)
#define PERF_MAP_MAX_ENTRIES (4U << 20)
/* Names are cut here: HotSpot prints whole signatures. */
#define PERF_MAP_MAX_NAME_BYTES 1024

struct perf_map_entry {
	uint64_t start;
	uint32_t size;
	uint32_t line; /* offset in the file of the line that names it */
};

/* Sorted, without overlap: where lines overlap, the later one in the file wins. */
struct perf_map {
	struct perf_map_entry *entries;
	size_t count, capacity;
};

/* "START SIZE name": hex with or without 0x. name points into line. */
bool perf_map_parse_line(const char *line, size_t size, struct perf_map_entry *ret_entry,
			 const char **ret_name, size_t *ret_name_size);
/* Reads the file from its start; what does not parse is passed over. -EFBIG, -ENOMEM, -EIO. */
int perf_map_read(int fd, struct perf_map *ret_map);
const struct perf_map_entry *perf_map_find(const struct perf_map *map, uint64_t address);
/* -ENOENT: the file has changed and no longer names the entry. */
int perf_map_read_name(int fd, const struct perf_map_entry *entry, char *name, size_t size);
void perf_map_done(struct perf_map *map);

/*
 * Searches /proc/PID/root/tmp/perf-<pid in its own namespace>.map, owned by the process's user or
 * root; for a process that exited /tmp/perf-PID.map, owned by root, by us, or by
 * options->user_uid. Borrows all three.
 */
struct symbolizer *perf_map_symbolizer_new(const struct symbolizer_options *options,
					   struct process_table *processes,
					   struct string_pool *strings);

#endif
