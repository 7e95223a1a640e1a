/* SPDX-License-Identifier: BSD-2-Clause */
/* A temporary folder that tests fill with files, such as a procfs on paper. Failures abort the test
 * program. */
#ifndef PKBPF_TEST_TEMP_TREE_H
#define PKBPF_TEST_TEMP_TREE_H

#include <stddef.h>
#include <sys/stat.h>

struct temp_tree {
	char root[64]; /* absolute, without a slash at its end */
};

void temp_tree_init(struct temp_tree *tree);
/* Removes everything below root. */
void temp_tree_done(struct temp_tree *tree);
/* All paths below are relative to root; folders on the way are made. */
void temp_tree_folder(struct temp_tree *tree, const char *path);
void temp_tree_file(struct temp_tree *tree, const char *path, const char *text);
void temp_tree_file_bytes(struct temp_tree *tree, const char *path, const void *data, size_t size);
/* target is taken as it is. */
void temp_tree_link(struct temp_tree *tree, const char *path, const char *target);
/* root + "/" + path, in one of a few static buffers that are used in turn. */
const char *temp_tree_path(const struct temp_tree *tree, const char *path);
struct stat temp_tree_stat(const struct temp_tree *tree, const char *path);

#endif
