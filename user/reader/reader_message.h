/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages between the program, the keeper and the readers; private to this folder. */
#ifndef PKBPF_READER_READER_MESSAGE_H
#define PKBPF_READER_READER_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "reader/readers.h"

/* How a reader that is told to misbehaves, in tests. */
enum reader_fault { READER_SOUND, READER_CRASHES, READER_LOOPS, READER_TALKS_RUBBISH };

/* To a reader; bytes and one descriptor follow. */
struct reader_ask {
	uint64_t sequence;
	uint32_t service;
	uint32_t fault;
};

enum reader_tell_kind {
	READER_ANSWERS = 0x52414e53,
	READER_WANTS = 0x5257414e, /* a further file, described in the bytes that follow */
	READER_ENDED = 0x52454e44, /* of the keeper: the reader of this question is gone */
};

/* From a reader; an inline reply follows, or a descriptor comes with it. */
struct reader_tell {
	uint64_t sequence;
	uint32_t kind;
	int32_t result;
	uint64_t size;
};

/* To a reader that wants a file, which comes with it if result is 0. */
struct reader_give {
	uint64_t sequence;
	int32_t result;
	uint32_t padding;
};

/* To the keeper. */
struct reader_order {
	uint32_t lane; /* whose reader is to be ended */
	uint32_t padding;
	uint64_t sequence; /* if it still is at this question */
};

/* What all sides see. The program believes it where nothing depends on it. */
struct reader_board {
	struct {
		uint64_t begun; /* question that is being answered; 0: none. The reader's own */
		pid_t pid;	/* the keeper's */
	} lanes[READER_LANES];
	uint64_t ended_cpu_ns; /* of readers that have ended; the keeper's */
};

struct reader_packet {
	union {
		struct reader_ask ask;
		struct reader_tell tell;
		struct reader_give give;
		struct reader_order order;
	} head;
	unsigned char bytes[READER_INLINE_BYTES];
};

/* Sends head, bytes and (fd >= 0) a descriptor as one message. Negative errno. */
int reader_send(int socket_fd, const void *head, size_t head_size, const struct iovec *pieces,
		size_t count, int fd);
/* Receives one message with at most one descriptor, *ret_fd is -1 without. Returns its size; 0: the
 * other side is closed; -EBADMSG: a message that is cut, or has more descriptors. */
ssize_t reader_receive(int socket_fd, int flags, struct reader_packet *packet, int *ret_fd);

#endif
