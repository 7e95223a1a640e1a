/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What libdebuginfod does, where it cannot be loaded: asks the servers of DEBUGINFOD_URLS for a
 * debug file, and keeps it in the same cache (DEBUGINFOD_CACHE_PATH, else
 * $XDG_CACHE_HOME/debuginfod_client, else ~/.cache/debuginfod_client). In a process that may be
 * ended.
 */
#ifndef PKBPF_SYMBOL_ELF_DEBUGINFOD_CLIENT_H
#define PKBPF_SYMBOL_ELF_DEBUGINFOD_CLIENT_H

#include <stddef.h>

#include "elf/build_id.h"

/* Path of the file in the cache. -ENOENT: no server has it; -ENOSYS: no servers are named; -EIO:
 * none answered; other negative errno of the cache. */
int debuginfod_client_find(const struct build_id *id, char *path, size_t size);

#endif
