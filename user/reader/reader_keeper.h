/* SPDX-License-Identifier: BSD-2-Clause */
/* The process that starts readers and ends them; private to this folder. */
#ifndef PKBPF_READER_READER_KEEPER_H
#define PKBPF_READER_READER_KEEPER_H

#include "reader/reader_message.h"

struct reader_keeper {
	const reader_serve_fn *services;
	struct reader_board *board; /* shared by all */
	int control_fd;		    /* orders come from it; closed: the end */
	int lane_fds[READER_LANES]; /* the readers' sides */
	pid_t parent;
};

/* Runs in a process that was just forked; all descriptors but those above are closed. Writes 0 or a
 * negative errno, an int, to control_fd when readers are there, or cannot be had. */
void __attribute__((noreturn)) reader_keeper_run(const struct reader_keeper *keeper);

#endif
