// SPDX-License-Identifier: BSD-2-Clause
/* Maps an array of the BPF programs. */
#include "source/mapped_table.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

uint32_t mapped_table_bound(uint32_t count, uint32_t least, size_t item_bytes, uint64_t limit_bytes,
			    uint32_t parts)
{
	while (limit_bytes && count > least && (uint64_t)count * item_bytes > limit_bytes / parts)
		count /= 2;
	return count < least ? least : count;
}

int mapped_table_configure(struct mapped_table *table, struct bpf_map *map, uint32_t count)
{
	*table = (struct mapped_table){.map = map, .count = count};
	return bpf_map__set_max_entries(map, count);
}

int mapped_table_open(struct mapped_table *table, struct error *error)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = (size_t)table->count * ((bpf_map__value_size(table->map) + 7) & ~7U);
	void *items;

	size = (size + page - 1) / page * page;
	items = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(table->map), 0);
	if (items == MAP_FAILED)
		return error_set(error, errno, "cannot map the BPF table %s: %s",
				 bpf_map__name(table->map), strerror(errno));
	table->items = items;
	table->size = size;
	return 0;
}

void mapped_table_close(struct mapped_table *table)
{
	if (table->items)
		munmap(table->items, table->size);
	table->items = NULL;
}
