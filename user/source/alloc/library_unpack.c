// SPDX-License-Identifier: BSD-2-Clause
#include "source/alloc/library_unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file_io.h"
#include "base/hash_map.h"

/* Of names of folders: any number that stays. */
#define SEED	  0x706b627066ULL
#define NAME_SIZE 64

const char *const library_folders[] = {"/run/pkbpf",  "/var/lib/pkbpf",	 "/var/cache/pkbpf",
				       "/tmp/.pkbpf", "/dev/shm/.pkbpf", "/var/tmp/.pkbpf",
				       NULL};

/* Ours, closed to changes by others, and open to their look-ups. */
static bool is_usable(const struct stat *status)
{
	return status->st_uid == geteuid() && !(status->st_mode & (S_IWGRP | S_IWOTH)) &&
	       (status->st_mode & S_IXOTH);
}

/* A folder in another one (AT_FDCWD), made where it is missing. */
static int open_folder(int parent, const char *name)
{
	bool is_new = mkdirat(parent, name, 0755) == 0;
	_cleanup_close_ int fd =
		openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	/* The umask has taken the rights of others. */
	if (fd < 0 || (is_new && fchmod(fd, 0755) < 0) || fstat(fd, &status) < 0)
		return -errno;
	return is_usable(&status) ? take_fd(fd) : -EPERM;
}

/* File systems that forbid code show it here. */
static bool holds(int fd, const struct library_bytes *library)
{
	struct stat status;
	void *mapping;
	bool is_same;

	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || !is_usable(&status) ||
	    (size_t)status.st_size != library->size)
		return false;
	mapping = mmap(NULL, library->size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (mapping == MAP_FAILED)
		return false;
	is_same = memcmp(mapping, library->bytes, library->size) == 0;
	munmap(mapping, library->size);
	return is_same;
}

static bool is_there(int folder, const struct library_bytes *library)
{
	_cleanup_close_ int fd =
		openat(folder, library->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	return fd >= 0 && holds(fd, library);
}

/* Other programs may load it meanwhile: a rename shows all of it, or nothing. */
static int put(int folder, const struct library_bytes *library)
{
	char name[NAME_SIZE];
	_cleanup_close_ int fd = -1;
	int err;

	snprintf(name, sizeof(name), ".%.40s.%d", library->name, (int)getpid());
	unlinkat(folder, name, 0);
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0700);
	if (fd < 0)
		return -errno;
	err = file_write_all(fd, library->bytes, library->size);
	/* The umask has taken the rights of others. */
	if (!err && fchmod(fd, 0755) < 0)
		err = -errno;
	if (!err && renameat(folder, name, folder, library->name) < 0)
		err = -errno;
	if (err)
		unlinkat(folder, name, 0);
	return err;
}

static int unpack_into(const struct library_bytes *library, const char *base, const char *hash)
{
	_cleanup_close_ int parent = open_folder(AT_FDCWD, base), folder = -1;
	int err;

	if (parent < 0)
		return parent;
	folder = open_folder(parent, hash);
	if (folder < 0)
		return folder;
	if (is_there(folder, library))
		return 0;
	err = put(folder, library);
	if (!err && !is_there(folder, library)) {
		unlinkat(folder, library->name, 0);
		err = -ENOEXEC;
	}
	return err;
}

int library_unpack(const struct library_bytes *library, const char *const *folders, char *path,
		   size_t size)
{
	char hash[NAME_SIZE];
	int err = -ENOENT;

	snprintf(hash, sizeof(hash), "%016" PRIx64,
		 hash_bytes(library->bytes, library->size, SEED));
	for (size_t i = 0; folders[i]; i++) {
		err = unpack_into(library, folders[i], hash);
		if (!err && (size_t)snprintf(path, size, "%s/%s/%s", folders[i], hash,
					     library->name) >= size)
			err = -ENAMETOOLONG;
		if (!err)
			return 0;
	}
	return err;
}
