// SPDX-License-Identifier: BSD-2-Clause
/* Reads slow block requests from their ring and sets the kernel side's latency bound. */
#include "source/blockio/slow_io_reader.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pkbpf.skel.h"

/* 5000 requests. A disk with 100,000 requests/s completes that many in half a poll period, if
 * all are slow and the slowest are not yet known. A half-full ring wakes the reader. */
#define RING_BYTES (512U << 10)

struct slow_io_reader {
	struct session *session;
	struct ring_buffer *ring;
	struct slow_io_choice choice;
	struct event_buffer *buffer; /* while draining */
};

/* Programs running at this moment may still use the old bound; the reader checks what they send. */
static void set_bound(struct slow_io_reader *reader)
{
	__atomic_store_n(&session_skeleton(reader->session)->bss->blockio_control.slow_ns,
			 slow_io_choice_bound_ns(&reader->choice), __ATOMIC_RELAXED);
}

int slow_io_reader_new(struct session *session, const struct blockio_options *options,
		       struct slow_io_reader **ret_reader, struct error *error)
{
	struct pkbpf_bpf *skeleton = session_skeleton(session);
	struct slow_io_reader *reader = calloc(1, sizeof(*reader));
	int err;

	if (!reader)
		return error_set(error, ENOMEM,
				 "cannot prepare block I/O profiling: out of memory");
	reader->session = session;
	reader->choice.min_ns = options->slow_ns;
	reader->choice.slowest.limit = options->slow_count;
	reader->choice.trace_ns = options->trace_ns;
	set_bound(reader);
	skeleton->rodata->blockio_config.slow_wakeup_bytes = RING_BYTES / 2;
	err = bpf_map__set_max_entries(skeleton->maps.slow_io_ring, RING_BYTES);
	if (err) {
		slow_io_reader_free(reader);
		return error_set(error, -err, "cannot size the ring of slow block requests: %s",
				 strerror(-err));
	}
	*ret_reader = reader;
	return 0;
}

static int on_record(void *context, void *data, size_t size)
{
	struct slow_io_reader *reader = context;
	int err = slow_io_choice_add(&reader->choice, data, size, reader->buffer);

	/* The bound is set at once: much may be left to read. */
	set_bound(reader);
	return err;
}

int slow_io_reader_open(struct slow_io_reader *reader, struct error *error)
{
	int fd = bpf_map__fd(session_skeleton(reader->session)->maps.slow_io_ring), err;

	reader->ring = ring_buffer__new(fd, on_record, reader, NULL);
	if (!reader->ring)
		return error_set(error, errno,
				 "cannot map the ring buffer of slow block requests: %s",
				 strerror(errno));
	err = session_watch(reader->session, fd);
	return err ? error_set(error, -err,
			       "cannot watch the ring buffer of slow block requests: %s",
			       strerror(-err))
		   : 0;
}

void slow_io_reader_free(struct slow_io_reader *reader)
{
	if (!reader)
		return;
	ring_buffer__free(reader->ring);
	slow_io_choice_done(&reader->choice);
	free(reader);
}

int slow_io_reader_drain(struct slow_io_reader *reader, struct event_buffer *buffer)
{
	int consumed;

	reader->buffer = buffer;
	consumed = ring_buffer__consume(reader->ring);
	return consumed < 0 ? consumed : 0;
}

void slow_io_reader_restart(struct slow_io_reader *reader)
{
	largest_clear(&reader->choice.slowest);
	set_bound(reader);
}

struct slow_io_choice *slow_io_reader_choice(struct slow_io_reader *reader)
{
	return &reader->choice;
}
