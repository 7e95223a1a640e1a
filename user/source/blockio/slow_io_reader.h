/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the ring of slow block requests, and raises what the kernel side calls slow to the slowest
 * N so far, so that few are sent however many there are.
 */
#ifndef PKBPF_SOURCE_BLOCKIO_SLOW_IO_READER_H
#define PKBPF_SOURCE_BLOCKIO_SLOW_IO_READER_H

#include "capture/session/session.h"
#include "source/blockio/blockio_options.h"
#include "source/blockio/slow_io_choice.h"

struct slow_io_reader;

/* Between session_new and session_load: sizes the ring, says what is slow. Errors as in
 * session_new(). */
int slow_io_reader_new(struct session *session, const struct blockio_options *options,
		       struct slow_io_reader **ret_reader, struct error *error);
/* After session_start, before the programs are attached: maps the ring, which wakes the session
 * when it is half full. */
int slow_io_reader_open(struct slow_io_reader *reader, struct error *error);
void slow_io_reader_free(struct slow_io_reader *reader);
/* Appends what has come and is among the slowest so far. -ENOMEM. */
int slow_io_reader_drain(struct slow_io_reader *reader, struct event_buffer *buffer);
/* After a drain: the slowest are chosen anew. */
void slow_io_reader_restart(struct slow_io_reader *reader);
/* For requests in flight at the end, after the last drain. */
struct slow_io_choice *slow_io_reader_choice(struct slow_io_reader *reader);

#endif
