// SPDX-License-Identifier: BSD-2-Clause
/* Makes and removes folders of test files. */
#include "temp_tree.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void require(bool holds, const char *what, const char *path)
{
	if (holds)
		return;
	fprintf(stderr, "temp tree: cannot %s %s: %s\n", what, path, strerror(errno));
	abort();
}

void temp_tree_init(struct temp_tree *tree)
{
	strcpy(tree->root, "/tmp/pkbpf-test-XXXXXX");
	require(mkdtemp(tree->root), "make", tree->root);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	return remove(path);
}

void temp_tree_done(struct temp_tree *tree)
{
	nftw(tree->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *temp_tree_path(const struct temp_tree *tree, const char *path)
{
	static char buffers[4][PATH_MAX];
	static unsigned int next;
	char *buffer = buffers[next++ % 4];

	snprintf(buffer, PATH_MAX, "%s/%s", tree->root, path);
	return buffer;
}

/* Makes the folders above the last component of the absolute path. */
static void make_parents(const char *path)
{
	char copy[PATH_MAX];

	snprintf(copy, sizeof(copy), "%s", path);
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		require(mkdir(copy, 0755) == 0 || errno == EEXIST, "make", copy);
		*slash = '/';
	}
}

void temp_tree_folder(struct temp_tree *tree, const char *path)
{
	const char *full = temp_tree_path(tree, path);

	make_parents(full);
	require(mkdir(full, 0755) == 0 || errno == EEXIST, "make", full);
}

void temp_tree_file_bytes(struct temp_tree *tree, const char *path, const void *data, size_t size)
{
	const char *full = temp_tree_path(tree, path);
	FILE *out;

	make_parents(full);
	out = fopen(full, "wb");
	require(out && fwrite(data, 1, size, out) == size && fclose(out) == 0, "write", full);
}

void temp_tree_file(struct temp_tree *tree, const char *path, const char *text)
{
	temp_tree_file_bytes(tree, path, text, strlen(text));
}

void temp_tree_link(struct temp_tree *tree, const char *path, const char *target)
{
	const char *full = temp_tree_path(tree, path);

	make_parents(full);
	require(symlink(target, full) == 0, "link", full);
}

struct stat temp_tree_stat(const struct temp_tree *tree, const char *path)
{
	const char *full = temp_tree_path(tree, path);
	struct stat status;

	require(lstat(full, &status) == 0, "stat", full);
	return status;
}
