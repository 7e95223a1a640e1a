// SPDX-License-Identifier: BSD-2-Clause
#include "source/regions/region_files.h"

#include <sys/stat.h>

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_file(const struct probed_file *known, const struct stat *stat)
{
	return known->inode == stat->st_ino && known->size == (uint64_t)stat->st_size &&
	       same_time(known->modified, stat->st_mtim) &&
	       same_time(known->changed, stat->st_ctim);
}

bool region_files_note_probed(struct region_files *files, int fd)
{
	struct probed_file *item;
	struct stat stat;

	if (fstat(fd, &stat))
		return false;
	array_foreach(&files->probed, known)
		if (is_file(known, &stat))
			return false;
	item = array_add(&files->probed);
	if (item)
		*item = (struct probed_file){stat.st_ino, (uint64_t)stat.st_size, stat.st_mtim,
					     stat.st_ctim};
	return item;
}

bool region_files_is_new(struct region_files *files, const struct mapped_file *file)
{
	struct seen_file *seen;

	while (files->seen.count <= file->id)
		if (!array_add(&files->seen))
			return false;
	seen = &files->seen.items[file->id];
	if (seen->seen && seen->inode == file->inode && seen->device_major == file->device_major &&
	    seen->device_minor == file->device_minor)
		return false;
	*seen = (struct seen_file){file->inode, file->device_major, file->device_minor, true};
	return true;
}

void region_files_forget(struct region_files *files, const struct stat *stat)
{
	array_foreach(&files->probed, known) {
		if (!is_file(known, stat))
			continue;
		*known = files->probed.items[--files->probed.count];
		break;
	}
	/* Under any number of a device. */
	array_foreach(&files->seen, seen)
		if (seen->inode == stat->st_ino)
			seen->seen = false;
}

void region_files_done(struct region_files *files)
{
	array_free(&files->seen);
	array_free(&files->probed);
}
