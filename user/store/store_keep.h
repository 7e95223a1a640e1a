/* SPDX-License-Identifier: BSD-2-Clause */
/* Recordings that are kept for longer than their windows: evidence of alerts. */
#ifndef PKBPF_STORE_STORE_KEEP_H
#define PKBPF_STORE_STORE_KEEP_H

#include "store/store.h"

#define STORE_KEEP_NAME_SIZE 96
/* Of the bytes of the store; the oldest go first. */
#define STORE_KEEP_PERCENT 5

/* Writes the slices of an interval to a recording in the folder "kept", "<what>-<time>.pkbpf".
 * -ENODATA: there are none; -ENOMEM, errors of the file system. One thread at a time, which need
 * not be the writer's. */
int store_keep(struct store *store, const char *what, int64_t from_unix_ns, int64_t to_unix_ns,
	       char ret_name[STORE_KEEP_NAME_SIZE]);

#endif
