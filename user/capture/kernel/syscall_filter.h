/* SPDX-License-Identifier: BSD-2-Clause */
/* System calls that a capture never makes. */
#ifndef PKBPF_CAPTURE_KERNEL_SYSCALL_FILTER_H
#define PKBPF_CAPTURE_KERNEL_SYSCALL_FILTER_H

#include <stdbool.h>

/* From now on they fail with EPERM in the calling thread and what it starts: running programs,
 * changing other processes, mounts, modules, clocks; and unless has_network, sockets of the
 * network. What takes over a parser of target data is then left with what the parser does. Needs
 * no_new_privs or CAP_SYS_ADMIN. Returns a negative errno; a kernel without seccomp, or a sandbox
 * that forbids it: -ENOTSUP. */
int syscall_filter_load(bool has_network);
/* The same for a process that answers over the network, and for commands that it starts: programs
 * may be run, but nothing of the kernel's that shows other processes may be used, and sockets are
 * of IP and of the file system. */
int syscall_filter_load_front(void);

#endif
