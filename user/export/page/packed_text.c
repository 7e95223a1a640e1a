// SPDX-License-Identifier: BSD-2-Clause
/* Packs with zlib behind a stream of the C library. */
#include "export/page/packed_text.h"

#include <errno.h>
#include <stdlib.h>
/* Its input is const then. */
#define ZLIB_CONST
#include <zlib.h>

#include "base/escape.h"

/* Of base64: three bytes each time, so that only the end is padded. */
#define PACKED_SIZE (3U << 14)

struct packed_text {
	FILE *out;
	z_stream stream;
	unsigned char packed[PACKED_SIZE];
};

/* Full buffers go out; the rest waits for more, or the end. */
static int pack(struct packed_text *text, const char *data, size_t size, int flush)
{
	z_stream *stream = &text->stream;
	int result;

	stream->next_in = (const unsigned char *)data;
	stream->avail_in = (uInt)size;
	do {
		result = deflate(stream, flush);
		if (result == Z_STREAM_ERROR)
			return -EIO;
		if (stream->avail_out && flush != Z_FINISH)
			return 0;
		if (stream->avail_out && result != Z_STREAM_END)
			return -EIO;
		escape_base64(text->out, text->packed, sizeof(text->packed) - stream->avail_out);
		stream->next_out = text->packed;
		stream->avail_out = sizeof(text->packed);
	} while (result != Z_STREAM_END);
	return 0;
}

static ssize_t packed_write(void *cookie, const char *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		size_t part = size - done < 1U << 30 ? size - done : 1U << 30;

		/* 0 is how such a stream says that it has failed. */
		if (pack(cookie, data + done, part, Z_NO_FLUSH))
			return 0;
		done += part;
	}
	return (ssize_t)size;
}

static int packed_close(void *cookie)
{
	struct packed_text *text = cookie;
	int err = pack(text, NULL, 0, Z_FINISH);

	deflateEnd(&text->stream);
	free(text);
	if (err)
		errno = -err;
	return err ? -1 : 0;
}

FILE *packed_text_open(FILE *out, int level)
{
	const cookie_io_functions_t functions = {.write = packed_write, .close = packed_close};
	struct packed_text *text = calloc(1, sizeof(*text));
	FILE *stream = NULL;

	if (!text)
		return NULL;
	text->out = out;
	text->stream.next_out = text->packed;
	text->stream.avail_out = sizeof(text->packed);
	/* Without a header of zlib's: browsers call it deflate-raw. */
	if (deflateInit2(&text->stream, level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) ==
	    Z_OK) {
		stream = fopencookie(text, "w", functions);
		if (stream)
			return stream;
		deflateEnd(&text->stream);
	}
	free(text);
	return NULL;
}
