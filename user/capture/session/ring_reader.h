/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a BPF ring buffer in bounded portions. libbpf reads until the ring is empty. A reader
 * slower than the producing programs never gets there, and the work that would make them send
 * less has to wait. */
#ifndef PKBPF_CAPTURE_SESSION_RING_READER_H
#define PKBPF_CAPTURE_SESSION_RING_READER_H

#include <stddef.h>

#include "base/error.h"

struct ring_reader;

/* Takes one record, borrowed for the call. A negative errno ends the drain after it. */
typedef int ring_reader_take(void *context, void *data, size_t size);

/* map_fd: a BPF_MAP_TYPE_RINGBUF map, borrowed until ring_reader_free(); `what` names it in
 * errors. -ENOMEM, or the error of mapping it. One thread at a time. */
int ring_reader_new(int map_fd, const char *what, ring_reader_take *take, void *context,
		    struct ring_reader **ret_reader, struct error *error);
/* Passes on all records in the ring when the call begins, and at most one ring's size in all;
 * newer records may have to wait for the next call. Negative errno of take. NULL: does nothing. */
int ring_reader_drain(struct ring_reader *reader);
void ring_reader_free(struct ring_reader *reader);

#endif
