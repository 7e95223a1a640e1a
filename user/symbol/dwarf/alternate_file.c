// SPDX-License-Identifier: BSD-2-Clause
/* Follows .gnu_debugaltlink by build id. */
#include "symbol/dwarf/alternate_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

/* A path and a build id. */
#define MAX_LINK_BYTES (PATH_MAX + BUILD_ID_MAX_BYTES + 1)

int alternate_link_read(const struct elf_file *file, struct alternate_link *ret_link)
{
	const struct elf_section *section = elf_file_find_section(file, ".gnu_debugaltlink");
	_cleanup_free_ void *data = NULL;
	size_t size, length;

	if (!section)
		return -ENOENT;
	if (elf_file_read_section(file, section, MAX_LINK_BYTES, &data, &size))
		return -EBADMSG;
	length = strnlen(data, size);
	if (length >= PATH_MAX || length == size || size - length - 1 == 0 ||
	    size - length - 1 > BUILD_ID_MAX_BYTES)
		return -EBADMSG;
	memcpy(ret_link->path, data, length + 1);
	ret_link->id.size = size - length - 1;
	memcpy(ret_link->id.bytes, (const char *)data + length + 1, ret_link->id.size);
	return 0;
}

/* Relative ones begin where the file is. */
static int open_path(const struct debug_file_search *search, const struct alternate_link *link)
{
	const char *slash = strrchr(search->path, '/');
	int folder_size = link->path[0] != '/' && slash ? (int)(slash - search->path + 1) : 0;
	char path[PATH_MAX];
	int fd;

	if (snprintf(path, sizeof(path), "%.*s%s", folder_size, search->path, link->path) >=
	    (int)sizeof(path))
		return -ENOENT;
	fd = debug_file_open_target(search, path);
	if (fd < 0 || debug_file_has_build_id(fd, &link->id))
		return fd;
	close(fd);
	return -ENOENT;
}

int alternate_file_open(const struct debug_file_search *search, const struct alternate_link *link)
{
	const char *below = strstr(link->path, "/.dwz/");
	char path[PATH_MAX];
	int fd = debug_file_open_build_id(search, &link->id);

	if (fd < 0 && below &&
	    snprintf(path, sizeof(path), "%s%s", search->debug_dir, below) < (int)sizeof(path))
		fd = debug_file_open_path(search, path, &link->id);
	return fd < 0 ? open_path(search, link) : fd;
}
