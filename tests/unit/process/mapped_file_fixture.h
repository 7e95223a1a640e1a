/* SPDX-License-Identifier: BSD-2-Clause */
/* A table of mapped files below a temporary folder. */
#ifndef PKBPF_TEST_MAPPED_FILE_FIXTURE_H
#define PKBPF_TEST_MAPPED_FILE_FIXTURE_H

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "process/file/mapped_file.h"
#include "temp_tree.h"

struct fixture {
	struct temp_tree tree;
	struct mapped_file_table *table;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	temp_tree_init(&fixture->tree);
	fixture->table = mapped_file_table_new(fixture->tree.root);
	*state = fixture;
	return fixture->table ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	mapped_file_table_free(fixture->table);
	temp_tree_done(&fixture->tree);
	free(fixture);
	return 0;
}

/* The mapping [0x1000, 0x2000) of pid 7, made at time_ns (0: not known), with the numbers of the
 * file at `real` and the name `path`. */
static inline struct mapped_file *map_file_at(struct fixture *fixture, const char *real,
					      const char *path, uint64_t time_ns,
					      uint32_t generation)
{
	struct stat status = temp_tree_stat(&fixture->tree, real);
	struct mapping_view view = {
		.time_ns = time_ns,
		.inode_generation = generation,
		.pid = 7,
		.start = 0x1000,
		.end = 0x2000,
		.inode = status.st_ino,
		.device_major = major(status.st_dev),
		.device_minor = minor(status.st_dev),
		.path = path,
	};
	struct mapped_file *file = NULL;

	assert_int_equal(mapped_file_table_add(fixture->table, &view, &file), 0);
	assert_non_null(file);
	return file;
}

static inline struct mapped_file *map_file(struct fixture *fixture, const char *real,
					   const char *path)
{
	return map_file_at(fixture, real, path, 0, 0);
}

#endif
