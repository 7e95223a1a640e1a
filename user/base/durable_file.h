/* SPDX-License-Identifier: BSD-2-Clause */
/* A file of a directory that is replaced as a unit and outlives a loss of power: its name stands
 * for the old content or for the new one, never for an empty file. */
#ifndef PKBPF_BASE_DURABLE_FILE_H
#define PKBPF_BASE_DURABLE_FILE_H

#include <stdio.h>
#include <sys/types.h>

struct durable_file {
	FILE *stream;
	int directory_fd;      /* borrowed */
	const char *temporary; /* borrowed; of one writer at a time */
};

/* Opens a file of this temporary name in a directory. Negative errno. */
int durable_file_open(struct durable_file *file, int directory_fd, const char *temporary,
		      mode_t mode);
/* Writes all of it to the disk and gives it its name; once. err < 0, of what was written: deletes
 * it instead. Returns err, or the negative errno of what failed: the name then stands for what it
 * stood for before. */
int durable_file_close(struct durable_file *file, const char *name, int err);
/* Has the content of an open file on the disk. Negative errno; file systems that cannot sync are
 * no error. */
int durable_sync(int fd);

#endif
