/* SPDX-License-Identifier: BSD-2-Clause */
/* Block I/O limits of processes' cgroups. */
#ifndef PKBPF_PROCESS_RELATION_IO_LIMITS_H
#define PKBPF_PROCESS_RELATION_IO_LIMITS_H

#include "process/relation/relation_writer.h"

/* As relation_io_limits(). root: "", or a test folder that holds proc/ and sys/. */
void io_limits_write(const struct relation_writer *writer, const char *root);

#endif
