/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that opens files which targets name: with the rights of the target, below its root, and
 * so that it can be left behind. A link may lead to a file system whose server is silent, and who
 * waits for it may not even be possible to kill.
 *
 * It is forked when it is needed, and ends by itself when it is not needed for a while, unless it
 * is kept. It reads no byte of such files.
 */
#ifndef PKBPF_PROCESS_FILE_FILE_OPENER_H
#define PKBPF_PROCESS_FILE_FILE_OPENER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "process/file/file_rights.h"

struct file_opener { /* {.pid = 0, .fd = -1}: none runs */
	pid_t pid;
	int fd;
};

/* Starts one that is kept until file_opener_stop(), or until it is left behind. For programs that
 * go on for long, before they have much memory: to fork them later costs more than to open. A
 * negative errno. */
int file_opener_keep(struct file_opener *opener);

struct file_question {
	struct file_rights rights;
	bool has_rights;  /* else our own */
	bool follow;	  /* a link at the end */
	bool even_served; /* also of a file system that somebody serves: reading may then block */
	char path[PATH_MAX];
};

/*
 * A read-only descriptor of the regular file at a path below root_fd, which the caller closes; with
 * its state. -EINVAL: not a regular file; -EREMOTE: its file system is served by somebody
 * (*ret_stat is there); -ETIMEDOUT: no answer within limit_ns, *ret_left is the process that was
 * left behind; -EPERM: we may not take the rights of others, and the file is not
 * open to all; other errors of open().
 */
int file_opener_ask(struct file_opener *opener, int root_fd, const struct file_question *question,
		    uint64_t limit_ns, struct stat *ret_stat, pid_t *ret_left);
/* The same in this process, which keeps the rights taken: only for one that ends then. */
int file_opener_open_here(int root_fd, const struct file_question *question, struct stat *ret_stat);
void file_opener_stop(struct file_opener *opener);

#endif
