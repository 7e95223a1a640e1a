/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a BPF ring buffer a share at a time. libbpf reads until it finds a ring empty, which a
 * reader slower than the programs that fill it never does; and what else there is to do, which
 * would make them send less, has to wait.
 */
#ifndef PKBPF_CAPTURE_SESSION_RING_READER_H
#define PKBPF_CAPTURE_SESSION_RING_READER_H

#include <stddef.h>

#include "base/error.h"

struct ring_reader;

/* One record, borrowed for the call; a negative errno ends the drain after it. */
typedef int ring_reader_take(void *context, void *data, size_t size);

/* map_fd: a BPF_MAP_TYPE_RINGBUF map, borrowed until ring_reader_free(); named in the error as
 * `what`. -ENOMEM, or why it cannot be mapped. One thread at a time. */
int ring_reader_new(int map_fd, const char *what, ring_reader_take *take, void *context,
		    struct ring_reader **ret_reader, struct error *error);
/* Hands on everything that is in the ring when the call begins, and at most the ring's size in all:
 * what comes meanwhile may have to wait for the next call. Negative errno of take. NULL:
 * nothing. */
int ring_reader_drain(struct ring_reader *reader);
void ring_reader_free(struct ring_reader *reader);

#endif
