/* SPDX-License-Identifier: BSD-2-Clause */
/* Gives up what a capture never needs, for good. */
#ifndef PKBPF_CAPTURE_KERNEL_PRIVILEGES_H
#define PKBPF_CAPTURE_KERNEL_PRIVILEGES_H

#include <stdbool.h>

#include "base/error.h"
#include "base/log.h"

/* Drops all capabilities of the calling thread but those that a capture may use, also from the
 * bounding set, sets no_new_privs, and refuses system calls that a capture never makes
 * (syscall_filter.h; has_network: it may download). Threads and processes that it starts later have
 * no more; so call it while the program has one thread, after a command was forked. Where system
 * calls cannot be refused, the log gets to know it. -EPERM and others as they come. */
int privileges_reduce(bool has_network, const struct log *log, struct error *error);

#endif
