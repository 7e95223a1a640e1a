// SPDX-License-Identifier: BSD-2-Clause
/* A recording as an output format: one block with the whole run. */
#include "base/cleanup.h"
#include "base/hash_map.h"
#include "base/unused.h"
#include "export/formats.h"
#include "recording/slice_codec.h"

static int recording_write(struct results *results, _unused_ const struct format_options *options,
			   FILE *out)
{
	_cleanup_(recording_sections_done) struct recording_sections sections = {0};
	_cleanup_(recording_writer_done) struct recording_writer writer = {0};
	struct recording_span span = slice_span(results->profile);
	int err = slice_encode(results->profile, hash_random_seed(), &sections);

	err = err ? err : recording_writer_begin(&writer, out, span.begin_unix_ns);
	err = err ? err : recording_writer_add(&writer, &span, &sections);
	return err ? err : recording_writer_end(&writer);
}

const struct format_ops format_recording = {
	.name = "recording",
	.suffix = ".pkbpf",
	.summary = "everything, for pkbpf report: any other output later, on any machine",
	.write = recording_write,
};
