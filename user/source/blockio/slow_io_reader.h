/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the ring of slow block requests and raises the kernel side's latency bound to that of
 * the slowest N so far. So the kernel sends few requests, however many are slow. */
#ifndef PKBPF_SOURCE_BLOCKIO_SLOW_IO_READER_H
#define PKBPF_SOURCE_BLOCKIO_SLOW_IO_READER_H

#include "capture/session/session.h"
#include "source/blockio/blockio_options.h"
#include "source/blockio/slow_io_choice.h"

struct slow_io_reader;

/* Sizes the ring and sets the initial bound, between session_new and session_load. Errors as in
 * session_new(). */
int slow_io_reader_new(struct session *session, const struct blockio_options *options,
		       struct slow_io_reader **ret_reader, struct error *error);
/* Maps the ring, after session_start and before the programs are attached. The ring wakes the
 * session when it is half full. */
int slow_io_reader_open(struct slow_io_reader *reader, struct error *error);
void slow_io_reader_free(struct slow_io_reader *reader);
/* Appends the new requests that are among the slowest so far. -ENOMEM. */
int slow_io_reader_drain(struct slow_io_reader *reader, struct event_buffer *buffer);
/* Restarts the choice of the slowest, after a drain. */
void slow_io_reader_restart(struct slow_io_reader *reader);
/* The choice, for requests in flight at the end, after the last drain. */
struct slow_io_choice *slow_io_reader_choice(struct slow_io_reader *reader);

#endif
