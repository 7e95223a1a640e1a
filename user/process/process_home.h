/* SPDX-License-Identifier: BSD-2-Clause */
/* What has to be known of a process when it has ended: whose files it could read, and where. */
#ifndef PKBPF_PROCESS_PROCESS_HOME_H
#define PKBPF_PROCESS_PROCESS_HOME_H

#include "process/process_table.h"

/* root as in mapped_file_table_new(). Not known when the process has ended, or may not be asked. */
void process_home_read(const char *root, uint32_t pid, struct process_home *ret_home);

#endif
