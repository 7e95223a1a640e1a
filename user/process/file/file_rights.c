// SPDX-License-Identifier: BSD-2-Clause
#include "process/file/file_rights.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/file_io.h"
#include "base/named_line.h"

#define MAX_STATUS_BYTES (1U << 20) /* 65,536 groups */

int file_rights_parse(const char *status, struct file_rights *ret_rights)
{
	const char *uids = named_line(status, "Uid:"), *gids = named_line(status, "Gid:"),
		   *groups = named_line(status, "Groups:");
	struct file_rights rights = {0};

	/* real, effective, saved, for files */
	if (!uids || !gids || sscanf(uids, "%*u %*u %*u %u", &rights.uid) != 1 ||
	    sscanf(gids, "%*u %*u %*u %u", &rights.gid) != 1)
		return -EBADMSG;
	while (groups && rights.group_count < FILE_RIGHTS_MAX_GROUPS) {
		char *end;

		while (*groups == ' ' || *groups == '\t')
			groups++;
		if (*groups < '0' || *groups > '9')
			break;
		rights.groups[rights.group_count++] = (uint32_t)strtoul(groups, &end, 10);
		groups = end;
	}
	*ret_rights = rights;
	return 0;
}

int file_rights_read(int process_fd, struct file_rights *ret_rights)
{
	_cleanup_free_ char *status = NULL;
	size_t size;
	int err = file_read_all(process_fd, "status", MAX_STATUS_BYTES, &status, &size);

	return err ? err : file_rights_parse(status, ret_rights);
}
