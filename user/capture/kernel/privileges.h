/* SPDX-License-Identifier: BSD-2-Clause */
/* Gives up what a capture never needs, for good. */
#ifndef PKBPF_CAPTURE_KERNEL_PRIVILEGES_H
#define PKBPF_CAPTURE_KERNEL_PRIVILEGES_H

#include "base/error.h"

/* Drops all capabilities of the calling thread but those that a capture may use, also from the
 * bounding set, and sets no_new_privs. Threads and processes that it starts later have no more; so
 * call it while the program has one thread, after a command was forked. -EPERM and others as they
 * come. */
int privileges_reduce(struct error *error);

#endif
