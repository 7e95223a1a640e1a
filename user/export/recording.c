// SPDX-License-Identifier: BSD-2-Clause
/* A recording as an output format: a block for each slice. */
#include <stdlib.h>

#include "base/hash_map.h"
#include "base/unused.h"
#include "export/formats.h"
#include "recording/slice_codec.h"

struct stream {
	FILE *out;
	struct recording_writer writer;
	uint64_t secret;
};

static void *recording_begin(FILE *out, _unused_ const struct format_options *options)
{
	struct stream *stream = calloc(1, sizeof(*stream));

	if (stream) {
		stream->out = out;
		stream->secret = hash_random_seed();
	}
	return stream;
}

static int recording_add(void *state, const struct profile *slice)
{
	struct stream *stream = state;
	struct recording_sections sections = {0};
	struct recording_span span = slice_span(slice);
	int err = slice_encode(slice, stream->secret, &sections);

	if (!err && !stream->writer.out)
		err = recording_writer_begin(&stream->writer, stream->out, span.begin_unix_ns);
	err = err ? err : recording_writer_add(&stream->writer, &span, &sections);
	recording_sections_done(&sections);
	return err;
}

static uint64_t recording_whole_bytes(const void *state)
{
	const struct stream *stream = state;

	return stream->writer.entries.count ? stream->writer.offset : 0;
}

static int recording_end(void *state)
{
	struct stream *stream = state;

	return recording_writer_end(&stream->writer);
}

static void recording_free(void *state)
{
	struct stream *stream = state;

	if (stream)
		recording_writer_done(&stream->writer);
	free(stream);
}

static int recording_write(struct results *results, const struct format_options *options, FILE *out)
{
	return format_write_slices(&format_recording, results, options, out);
}

static const struct format_slices slices = {
	.begin = recording_begin,
	.add = recording_add,
	.whole_bytes = recording_whole_bytes,
	.end = recording_end,
	.free = recording_free,
};

const struct format_ops format_recording = {
	.file = {"recording", ".pkbpf",
		 "everything, for pkbpf report: any other output later, on any machine"},
	.shows_gpu_calls = true,
	.write = recording_write,
	.slices = &slices,
};
