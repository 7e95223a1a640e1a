/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of the system calls of the architecture that this is built for. */
#ifndef PKBPF_SOURCE_REGIONS_SYSCALL_NAMES_H
#define PKBPF_SOURCE_REGIONS_SYSCALL_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* "read"; NULL: there is none with this number. Numbers are below PKBPF_SYSCALLS. */
const char *syscall_name(uint32_t number);
/* How many names a pattern (*, ? and [...]) means. */
size_t syscall_match_count(const char *glob);

#endif
