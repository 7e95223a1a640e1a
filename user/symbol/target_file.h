/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens files named by a target safely: with its rights, and no FIFOs or devices. */
#ifndef PKBPF_SYMBOL_TARGET_FILE_H
#define PKBPF_SYMBOL_TARGET_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct file_servers;

/* As file_servers_open_named(), below the root directory of process pid with its rights, or below
 * ours with our own when pid is 0. */
int target_file_open(struct file_servers *servers, const char *root, uint32_t pid, const char *path,
		     bool follow, struct stat *ret_stat);

#endif
