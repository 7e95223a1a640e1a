// SPDX-License-Identifier: BSD-2-Clause
// Takes profiles through the bytes of a recording.
#include "recorded_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recording/slice_codec.h"

static void require(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "recorded profile: %s\n", what);
	abort();
}

int recorded_file(const void *data, size_t size)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	require(fd >= 0, "no memory file");
	require(write(fd, data, size) == (ssize_t)size, "cannot write");
	return fd;
}

int recorded_profiles(const struct profile *const *profiles, size_t count)
{
	struct recording_writer writer;
	char *data = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&data, &size);
	int fd;

	require(out, "out of memory");
	require(recording_writer_begin(&writer, out, 1) == 0, "no header");
	for (size_t i = 0; i < count; i++) {
		struct recording_sections sections = {0};
		struct recording_span span = slice_span(profiles[i]);

		require(slice_encode(profiles[i], 1, &sections) == 0, "encoding failed");
		require(recording_writer_add(&writer, &span, &sections) == 0, "no block");
		recording_sections_done(&sections);
	}
	require(recording_writer_end(&writer) == 0, "no index");
	recording_writer_done(&writer);
	require(fclose(out) == 0, "out of memory");
	fd = recorded_file(data, size);
	free(data);
	return fd;
}

uint8_t *recorded_bytes(int fd, size_t *ret_size)
{
	struct stat st;
	uint8_t *data;

	require(fstat(fd, &st) == 0, "no size");
	data = malloc((size_t)st.st_size + 1);
	require(data && pread(fd, data, (size_t)st.st_size, 0) == st.st_size, "cannot read");
	*ret_size = (size_t)st.st_size;
	return data;
}

struct profile *recorded_read(int fd, size_t index, const struct slice_choice *choice)
{
	struct recording_reader reader;
	struct recording_block block;
	struct profile *profile = NULL;
	struct error error;

	require(recording_reader_open(&reader, fd, &error) == 0, "cannot open");
	require(index < reader.blocks.count, "no such block");
	require(recording_reader_read(&reader, index, &block) == 0, "cannot read the block");
	require(slice_decode(&block, choice, &profile) == 0, "cannot decode the block");
	recording_block_done(&block);
	recording_reader_done(&reader);
	return profile;
}

char *recorded_document(const struct profile *profile, const char *name, enum rows_by by,
			enum pkbpf_profile_kind kind, size_t *ret_size)
{
	struct format_options options = {.kind = kind, .top = 10, .details = true};
	const struct format_ops *format = format_by_name(name);
	struct results results;
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_size);

	require(format && out, "no such format");
	results_init(&results, profile, by);
	require(!format->write(&results, &options, out), "writing failed");
	options.full = true;
	if (strcmp(name, "text") == 0)
		require(!format->write(&results, &options, out), "writing failed");
	results_done(&results);
	require(!fclose(out), "out of memory");
	return text;
}
