/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Follows CPUs that come and go. What is opened on one CPU dies with it when it goes offline, and
 * is not revived when it comes back: the list tells by a new arrival number that everything must be
 * opened anew, also when nobody looked while the CPU was away.
 */
#ifndef PKBPF_CAPTURE_CPU_WATCH_H
#define PKBPF_CAPTURE_CPU_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/cpu_list.h"

struct cpu_watch;

/* Reads the list. -ENOMEM, or why /sys cannot be read. */
int cpu_watch_new(struct cpu_watch **ret_watch);
/* Readable when there is something to poll; -1: this machine does not announce CPUs, the list is
 * read once a second, and one that leaves and returns in between is not noticed. */
int cpu_watch_fd(const struct cpu_watch *watch);
/* Brings the list up to date when its descriptor was readable (`announced`), and once a second.
 * true: it has changed. */
bool cpu_watch_poll(struct cpu_watch *watch, bool announced, uint64_t now_ns);
const struct cpu_list *cpu_watch_list(const struct cpu_watch *watch);
void cpu_watch_free(struct cpu_watch *watch);

/* Whether the kernel's announcement (uevent) says that a CPU is online now. Public for its
 * tests. */
bool cpu_watch_parse(const char *message, size_t size, uint32_t *ret_number);

#endif
