// SPDX-License-Identifier: BSD-2-Clause
#include "capture/session/ring_reader.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ring_reader {
	struct ring_buffer *ring;
	ring_reader_take *take;
	void *context;
	size_t ring_bytes;
	size_t taken_bytes; /* since the drain began */
};

static int on_record(void *context, void *data, size_t size)
{
	struct ring_reader *reader = context;
	int err = reader->take(reader->context, data, size);

	if (err < 0)
		return err;
	/* Counts record header and padding as well. All records present when the drain began
	 * come before the limit. */
	reader->taken_bytes += BPF_RINGBUF_HDR_SZ + (size + 7) / 8 * 8;
	return reader->taken_bytes < reader->ring_bytes ? 0 : -EAGAIN;
}

int ring_reader_new(int map_fd, const char *what, ring_reader_take *take, void *context,
		    struct ring_reader **ret_reader, struct error *error)
{
	struct bpf_map_info info = {0};
	__u32 info_size = sizeof(info);
	struct ring_reader *reader = calloc(1, sizeof(*reader));
	int errnum = ENOMEM;

	if (reader) {
		*reader = (struct ring_reader){.take = take, .context = context};
		reader->ring = ring_buffer__new(map_fd, on_record, reader, NULL);
		errnum = reader->ring && bpf_obj_get_info_by_fd(map_fd, &info, &info_size) == 0
				 ? 0
				 : errno;
	}
	if (errnum) {
		ring_reader_free(reader);
		return error_set(error, errnum, "cannot map the ring buffer of %s: %s", what,
				 strerror(errnum));
	}
	reader->ring_bytes = info.max_entries;
	*ret_reader = reader;
	return 0;
}

int ring_reader_drain(struct ring_reader *reader)
{
	int consumed;

	if (!reader)
		return 0;
	reader->taken_bytes = 0;
	/* The ring consumes a record even when its callback ends the drain; the next drain
	 * starts behind it. */
	consumed = ring_buffer__consume(reader->ring);
	return consumed < 0 && consumed != -EAGAIN ? consumed : 0;
}

void ring_reader_free(struct ring_reader *reader)
{
	if (!reader)
		return;
	ring_buffer__free(reader->ring);
	free(reader);
}
