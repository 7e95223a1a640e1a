// SPDX-License-Identifier: BSD-2-Clause
#include "live/live_disks.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"

void live_disks_begin(struct live_disks *disks, const char *root, uint64_t now_ns)
{
	disks->root = root;
	disks->begin_ns = now_ns;
	disks->count = disk_stats_read(root, disks->begin);
}

static const struct disk_reading *begin_of(const struct live_disks *disks, const char *name)
{
	for (size_t i = 0; i < disks->count; i++)
		if (strcmp(disks->begin[i].name, name) == 0)
			return &disks->begin[i];
	return NULL;
}

/* Of a disk that came meanwhile there is no begin: all that it has counted was in the interval. One
 * that counts from the beginning again has been replaced. */
static struct disk difference(const struct disk_reading *now, const struct disk_reading *begin,
			      uint64_t passed_ns)
{
	static const struct disk_reading none;
	struct disk disk = {.of_ns = passed_ns};

	if (!begin || now->reads < begin->reads || now->writes < begin->writes ||
	    now->read_bytes < begin->read_bytes || now->written_bytes < begin->written_bytes)
		begin = &none;
	_Static_assert(sizeof(disk.name) == sizeof(now->name), "both are the kernel's");
	memcpy(disk.name, now->name, sizeof(disk.name));
	disk.reads = now->reads - begin->reads;
	disk.writes = now->writes - begin->writes;
	disk.read_bytes = now->read_bytes - begin->read_bytes;
	disk.written_bytes = now->written_bytes - begin->written_bytes;
	/* These begin again at 2^32 ms. */
	disk.queue_ns = (uint32_t)(now->queue_ms - begin->queue_ms) * NS_PER_MS;
	disk.busy_ns = (uint32_t)(now->busy_ms - begin->busy_ms) * NS_PER_MS;
	/* The kernel counts in ticks. */
	if (disk.busy_ns > passed_ns)
		disk.busy_ns = passed_ns;
	return disk;
}

struct disk_list live_disks_cut(struct live_disks *disks, uint64_t now_ns)
{
	_cleanup_free_ struct disk_reading *now = NULL;
	struct disk_list list = {.items.count = 0};
	uint64_t passed_ns = now_ns - disks->begin_ns;
	size_t count;

	if (!disks->root)
		return list;
	now = calloc(DISKS_MAX, sizeof(*now));
	count = now ? disk_stats_read(disks->root, now) : 0;
	/* What cannot be read now belongs to the next interval. */
	if (!count)
		return list;
	/* Without a begin, what was counted since the machine started is of no interval. */
	for (size_t i = 0; i < count && disks->count; i++) {
		struct disk disk = difference(&now[i], begin_of(disks, now[i].name), passed_ns);

		if (disk_list_add(&list, &disk))
			break;
	}
	memcpy(disks->begin, now, count * sizeof(*now));
	disks->count = count;
	disks->begin_ns = now_ns;
	return list;
}
