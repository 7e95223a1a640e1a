// SPDX-License-Identifier: BSD-2-Clause
#include "capture/kernel/own_memory.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file_io.h"

#define STATM_MAX_BYTES 4096

uint64_t own_memory_bytes(const char *proc_self)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX], *end;
	uint64_t resident, shared;
	size_t size;

	snprintf(path, sizeof(path), "%s/statm", proc_self);
	if (file_read_all(AT_FDCWD, path, STATM_MAX_BYTES, &text, &size))
		return 0;
	/* Pages: size, resident, and of these shared, that is of files. */
	strtoull(text, &end, 10);
	resident = strtoull(end, &end, 10);
	shared = strtoull(end, &end, 10);
	return resident > shared ? (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}
