// SPDX-License-Identifier: BSD-2-Clause
/* Reads mountinfo: our own after changes, that of a process on demand. */
#include "process/file/served_mounts.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_io.h"
#include "base/hash_map.h"
#include "process/file/mountinfo.h"

#define MAX_MOUNTINFO_BYTES (16U << 20)
/* How long lists are kept. Other mount namespaces report no changes, and a new mount there may
 * reuse a device number. */
#define KEEP_NS	       (10 * NS_PER_SECOND)
#define KEEP_TARGET_NS NS_PER_SECOND

enum { DEVICE_LOCAL, DEVICE_SERVED };

struct mount {
	uint64_t device;
	char *point; /* its type follows after the NUL */
};

struct mount_list {
	ARRAY_OF(struct mount) served;
};

struct served_mounts {
	char *root;
	int own_fd; /* signals changes of our mounts; -1: no procfs */
	struct mount_list own;
	struct mount_list target; /* of target_pid */
	uint32_t target_pid;	  /* 0: none */
	struct hash_map devices;  /* of all lists read */
	uint64_t shared_memory;	  /* device of shared memory */
	bool shows_root;	  /* our list shows the root's mount; not in a chroot */
	uint64_t read_ns, target_read_ns;
};

bool served_mounts_is_served_type(const char *type)
{
	static const char *const types[] = {
		"fuse",	  "fuseblk", "nfs",	 "nfs4",   "cifs",	"smb3",	    "smbfs",
		"9p",	  "ceph",    "afs",	 "lustre", "glusterfs", "gfs2",	    "ocfs2",
		"gpfs",	  "beegfs",  "orangefs", "pvfs2",  "coda",	"virtiofs", "ncpfs",
		"vboxsf", "prl_fs",  "vmhgfs",	 "autofs",
	};

	if (strncmp(type, "fuse.", strlen("fuse.")) == 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (strcmp(type, types[i]) == 0)
			return true;
	return false;
}

static void clear_list(struct mount_list *list)
{
	array_foreach(&list->served, mount)
		free(mount->point);
	list->served.count = 0;
}

static void add_served(struct mount_list *list, uint64_t device, const char *point,
		       const char *type)
{
	size_t point_size = strlen(point) + 1, type_size = strlen(type) + 1;
	struct mount *mount = array_add(&list->served);

	if (!mount)
		return;
	mount->device = device;
	mount->point = malloc(point_size + type_size);
	if (!mount->point) {
		list->served.count--;
		return;
	}
	memcpy(mount->point, point, point_size);
	memcpy(mount->point + point_size, type, type_size);
}

static void add_line(struct served_mounts *mounts, struct mount_list *list, char *line)
{
	struct mountinfo_entry entry;
	uint64_t device;
	bool served;

	if (mountinfo_parse_line(line, &entry))
		return;
	device = served_mounts_device(entry.device_major, entry.device_minor);
	served = served_mounts_is_served_type(entry.type);
	if (served)
		add_served(list, device, entry.point, entry.type);
	hash_map_put(&mounts->devices, device, served ? DEVICE_SERVED : DEVICE_LOCAL);
	if (list == &mounts->own && strcmp(entry.point, "/") == 0)
		mounts->shows_root = true;
}

/* pid 0: our own list */
static void read_list(struct served_mounts *mounts, uint32_t pid, struct mount_list *list)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX], *rest = NULL;
	size_t size;

	clear_list(list);
	if (pid)
		snprintf(path, sizeof(path), "%s/proc/%u/mountinfo", mounts->root, pid);
	else
		snprintf(path, sizeof(path), "%s/proc/self/mountinfo", mounts->root);
	if (file_read_all(AT_FDCWD, path, MAX_MOUNTINFO_BYTES, &text, &size))
		return;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		add_line(mounts, list, line);
}

/* memfds and shared memory are on a mount that no list shows. */
static uint64_t find_shared_memory(void)
{
	_cleanup_close_ int fd = memfd_create("pkbpf-device", MFD_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return 0;
	return served_mounts_device(major(status.st_dev), minor(status.st_dev));
}

struct served_mounts *served_mounts_new(const char *root)
{
	struct served_mounts *mounts = calloc(1, sizeof(*mounts));
	char path[PATH_MAX];

	if (!mounts)
		return NULL;
	mounts->root = strdup(root);
	if (!mounts->root) {
		free(mounts);
		return NULL;
	}
	snprintf(path, sizeof(path), "%s/proc/self/mountinfo", root);
	mounts->shared_memory = find_shared_memory();
	mounts->own_fd = open(path, O_RDONLY | O_CLOEXEC);
	return mounts;
}

void served_mounts_free(struct served_mounts *mounts)
{
	if (!mounts)
		return;
	if (mounts->own_fd >= 0)
		close(mounts->own_fd);
	clear_list(&mounts->own);
	clear_list(&mounts->target);
	array_free(&mounts->own.served);
	array_free(&mounts->target.served);
	hash_map_done(&mounts->devices);
	free(mounts->root);
	free(mounts);
}

/* In a chroot, mountinfo does not show the mount of the root. pkbpf itself was started from
 * there, so its server answers. Only there: even this lookup contacts the server. */
static void add_root(struct served_mounts *mounts)
{
	char path[PATH_MAX];
	struct stat status;
	uint64_t device;

	snprintf(path, sizeof(path), "%s/", mounts->root);
	if (stat(path, &status) < 0)
		return;
	device = served_mounts_device(major(status.st_dev), minor(status.st_dev));
	if (!hash_map_find(&mounts->devices, device))
		hash_map_put(&mounts->devices, device, DEVICE_LOCAL);
}

static void refresh(struct served_mounts *mounts)
{
	struct pollfd changed = {.fd = mounts->own_fd, .events = POLLPRI};
	uint64_t now_ns = clock_now_ns();

	if (mounts->read_ns && now_ns - mounts->read_ns < KEEP_NS &&
	    (poll(&changed, 1, 0) <= 0 || !(changed.revents & (POLLPRI | POLLERR))))
		return;
	mounts->read_ns = now_ns;
	mounts->target_pid = 0;
	hash_map_done(&mounts->devices);
	hash_map_put(&mounts->devices, mounts->shared_memory, DEVICE_LOCAL);
	mounts->shows_root = false;
	read_list(mounts, 0, &mounts->own);
	if (!mounts->shows_root)
		add_root(mounts);
}

static void read_target(struct served_mounts *mounts, uint32_t pid)
{
	uint64_t now_ns = clock_now_ns();

	if (mounts->target_pid == pid && now_ns - mounts->target_read_ns < KEEP_TARGET_NS)
		return;
	mounts->target_pid = pid;
	mounts->target_read_ns = now_ns;
	read_list(mounts, pid, &mounts->target);
}

bool served_mounts_has_device(struct served_mounts *mounts, uint32_t pid, uint32_t device_major,
			      uint32_t device_minor)
{
	uint64_t device = served_mounts_device(device_major, device_minor), *known;

	if (mounts->own_fd < 0)
		return false;
	refresh(mounts);
	known = hash_map_find(&mounts->devices, device);
	if (!known && pid) {
		read_target(mounts, pid);
		known = hash_map_find(&mounts->devices, device);
		/* Noted once, not for each of its files. */
		if (!known)
			hash_map_put(&mounts->devices, device, DEVICE_SERVED);
	}
	return !known || *known == DEVICE_SERVED;
}

static bool leads_through(const char *path, const char *point)
{
	size_t length = strlen(point);

	if (length == 1)
		return true;
	return strncmp(path, point, length) == 0 && (path[length] == '/' || !path[length]);
}

bool served_mounts_on_path(struct served_mounts *mounts, uint32_t pid, const char *path,
			   uint64_t *ret_device)
{
	struct mount_list *list = pid ? &mounts->target : &mounts->own;

	refresh(mounts);
	if (pid)
		read_target(mounts, pid);
	array_foreach(&list->served, mount) {
		if (!leads_through(path, mount->point))
			continue;
		*ret_device = mount->device;
		return true;
	}
	return false;
}

void served_mounts_describe(struct served_mounts *mounts, uint32_t pid, uint64_t device,
			    char *ret_text, size_t size)
{
	struct mount_list *lists[] = {&mounts->own, &mounts->target};

	refresh(mounts);
	if (pid)
		read_target(mounts, pid);
	for (size_t i = 0; i < (pid ? 2 : 1); i++) {
		array_foreach(&lists[i]->served, mount) {
			if (mount->device != device)
				continue;
			snprintf(ret_text, size, "%s (%s)", mount->point,
				 mount->point + strlen(mount->point) + 1);
			return;
		}
	}
	snprintf(ret_text, size, "device %u:%u", (unsigned int)(device >> 32),
		 (unsigned int)device);
}
