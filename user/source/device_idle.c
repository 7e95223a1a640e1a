// SPDX-License-Identifier: BSD-2-Clause
/* Reads how many requests of a block device are under way. */
#include "source/device_idle.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/file_io.h"

bool device_is_idle(const char *sysfs, uint32_t device)
{
	_cleanup_free_ char *text = NULL;
	uint64_t reads, writes;
	char path[256];
	size_t size;

	snprintf(path, sizeof(path), "%s/dev/block/%" PRIu32 ":%" PRIu32 "/inflight", sysfs, device >> 20,
		 device & 0xfffff);
	if (file_read_all(AT_FDCWD, path, 256, &text, &size))
		return false;
	return sscanf(text, "%" SCNu64 " %" SCNu64, &reads, &writes) == 2 && !reads && !writes;
}
