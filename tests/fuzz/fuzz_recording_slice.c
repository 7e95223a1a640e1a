// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads bytes as a recording, and, since checksums keep most changes away from the decoder, as the
 * sections of a block. What is decoded can be written, read again, merged and reported on.
 *
 * The first byte chooses: 'F' a file; 'S' sections, each {kind, 2 bytes; size, 4 bytes; plain
 * bytes}.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "profile/slice/slice.h"
#include "recorded_profile.h"
#include "recording/recording_bytes.h"
#include "recording/slice_codec.h"

#define SECTIONS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void report_on(const struct profile *profile)
{
	size_t size;
	char *text = recorded_document(profile, "json", ROWS_BY_PROCESS, PKBPF_PROFILE_CPU, &size);

	free(text);
	text = recorded_document(profile, "folded", ROWS_BY_THREAD, PKBPF_PROFILE_OFFCPU, &size);
	free(text);
}

/* Written and read again it is no error any more. */
static void use(const struct profile *profile)
{
	struct profile *merged = slice_new(), *again;
	int fd = recorded_profiles(&profile, 1);

	require(merged);
	again = recorded_read(fd, 0, NULL);
	close(fd);
	require(slice_merge(merged, profile) == 0 && slice_merge(merged, again) == 0);
	report_on(profile);
	report_on(merged);
	profile_free(again);
	profile_free(merged);
}

static void decode(const struct recording_block *block)
{
	const uint32_t pid = 10;
	const struct slice_choice choice = {.pids = &pid, .pid_count = 1, .container = "web"};
	struct profile *profile = NULL;
	int err = slice_decode(block, NULL, &profile);

	require(err == 0 || err == -EBADMSG || err == -ENOTSUP);
	if (!err)
		use(profile);
	if (!err)
		profile_free(profile);
	err = slice_decode(block, &choice, &profile);
	require(err == 0 || err == -EBADMSG || err == -ENOTSUP);
	if (!err)
		profile_free(profile);
}

static void read_file(const uint8_t *data, size_t size)
{
	int fd = recorded_file(data, size);
	struct recording_reader reader;
	struct error error = {""};
	int err = recording_reader_open(&reader, fd, &error);

	require(err == 0 || err == -EBADMSG || err == -ENOTSUP);
	require((err == 0) == (error.text[0] == '\0'));
	for (size_t i = 0; !err && i < reader.blocks.count; i++) {
		struct recording_block block;

		if (recording_reader_read(&reader, i, &block) == 0) {
			decode(&block);
			recording_block_done(&block);
		}
	}
	if (!err)
		recording_reader_done(&reader);
	close(fd);
}

static void read_sections(const uint8_t *data, size_t size)
{
	struct recording_section sections[SECTIONS_MAX];
	struct recording_block block = {.sections = sections};

	while (size >= 6 && block.section_count < SECTIONS_MAX) {
		size_t plain = recording_get32(data + 2);

		if (plain > size - 6)
			plain = size - 6;
		sections[block.section_count++] = (struct recording_section){
			.kind = recording_get16(data),
			.codec = RECORDING_CODEC_PLAIN,
			.data = data + 6,
			.stored = plain,
			.plain = plain,
		};
		data += 6 + plain;
		size -= 6 + plain;
	}
	decode(&block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size && data[0] == 'F')
		read_file(data + 1, size - 1);
	else if (size && data[0] == 'S')
		read_sections(data + 1, size - 1);
	return 0;
}
