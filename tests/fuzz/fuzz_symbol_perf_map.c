// SPDX-License-Identifier: BSD-2-Clause
/* Feeds bytes to the perf map reader and checks that what comes out is sorted and names itself. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/jit/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct perf_map map;

	if (fd < 0)
		fd = memfd_create("perf-map", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	if (perf_map_read(fd, &map))
		return 0;
	for (size_t i = 0; i < map.count; i++) {
		const struct perf_map_entry *entry = &map.entries[i];
		char name[64];

		if (entry->size == 0 || entry->start + entry->size < entry->start)
			abort();
		if (i > 0 && entry[-1].start + entry[-1].size > entry->start)
			abort();
		if (perf_map_find(&map, entry->start) != entry)
			abort();
		if (i < 64)
			perf_map_read_name(fd, entry, name, sizeof(name));
	}
	perf_map_find(&map, 0);
	perf_map_find(&map, UINT64_MAX);
	perf_map_done(&map);
	return 0;
}
