// SPDX-License-Identifier: BSD-2-Clause
#include "process/cgroup/cgroup_tree.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"

struct walk {
	const char *root;
	cgroup_visit_fn visit;
	void *context;
	ARRAY_OF(char *) paths; /* visited, below the root; those before `next` have been read */
	size_t next;
};

/* Takes ownership of the path. */
static int visit(struct walk *walk, char *path, uint64_t id)
{
	bool is_full = walk->paths.count >= CGROUP_WALK_MAX;
	char **item = path && !is_full ? array_add(&walk->paths) : NULL;

	if (!item) {
		free(path);
		return is_full ? -E2BIG : -ENOMEM;
	}
	*item = path;
	return walk->visit(walk->context, path, id);
}

static int visit_below(struct walk *walk, const char *parent)
{
	struct dirent *entry;
	char folder[PATH_MAX];
	DIR *directory;
	int ret = 0;

	if (snprintf(folder, sizeof(folder), "%s%s", walk->root, parent) >= (int)sizeof(folder))
		return 0;
	directory = opendir(folder);
	/* Removed or unreadable ones have no children; without a descriptor or memory nothing is
	 * known of them. */
	if (!directory && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
		return -errno;
	while (directory && !ret && (entry = readdir(directory))) {
		char *path;

		if (entry->d_type != DT_DIR || !strcmp(entry->d_name, ".") ||
		    !strcmp(entry->d_name, ".."))
			continue;
		if (asprintf(&path, "%s/%s", parent, entry->d_name) < 0)
			path = NULL;
		ret = visit(walk, path, entry->d_ino);
	}
	if (directory)
		closedir(directory);
	return ret;
}

int cgroup_tree_walk(const char *root, cgroup_visit_fn visit_fn, void *context)
{
	return cgroup_tree_walk_below(root, "", visit_fn, context);
}

int cgroup_tree_walk_below(const char *root, const char *below, cgroup_visit_fn visit_fn,
			   void *context)
{
	struct walk walk = {.root = root, .visit = visit_fn, .context = context};
	char folder[PATH_MAX];
	struct stat status;
	int ret;

	if (snprintf(folder, sizeof(folder), "%s%s", root, below) >= (int)sizeof(folder) ||
	    stat(folder, &status) < 0)
		return 0;
	ret = visit(&walk, strdup(below), status.st_ino);
	while (!ret && walk.next < walk.paths.count)
		ret = visit_below(&walk, walk.paths.items[walk.next++]);
	array_foreach(&walk.paths, path)
		free(*path);
	array_free(&walk.paths);
	return ret;
}
