/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which entries of the table of sites are those of system calls. */
#ifndef PKBPF_SYSCALL_SITES_H
#define PKBPF_SYSCALL_SITES_H

/* Numbers of system calls are below this. */
#define PKBPF_SYSCALLS 512

#endif
