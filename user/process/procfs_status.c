// SPDX-License-Identifier: BSD-2-Clause
#include "process/procfs_status.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/file_io.h"
#include "base/named_line.h"

#define STATUS_MAX_BYTES 65536

uint32_t procfs_process_of_thread(uint32_t tid)
{
	_cleanup_free_ char *status = NULL;
	char path[64];
	size_t size;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", tid);
	if (file_read_all(AT_FDCWD, path, STATUS_MAX_BYTES, &status, &size))
		return 0;
	return (uint32_t)named_number(status, "Tgid:");
}
