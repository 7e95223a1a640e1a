// SPDX-License-Identifier: BSD-2-Clause
/* Reads /proc/diskstats. */
#include "process/relation/device_bytes.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"

/* Whatever the device's own. */
#define SECTOR_BYTES 512

size_t device_bytes_read(const char *path, struct device_bytes devices[DEVICES_MAX])
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	uint64_t read, written;
	char line[512];
	size_t count = 0;

	while (file && count < DEVICES_MAX && fgets(line, sizeof(line), file)) {
		struct device_bytes *device = &devices[count];

		/* Requests, merged ones, sectors and time of reads, then of writes. */
		if (sscanf(line,
			   "%" SCNu32 " %" SCNu32 " %*s %*u %*u %" SCNu64 " %*u %*u %*u %" SCNu64,
			   &device->major, &device->minor, &read, &written) != 4)
			continue;
		device->bytes = (read + written) * SECTOR_BYTES;
		count++;
	}
	return count;
}

void device_bytes_write(const struct device_bytes *before, size_t count,
			const struct relation_writer *writer)
{
	struct device_bytes now[DEVICES_MAX];
	size_t now_count = device_bytes_read("/proc/diskstats", now);
	char text[32];

	for (size_t i = 0; i < now_count; i++)
		for (size_t j = 0; j < count; j++) {
			if (now[i].major != before[j].major || now[i].minor != before[j].minor ||
			    now[i].bytes <= before[j].bytes)
				continue;
			snprintf(text, sizeof(text), "%" PRIu32 ":%" PRIu32, now[i].major,
				 now[i].minor);
			relation_write(writer, &(struct relation_view){
						       .relation = PKBPF_RELATION_DEVICE,
						       .value = now[i].bytes - before[j].bytes,
						       .text = text});
		}
}
