// SPDX-License-Identifier: BSD-2-Clause
#include "capture/kernel/namespace.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

bool namespace_is_initial(const char *root, const char *type, ino_t initial)
{
	char path[PATH_MAX], status[PATH_MAX];
	struct stat stat_of;

	if ((size_t)snprintf(path, sizeof(path), "%s/proc/self/ns/%s", root, type) >=
		    sizeof(path) ||
	    (size_t)snprintf(status, sizeof(status), "%s/proc/self/status", root) >= sizeof(status))
		return false;
	/* A kernel without namespaces of this type has no file. */
	return stat(path, &stat_of) ? errno == ENOENT && access(status, F_OK) == 0
				    : stat_of.st_ino == initial;
}
