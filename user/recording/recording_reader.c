// SPDX-License-Identifier: BSD-2-Clause
/* Finds the blocks of a recording and checks them. */
#include "recording/recording_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "recording/packed_bytes.h"
#include "recording/recording_bytes.h"

/* Read at a time while the next block behind damage is looked for. */
#define SCAN_BYTES (64U << 10)
/* zlib packs no better than 1032 to 1. */
#define ZLIB_MAX_RATIO 1032

/* 0 when all of it was read; -EBADMSG: the file ends before. */
static int read_at(int fd, void *data, size_t size, uint64_t offset)
{
	size_t got = 0;

	while (got < size) {
		ssize_t more = pread(fd, (uint8_t *)data + got, size - got, (off_t)(offset + got));

		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0)
			return -errno;
		if (more == 0)
			return -EBADMSG;
		got += (size_t)more;
	}
	return 0;
}

/* ---- headers ---- */

struct block_header {
	uint16_t kind;
	struct recording_span span;
	uint64_t payload_bytes;
	uint32_t section_count, checksum;
};

static bool parse_block_header(const uint8_t bytes[RECORDING_BLOCK_HEADER_BYTES],
			       struct block_header *ret_header)
{
	if (recording_get32(bytes) != RECORDING_BLOCK_MAGIC ||
	    recording_get32(bytes + 60) != recording_checksum(bytes, 60))
		return false;
	*ret_header = (struct block_header){
		.kind = recording_get16(bytes + 4),
		.span = {.sequence = recording_get64(bytes + 8),
			 .begin_ns = recording_get64(bytes + 16),
			 .end_ns = recording_get64(bytes + 24),
			 .begin_unix_ns = (int64_t)recording_get64(bytes + 32)},
		.payload_bytes = recording_get64(bytes + 40),
		.section_count = recording_get32(bytes + 48),
		.checksum = recording_get32(bytes + 52),
	};
	return ret_header->payload_bytes <= RECORDING_BLOCK_MAX_BYTES &&
	       ret_header->section_count <= RECORDING_SECTIONS_MAX;
}

static int check_file_header(int fd, struct error *error)
{
	uint8_t header[RECORDING_FILE_HEADER_BYTES];
	int err = read_at(fd, header, sizeof(header), 0);

	if (err && err != -EBADMSG)
		return error_set(error, -err, "cannot be read: %s", strerror(-err));
	if (err || memcmp(header, RECORDING_FILE_MAGIC, 8) != 0)
		return error_set(error, EBADMSG, "is not a recording of pkbpf (-o FILE.pkbpf)");
	if (recording_get32(header + 60) != recording_checksum(header, 60))
		return error_set(error, EBADMSG, "is damaged: the header fails its checksum");
	if (recording_get16(header + 8) > RECORDING_FILE_MAJOR)
		return error_set(
			error, ENOTSUP,
			"has format version %u.%u, newer than the supported version %u; use a "
			"newer pkbpf",
			recording_get16(header + 8), recording_get16(header + 10),
			(unsigned int)RECORDING_FILE_MAJOR);
	return 0;
}

/* ---- where the blocks are ---- */

/* The next block header from offset on; false: there is none. -ENOMEM and the like in *ret_err. */
static bool find_header(const struct recording_reader *reader, uint64_t offset,
			uint64_t *ret_offset, int *ret_err)
{
	_cleanup_free_ uint8_t *bytes = malloc(SCAN_BYTES);

	*ret_err = bytes ? 0 : -ENOMEM;
	while (bytes && offset < reader->size_bytes &&
	       reader->size_bytes - offset >= RECORDING_BLOCK_HEADER_BYTES) {
		uint64_t left = reader->size_bytes - offset;
		size_t size = left < SCAN_BYTES ? (size_t)left : SCAN_BYTES;
		struct block_header header;

		*ret_err = read_at(reader->fd, bytes, size, offset);
		if (*ret_err)
			return false;
		for (size_t i = 0; i + RECORDING_BLOCK_HEADER_BYTES <= size; i++) {
			if (parse_block_header(bytes + i, &header)) {
				*ret_offset = offset + i;
				return true;
			}
		}
		offset += size - RECORDING_BLOCK_HEADER_BYTES + 1;
	}
	return false;
}

/* Behind the last block there is the index with its trailer, or the file was cut off. */
static bool ends_with_trailer(const struct recording_reader *reader, uint64_t *ret_index_offset)
{
	uint8_t trailer[RECORDING_TRAILER_BYTES];

	if (reader->size_bytes < RECORDING_FILE_HEADER_BYTES + RECORDING_TRAILER_BYTES ||
	    read_at(reader->fd, trailer, sizeof(trailer), reader->size_bytes - sizeof(trailer)) ||
	    memcmp(trailer, RECORDING_FILE_MAGIC, 8) != 0 ||
	    recording_get32(trailer + 20) != recording_checksum(trailer, 20))
		return false;
	*ret_index_offset = recording_get64(trailer + 8);
	return true;
}

static int add_block(struct recording_reader *reader, const struct block_header *header,
		     uint64_t offset)
{
	struct recording_place *place;

	if (header->kind != RECORDING_BLOCK_SLICE)
		return 0;
	if (reader->blocks.count == RECORDING_BLOCKS_MAX)
		return -EFBIG;
	place = array_add(&reader->blocks);
	if (!place)
		return -ENOMEM;
	*place = (struct recording_place){header->span, offset};
	return 0;
}

/* The block whose header was read at *offset, which moves behind it. */
static int take_block(struct recording_reader *reader, const struct block_header *header,
		      uint64_t *offset, uint64_t end)
{
	int err;

	/* Its end is missing: so is all that came behind it. */
	if (header->payload_bytes > end - *offset - RECORDING_BLOCK_HEADER_BYTES) {
		reader->cut_off = true;
		*offset = end;
		return 0;
	}
	err = add_block(reader, header, *offset);
	*offset += RECORDING_BLOCK_HEADER_BYTES + header->payload_bytes;
	return err;
}

/* From what is no block at *offset to the next header. */
static int skip_damage(struct recording_reader *reader, uint64_t *offset, uint64_t end)
{
	uint64_t next;
	int err = 0;

	if (!find_header(reader, *offset + 1, &next, &err) || next >= end) {
		/* Of a file that was cut off this is the end. */
		reader->damaged_bytes += reader->cut_off ? 0 : end - *offset;
		*offset = end;
		return err;
	}
	reader->damaged_bytes += next - *offset;
	*offset = next;
	return 0;
}

/* Up to `end`, from header to header. */
static int walk(struct recording_reader *reader, uint64_t end)
{
	uint64_t offset = RECORDING_FILE_HEADER_BYTES;
	int err = 0;

	while (!err && offset < end) {
		uint8_t bytes[RECORDING_BLOCK_HEADER_BYTES];
		struct block_header header;

		err = end - offset < sizeof(bytes)
			      ? -EBADMSG
			      : read_at(reader->fd, bytes, sizeof(bytes), offset);
		if (err && err != -EBADMSG)
			return err;
		if (!err && parse_block_header(bytes, &header))
			err = take_block(reader, &header, &offset, end);
		else
			err = skip_damage(reader, &offset, end);
	}
	return err;
}

/* ---- the index ---- */

static bool is_listed(const struct recording_reader *reader, uint64_t offset)
{
	size_t low = 0, high = reader->blocks.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (reader->blocks.items[middle].offset == offset)
			return true;
		if (reader->blocks.items[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

static bool compare_index(struct recording_reader *reader, const struct recording_block *block)
{
	const struct recording_section *section = recording_block_find(block, 1);
	_cleanup_free_ uint8_t *data = NULL;
	struct packed_reader numbers;
	uint64_t count;

	if (!section || recording_section_unpack(section, &data))
		return false;
	numbers = (struct packed_reader){.at = data, .left = section->plain};
	count = packed_reader_number(&numbers);
	for (uint64_t i = 0; i < count && !numbers.failed; i++) {
		uint64_t offset = packed_reader_number(&numbers);

		for (int skipped = 0; skipped < 4; skipped++)
			packed_reader_number(&numbers);
		reader->missing_blocks += !numbers.failed && !is_listed(reader, offset);
	}
	return !numbers.failed;
}

static int read_block(const struct recording_reader *reader, uint64_t offset,
		      enum recording_block_kind kind, struct recording_block *ret_block);

static void check_index(struct recording_reader *reader, uint64_t offset)
{
	struct recording_block block;

	if (offset >= reader->size_bytes ||
	    read_block(reader, offset, RECORDING_BLOCK_INDEX, &block)) {
		reader->index_damaged = true;
		return;
	}
	reader->index_damaged = !compare_index(reader, &block);
	recording_block_done(&block);
}

int recording_reader_open(struct recording_reader *reader, int fd, struct error *error)
{
	uint64_t index_offset = 0, end;
	bool has_trailer;
	struct stat st;
	int err;

	*reader = (struct recording_reader){.fd = fd};
	if (fstat(fd, &st) < 0)
		return error_set(error, errno, "cannot be read: %s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return error_set(error, EINVAL, "is not a regular file");
	reader->size_bytes = (uint64_t)st.st_size;
	err = check_file_header(fd, error);
	if (err)
		return err;
	has_trailer = ends_with_trailer(reader, &index_offset);
	reader->cut_off = !has_trailer;
	end = reader->size_bytes - (has_trailer ? RECORDING_TRAILER_BYTES : 0);
	err = walk(reader, end);
	if (err) {
		recording_reader_done(reader);
		return error_set(error, -err, "cannot be read: %s", strerror(-err));
	}
	if (has_trailer)
		check_index(reader, index_offset);
	return 0;
}

void recording_reader_done(struct recording_reader *reader)
{
	array_free(&reader->blocks);
}

/* ---- blocks ---- */

static int split_sections(struct recording_block *block, size_t size)
{
	const uint8_t *at = block->bytes;

	for (size_t i = 0; i < block->section_count; i++) {
		struct recording_section *section = &block->sections[i];

		if (size < RECORDING_SECTION_HEADER_BYTES)
			return -EBADMSG;
		*section = (struct recording_section){
			.kind = recording_get16(at),
			.codec = recording_get16(at + 2),
			.data = at + RECORDING_SECTION_HEADER_BYTES,
			.stored = recording_get32(at + 4),
			.plain = recording_get32(at + 8),
		};
		size -= RECORDING_SECTION_HEADER_BYTES;
		if (section->stored > size)
			return -EBADMSG;
		size -= section->stored;
		at = section->data + section->stored;
	}
	return size ? -EBADMSG : 0;
}

static int read_block(const struct recording_reader *reader, uint64_t offset,
		      enum recording_block_kind kind, struct recording_block *ret_block)
{
	uint8_t bytes[RECORDING_BLOCK_HEADER_BYTES];
	struct recording_block block = {0};
	struct block_header header;
	int err = read_at(reader->fd, bytes, sizeof(bytes), offset);

	if (err)
		return err;
	if (!parse_block_header(bytes, &header) || header.kind != kind ||
	    header.payload_bytes > reader->size_bytes)
		return -EBADMSG;
	block.bytes = malloc((size_t)header.payload_bytes + 1);
	block.sections = calloc((size_t)header.section_count + 1, sizeof(*block.sections));
	block.section_count = header.section_count;
	if (!block.bytes || !block.sections)
		err = -ENOMEM;
	else
		err = read_at(reader->fd, block.bytes, (size_t)header.payload_bytes,
			      offset + sizeof(bytes));
	if (!err &&
	    recording_checksum(block.bytes, (size_t)header.payload_bytes) != header.checksum)
		err = -EBADMSG;
	if (!err)
		err = split_sections(&block, (size_t)header.payload_bytes);
	if (err)
		recording_block_done(&block);
	else
		*ret_block = block;
	return err;
}

int recording_reader_read(const struct recording_reader *reader, size_t index,
			  struct recording_block *ret_block)
{
	return read_block(reader, reader->blocks.items[index].offset, RECORDING_BLOCK_SLICE,
			  ret_block);
}

void recording_block_done(struct recording_block *block)
{
	free(block->bytes);
	free(block->sections);
	*block = (struct recording_block){0};
}

struct recording_sections recording_block_sections(const struct recording_block *block)
{
	const struct recording_section *last =
		block->section_count ? &block->sections[block->section_count - 1] : NULL;

	return (struct recording_sections){
		.bytes = {.items = block->bytes,
			  .count = last ? (size_t)(last->data + last->stored - block->bytes) : 0},
		.count = block->section_count,
	};
}

const struct recording_section *recording_block_find(const struct recording_block *block,
						     uint16_t kind)
{
	for (size_t i = 0; i < block->section_count; i++)
		if (block->sections[i].kind == kind)
			return &block->sections[i];
	return NULL;
}

int recording_section_unpack(const struct recording_section *section, uint8_t **ret_data)
{
	_cleanup_free_ uint8_t *data = NULL;
	uLongf size = section->plain;

	if (section->codec != RECORDING_CODEC_PLAIN && section->codec != RECORDING_CODEC_ZLIB)
		return -ENOTSUP;
	/* What it claims to be costs memory: that much at most can be in these bytes. */
	if (section->plain > RECORDING_SECTION_MAX_BYTES ||
	    section->plain / ZLIB_MAX_RATIO > section->stored)
		return -EBADMSG;
	data = malloc(section->plain + 1);
	if (!data)
		return -ENOMEM;
	if (section->codec == RECORDING_CODEC_PLAIN) {
		if (section->plain != section->stored)
			return -EBADMSG;
		memcpy(data, section->data, section->plain);
	} else if (uncompress(data, &size, section->data, section->stored) != Z_OK ||
		   size != section->plain) {
		return -EBADMSG;
	}
	data[section->plain] = '\0';
	*ret_data = take_pointer(data);
	return 0;
}
