// SPDX-License-Identifier: BSD-2-Clause
/* Opens mapped files safely: the processes that map them control paths and links. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "process/file/file_servers.h"
#include "process/file/mapped_file_table.h"
#include "process/file/path_in_root.h"
#include "process/procfs_maps.h"
#include "process/file/served_mounts.h"

/* Pause before a server that refused a file is asked for it again. */
#define REFUSED_NS (10 * NS_PER_SECOND)
/* A vdso has two pages today; a process can claim any size. */
#define MAX_VDSO_SIZE (1U << 20)

static bool same_inode(const struct stat *status, const struct mapped_file *file)
{
	return status->st_ino == file->inode;
}

static bool same_device(const struct stat *status, const struct mapped_file *file)
{
	return major(status->st_dev) == file->device_major &&
	       minor(status->st_dev) == file->device_minor;
}

/* Turns an O_PATH descriptor into a readable one. With O_PATH, a device or FIFO is recognized
 * without being opened, which could block or have side effects. */
static int reopen_regular(int path_fd, const struct stat *status)
{
	char link[32];
	int fd;

	if (!S_ISREG(status->st_mode))
		return -ENOENT;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

/* True when the link at map_path shows the path of file: then it is the mapping, even when
 * overlayfs or btrfs show another inode number, and device. On the same device another number is
 * another file: a newer version, which has taken the place of one that executes it. */
static bool link_shows(const char *map_path, const struct mapped_file *file)
{
	size_t length = strlen(file->path);
	char target[PATH_MAX];
	ssize_t got = readlink(map_path, target, sizeof(target));

	if (got < 0 || (size_t)got < length || memcmp(target, file->path, length) != 0)
		return false;
	return (size_t)got == length ||
	       ((size_t)got == length + strlen(MAPPED_FILE_DELETED) &&
		memcmp(target + length, MAPPED_FILE_DELETED, strlen(MAPPED_FILE_DELETED)) == 0);
}

static int open_mapping(const struct mapped_file_table *table, const struct mapped_file *file,
			const struct witness *witness)
{
	_cleanup_close_ int path_fd = -1;
	struct stat status;
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/proc/%u/map_files/%llx-%llx", table->root,
			     witness->pid, (unsigned long long)witness->start,
			     (unsigned long long)witness->end) >= sizeof(path))
		return -ENAMETOOLONG;
	path_fd = open(path, O_PATH | O_CLOEXEC);
	if (path_fd < 0)
		return -errno;
	if (fstat(path_fd, &status) < 0)
		return -errno;
	/* The pid may have been reused by a process with another mapping at this address. */
	if (!same_inode(&status, file) && (same_device(&status, file) || !link_shows(path, file)))
		return -ENOENT;
	return reopen_regular(path_fd, &status);
}

static int open_below(int root_fd, const char *path, const struct mapped_file *file,
		      bool *ret_unsure)
{
	_cleanup_close_ int path_fd = path_in_root_open(root_fd, path, true);
	struct stat status;
	int fd;

	if (path_fd < 0)
		return path_fd;
	if (fstat(path_fd, &status) < 0)
		return -errno;
	if (!same_inode(&status, file))
		return -ENOENT;
	fd = reopen_regular(path_fd, &status);
	if (fd >= 0)
		*ret_unsure = !same_device(&status, file);
	return fd;
}

/* Opens file->path below the directory root_path (a process's root, or ours). */
static int open_in_root(const char *root_path, const struct mapped_file *file, bool *ret_unsure)
{
	_cleanup_close_ int root_fd = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char path[PATH_MAX];
	int fd;

	if (root_fd < 0)
		return -errno;
	fd = open_below(root_fd, file->path, file, ret_unsure);
	if (fd >= 0 || !file->deleted)
		return fd;
	/* What the kernel adds to names of deleted files may be the end of the name itself. */
	if ((size_t)snprintf(path, sizeof(path), "%s" MAPPED_FILE_DELETED, file->path) >=
	    sizeof(path))
		return fd;
	return open_below(root_fd, path, file, ret_unsure);
}

/* The more useful of two errors: a missing permission is something the user can change. */
static int worse(int err, int other)
{
	if (other == -EACCES || other == -EPERM)
		return -EACCES;
	return err == -EACCES ? err : -ENOENT;
}

/* Keeps the descriptor unless an earlier candidate is as good; returns true when the search may
 * stop. */
static bool consider(int fd, bool unsure, int *best_fd, bool *best_unsure)
{
	if (*best_fd >= 0 && unsure) {
		close(fd);
		return false;
	}
	if (*best_fd >= 0)
		close(*best_fd);
	*best_fd = fd;
	*best_unsure = unsure;
	return !unsure;
}

static int open_file(struct mapped_file_table *table, struct file *file)
{
	char root[PATH_MAX];
	bool unsure = false, best_unsure = false;
	int best = -1, err = -ENOENT, fd;

	/* Latest witnesses first: the file may have been replaced since the first one. */
	for (uint32_t i = file->witness_count; i-- > 0;) {
		fd = open_mapping(table, &file->public, &file->witnesses[i]);
		if (fd >= 0) {
			file->public.identity_unsure = false;
			return fd;
		}
		err = worse(err, fd);
	}
	if (file->public.path[0] != '/')
		return err;
	for (uint32_t i = file->witness_count; i-- > 0;) {
		if ((size_t)snprintf(root, sizeof(root), "%s/proc/%u/root", table->root,
				     file->witnesses[i].pid) >= sizeof(root))
			continue;
		fd = open_in_root(root, &file->public, &unsure);
		if (fd < 0)
			err = worse(err, fd);
		else if (consider(fd, unsure, &best, &best_unsure))
			break;
	}
	if (best < 0 || best_unsure) {
		fd = open_in_root(table->root[0] ? table->root : "/", &file->public, &unsure);
		if (fd < 0)
			err = worse(err, fd);
		else
			consider(fd, unsure, &best, &best_unsure);
	}
	if (best < 0)
		return err;
	file->public.identity_unsure = best_unsure;
	return best;
}

/* True when opening the file, or only the path lookup, needs a server; also gives the device. */
static bool is_served(struct mapped_file_table *table, const struct mapped_file *file,
		      uint64_t *ret_device)
{
	struct served_mounts *mounts = file_servers_mounts(table->servers);

	*ret_device = served_mounts_device(file->device_major, file->device_minor);
	return served_mounts_has_device(mounts, file->witness_pid, file->device_major,
					file->device_minor) ||
	       (file->path[0] == '/' && served_mounts_on_path(mounts, 0, file->path, ret_device));
}

struct opening {
	struct mapped_file_table *table;
	struct file *file;
};

static int open_and_tell(void *context, void *result)
{
	struct opening *opening = context;
	int fd = open_file(opening->table, opening->file);

	*(bool *)result = opening->file->public.identity_unsure;
	return fd;
}

static int open_safely(struct mapped_file_table *table, struct file *file)
{
	struct opening opening = {table, file};
	bool unsure = false;
	struct served_file served = {
		.pid = file->public.witness_pid,
		.open = open_and_tell,
		.context = &opening,
		.result = &unsure,
		.result_size = sizeof(unsure),
	};
	int fd;

	if (!is_served(table, &file->public, &served.device))
		return open_file(table, file);
	/* A user's FUSE file system refuses each new process in the same way. */
	if (file->refused_ns && clock_now_ns() - file->refused_ns < REFUSED_NS)
		return -EACCES;
	fd = file_servers_open(table->servers, &served);
	if (fd == -EACCES)
		file->refused_ns = clock_now_ns();
	if (fd >= 0)
		file->public.identity_unsure = unsure;
	return fd;
}

int mapped_file_open(struct mapped_file_table *table, struct mapped_file *public)
{
	struct file *file = table->files.items[public->id];
	int fd;

	if (public->type == MAPPED_FILE_VDSO)
		return -ENODATA;
	if (file->overwritten_ns)
		return -ESTALE;
	if (file->fd >= 0) {
		mapped_file_touch(table, file);
		return mapped_file_is_current(file) ? file->fd : -ESTALE;
	}
	if (file->failed)
		return file->failed;
	mapped_file_make_room(table);
	fd = open_safely(table, file);
	if (fd < 0) {
		/* The pause after a timeout applies to all files of the server. */
		file->failed = fd == -ETIMEDOUT ? 0 : fd;
		return fd;
	}
	mapped_file_keep(table, file, fd);
	return mapped_file_is_current(file) ? fd : -ESTALE;
}

struct own_vdso {
	uint64_t start, end;
};

static void note_own_vdso(void *context, const struct procfs_mapping *mapping)
{
	struct own_vdso *own = context;

	if (strcmp(mapping->path, "[vdso]") == 0)
		*own = (struct own_vdso){mapping->start, mapping->end};
}

/* Our own image equals that of every process of the same word size, and needs no permission. */
static bool copy_own_vdso(const struct mapped_file *file, void *image, size_t size)
{
	_cleanup_close_ int proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct own_vdso own = {0};

	if (proc_fd < 0 || procfs_maps_read(proc_fd, (uint32_t)getpid(), note_own_vdso, &own) < 0)
		return false;
	if (own.end - own.start != size ||
	    (own.end <= UINT32_MAX) != (file->witness_end <= UINT32_MAX))
		return false;
	memcpy(image, (const void *)(uintptr_t)own.start, size);
	return true;
}

static int copy_vdso_of(const struct mapped_file_table *table, const struct witness *witness,
			void *image, size_t size)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX];
	ssize_t got;

	if ((size_t)snprintf(path, sizeof(path), "%s/proc/%u/mem", table->root, witness->pid) >=
	    sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	got = pread(fd, image, size, (off_t)witness->start);
	if (got < 0)
		return -errno;
	return (size_t)got == size ? 0 : -ENOENT;
}

/* True in places where run-times put temporary files for generated code. */
static bool is_in_passing(const struct mapped_file *file)
{
	static const char *const prefixes[] = {"/memfd:", "/dev/shm/", "/tmp/", "/var/tmp/",
					       "/run/"};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (strncmp(file->path, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return file->deleted;
}

bool mapped_file_is_generated(struct mapped_file_table *table, struct mapped_file *public)
{
	struct file *file = table->files.items[public->id];
	char magic[SELFMAG] = {0};
	int fd;

	if (public->type != MAPPED_FILE_REGULAR)
		return false;
	if (file->program == CONTENTS_UNKNOWN) {
		/* Other files are opened when stacks are unwound through them, not for this
		 * check. */
		if (!file->contents_known && !is_in_passing(public))
			return false;
		fd = mapped_file_open(table, public);
		if (fd < 0 || pread(fd, magic, sizeof(magic), 0) < 0)
			return false;
		file->program =
			memcmp(magic, ELFMAG, SELFMAG) == 0 ? CONTENTS_ELF : CONTENTS_GENERATED;
	}
	return file->program == CONTENTS_GENERATED;
}

int mapped_file_read_vdso(struct mapped_file_table *table, struct mapped_file *public,
			  void **ret_image, size_t *ret_size)
{
	struct file *file = table->files.items[public->id];
	uint64_t size = public->witness_end - public->witness_start;
	_cleanup_free_ void *image = NULL;
	int err = -ENOENT;

	if (public->type != MAPPED_FILE_VDSO || size == 0)
		return -EINVAL;
	if (size > MAX_VDSO_SIZE)
		return -EFBIG;
	image = malloc(size);
	if (!image)
		return -ENOMEM;
	if (table->root[0] == '\0' && copy_own_vdso(public, image, size))
		err = 0;
	for (uint32_t i = file->witness_count; err && i-- > 0;)
		err = copy_vdso_of(table, &file->witnesses[i], image, size);
	if (err)
		return err == -EACCES || err == -EPERM ? -EACCES : -ENOENT;
	*ret_image = take_pointer(image);
	*ret_size = size;
	return 0;
}
