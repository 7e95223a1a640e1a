/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes that the kernel killed for memory, from its log. */
#ifndef PKBPF_PROCESS_RELATION_OOM_LOG_H
#define PKBPF_PROCESS_RELATION_OOM_LOG_H

#include "process/relation/relation_writer.h"

/* Reads what the log (/dev/kmsg, which gives one line at a read and does not wait) has from where
 * it is positioned on, up to a limit of lines, and writes a relation for each kill. */
void oom_log_write(int fd, const struct relation_writer *writer);

#endif
