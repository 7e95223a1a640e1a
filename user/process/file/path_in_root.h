/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths below a root directory that processes choose: nothing outside of it is reached. */
#ifndef PKBPF_PROCESS_FILE_PATH_IN_ROOT_H
#define PKBPF_PROCESS_FILE_PATH_IN_ROOT_H

#include <stdbool.h>

/*
 * An O_PATH descriptor of what lies at path below root_fd, where absolute links and ".." stay
 * below it, too. A link at the end is followed if follow, else it is -ELOOP as for open(2). Nothing
 * happens to the file itself, be it a FIFO or a device. Negative errno; the caller closes it.
 */
int path_in_root_open(int root_fd, const char *path, bool follow);
/* The same, step by step: for systems without openat2() (before Linux 5.6, or filtered). */
int path_in_root_walk(int root_fd, const char *path, bool follow);

/* The same of what every user may read, in directories that every user may search; else -EACCES. */
int path_in_root_open_to_all(int root_fd, const char *path, bool follow);

#endif
