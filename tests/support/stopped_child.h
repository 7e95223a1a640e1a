/* SPDX-License-Identifier: BSD-2-Clause */
/* A child process that stops somewhere deep in its calls, with its registers and memory readable:
 * no root needed. */
#ifndef PKBPF_TEST_STOPPED_CHILD_H
#define PKBPF_TEST_STOPPED_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <pkbpf/event.h>

struct stopped_child {
	pid_t pid;
	int memory_fd;
	uint64_t regs[PKBPF_REGS]; /* as in struct pkbpf_event_raw_stack */
};

/* Forks; the child runs `run`, which calls stopped_child_stop() where it wants to be looked at.
 * False: it did not stop (no ptrace here). */
bool stopped_child_start(struct stopped_child *child, void (*run)(int argument), int argument);
void stopped_child_stop(void);
/* All bytes (0) or a negative errno. */
int stopped_child_read(const struct stopped_child *child, uint64_t address, void *buffer,
		       size_t size);
/* Its frames as libdwfl sees them, leaf first and with PKBPF_INTERRUPTED; how many. */
size_t stopped_child_dwfl_frames(const struct stopped_child *child, uint64_t *ips, size_t limit);
void stopped_child_end(struct stopped_child *child);

#endif
