// SPDX-License-Identifier: BSD-2-Clause
#include "symbol/target_file.h"

#include "process/file/file_servers.h"

int target_file_open(struct file_servers *servers, const char *root, uint32_t pid, const char *path,
		     bool follow, struct stat *ret_stat)
{
	const struct named_file file = {.root = root, .pid = pid, .path = path, .follow = follow};

	return file_servers_open_named(servers, &file, ret_stat);
}
