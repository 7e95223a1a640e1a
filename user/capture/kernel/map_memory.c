// SPDX-License-Identifier: BSD-2-Clause
#include "capture/kernel/map_memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file_io.h"
#include "base/named_line.h"

#define FDINFO_MAX_BYTES 65536
#define MAP_LINK	 "anon_inode:bpf-map"

/* Most descriptors are of mapped files: their links tell them apart without opening a file each. */
static bool may_be_map(int links, const char *descriptor)
{
	char target[64];
	ssize_t length = links < 0 ? -1 : readlinkat(links, descriptor, target, sizeof(target));

	return length < 0 || (length == (ssize_t)strlen(MAP_LINK) &&
			      memcmp(target, MAP_LINK, strlen(MAP_LINK)) == 0);
}

/* The fdinfo of a BPF program has memlock, too, but no map_type. */
static uint64_t bytes_of(const char *fdinfo)
{
	return named_line(fdinfo, "map_type:") ? named_number(fdinfo, "memlock:") : 0;
}

uint64_t map_memory_bytes(const char *proc_self)
{
	char path[PATH_MAX];
	uint64_t bytes = 0;
	struct dirent *entry;
	_cleanup_close_ int links = -1;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/fd", proc_self);
	links = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(path, sizeof(path), "%s/fdinfo", proc_self);
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		_cleanup_free_ char *text = NULL;
		size_t size;

		if (entry->d_name[0] != '.' && may_be_map(links, entry->d_name) &&
		    file_read_all(dirfd(folder), entry->d_name, FDINFO_MAX_BYTES, &text, &size) ==
			    0)
			bytes += bytes_of(text);
	}
	if (folder)
		closedir(folder);
	return bytes;
}
