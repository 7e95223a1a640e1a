/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the HotSpot JVM of a process among its mapped files. One owner thread. */
#ifndef PKBPF_SYMBOL_JIT_HOTSPOT_JVM_H
#define PKBPF_SYMBOL_JIT_HOTSPOT_JVM_H

#include "hotspot/hotspot_process.h"
#include "process/process_table.h"

/* The JVM of a running process; *pid is borrowed for its memory. -ENOENT: it has none; -ENOTSUP: a
 * version that is not known, *ret_layout (if not NULL) says what it lacks; -EBADMSG: it is just
 * starting; or an error of opening or reading. */
int hotspot_jvm_find(struct mapped_file_table *files, const struct address_space *space,
		     uint32_t *pid, struct hotspot_layout *ret_layout,
		     struct hotspot_process **ret_process);

#endif
