// SPDX-License-Identifier: BSD-2-Clause
/* Finds the descendants of the target processes. */
#include "capture/session/target_tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file_io.h"

#define STAT_MAX_BYTES 4096

struct kinship {
	uint32_t pid, parent_pid;
	bool chosen;
};

struct family {
	int proc_fd;
	ARRAY_OF(struct kinship) members;
};

static uint32_t read_parent(int proc_fd, uint32_t pid)
{
	_cleanup_free_ char *text = NULL;
	const char *after_comm;
	uint32_t parent = 0;
	char path[32];
	size_t size;

	snprintf(path, sizeof(path), "%u/stat", pid);
	if (file_read_all(proc_fd, path, STAT_MAX_BYTES, &text, &size))
		return 0;
	/* The comm may itself contain parentheses and blanks: the last parenthesis ends it. */
	after_comm = strrchr(text, ')');
	if (!after_comm || sscanf(after_comm, ") %*c %u", &parent) != 1)
		return 0;
	return parent;
}

static int read_family(struct family *family)
{
	int fd = openat(family->proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *proc = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	int err = 0;

	if (!proc) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (entry = readdir(proc))) {
		uint32_t pid = isdigit((unsigned char)entry->d_name[0])
				       ? (uint32_t)strtoul(entry->d_name, NULL, 10)
				       : 0;
		uint32_t parent = pid ? read_parent(family->proc_fd, pid) : 0;
		struct kinship *member;

		if (!parent)
			continue;
		member = array_add(&family->members);
		if (member)
			*member = (struct kinship){.pid = pid, .parent_pid = parent};
		else
			err = -ENOMEM;
	}
	closedir(proc);
	return err;
}

static bool same_program(int proc_fd, uint32_t a, uint32_t b)
{
	struct stat stat_a, stat_b;
	char path_a[32], path_b[32];

	snprintf(path_a, sizeof(path_a), "%u/exe", a);
	snprintf(path_b, sizeof(path_b), "%u/exe", b);
	return fstatat(proc_fd, path_a, &stat_a, 0) == 0 &&
	       fstatat(proc_fd, path_b, &stat_b, 0) == 0 && stat_a.st_dev == stat_b.st_dev &&
	       stat_a.st_ino == stat_b.st_ino;
}

static int list_add(struct u32_list *list, uint32_t pid)
{
	if (!array_reserve_items((void **)&list->items, &list->capacity, list->count + 1,
				 sizeof(*list->items)))
		return -ENOMEM;
	list->items[list->count++] = pid;
	return 0;
}

/* Appends the children of list->items[at] that are not yet in the list; they are visited in
 * turn. */
static int add_children(struct family *family, enum pkbpf_follow follow, struct u32_list *list,
			size_t at)
{
	uint32_t parent = list->items[at];

	array_foreach(&family->members, member) {
		int err;

		if (member->parent_pid != parent || member->chosen)
			continue;
		if (follow == PKBPF_FOLLOW_WORKERS &&
		    !same_program(family->proc_fd, parent, member->pid))
			continue;
		member->chosen = true;
		err = list_add(list, member->pid);
		if (err)
			return err;
	}
	return 0;
}

int target_tree_expand(const char *proc_path, enum pkbpf_follow follow, struct u32_list *list)
{
	struct family family = {.proc_fd = open(proc_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	int err;

	if (follow == PKBPF_FOLLOW_NONE || !list->count)
		err = 0;
	else if (family.proc_fd < 0)
		err = -errno;
	else
		err = read_family(&family);
	array_foreach(&family.members, member) {
		for (size_t i = 0; i < list->count; i++)
			member->chosen = member->chosen || member->pid == list->items[i];
	}
	for (size_t i = 0; !err && follow != PKBPF_FOLLOW_NONE && i < list->count; i++)
		err = add_children(&family, follow, list, i);
	array_free(&family.members);
	if (family.proc_fd >= 0)
		close(family.proc_fd);
	return err;
}
