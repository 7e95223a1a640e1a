/* SPDX-License-Identifier: BSD-2-Clause */
/* The program's side of its readers; private to this folder and its tests. */
#ifndef PKBPF_READER_READERS_PRIVATE_H
#define PKBPF_READER_READERS_PRIVATE_H

#include <pthread.h>

#include "reader/reader_message.h"

struct lane {
	pthread_mutex_t lock;
	int fd;
	uint64_t sequence; /* of the last question */
};

struct readers {
	pid_t keeper;
	int control_fd;
	struct lane lanes[READER_LANES];
	struct reader_board *board;
	const struct log *log;
	uint64_t most_cpu_ns, lost;
	bool is_gone;
};

/* Makes an answer of a message of `size` bytes, and of the descriptor that came with it (-1: none),
 * which is taken over. Errors as those of readers_ask(). */
int reader_answer_take(const struct reader_packet *packet, size_t size, int fd,
		       struct reader_answer *ret_answer);
/* Likewise of a file in memory that has to have this size. */
int reader_answer_map(int fd, uint64_t size, struct reader_answer *ret_answer);

#endif
