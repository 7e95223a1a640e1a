/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens files named by a target safely: no links, FIFOs or devices. */
#ifndef PKBPF_SYMBOL_TARGET_FILE_H
#define PKBPF_SYMBOL_TARGET_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct file_servers;

/*
 * A read-only descriptor of the regular file at path (absolute) inside the root folder of process
 * pid, or in our own when pid is 0; the caller closes it. Links are resolved inside that root; the
 * last component may be one only when follow. root as in mapped_file_table_new(). servers: asked
 * for what somebody else serves, of which the descriptor is a copy; NULL: nobody is known to.
 * -ENOENT, -EACCES, -ELOOP, …; -EINVAL: not a regular file; -ETIMEDOUT: its server does not answer.
 */
int target_file_open(struct file_servers *servers, const char *root, uint32_t pid, const char *path,
		     bool follow, struct stat *ret_stat);

#endif
