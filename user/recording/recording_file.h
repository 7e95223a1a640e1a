/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes of a recording (.pkbpf): profiles with their names, readable on any machine. Not to be
 *confused with a stream of events (tests/support/recorder.h), which tests replay.
 *
 *	header          64 bytes: magic, version of the format, time of its making
 *	block*          one per slice: header of 64 bytes, then sections
 *	index           a block of its own kind: where the blocks are
 *	trailer         24 bytes: where the index is
 *
 * Each header, each block's sections and the trailer have a CRC-32 of their own: what does not fit
 * its checksum is never believed. A file without an index was cut off and is read up to its last
 * whole block. All numbers are little-endian.
 *
 * A section is {kind, codec, stored bytes, plain bytes} and its bytes. Readers skip sections whose
 * kind they do not know; a format that old readers must not read so gets a new major version.
 * For good: the header's size, its magic, versions and checksum stay where they are.
 */
#ifndef PKBPF_RECORDING_RECORDING_FILE_H
#define PKBPF_RECORDING_RECORDING_FILE_H

#include <stdint.h>

#define RECORDING_FILE_MAGIC  "PKBPF\r\n\032" /* text mode and 7-bit transfers damage it at once */
#define RECORDING_BLOCK_MAGIC 0x6b6c4250U     /* "PBlk" */
#define RECORDING_FILE_MAJOR  1
#define RECORDING_FILE_MINOR  0

#define RECORDING_FILE_HEADER_BYTES    64
#define RECORDING_BLOCK_HEADER_BYTES   64
#define RECORDING_SECTION_HEADER_BYTES 12
#define RECORDING_TRAILER_BYTES	       24

/* Larger ones are neither written nor read. */
#define RECORDING_BLOCK_MAX_BYTES   (256U << 20)
#define RECORDING_SECTION_MAX_BYTES (128U << 20) /* plain */
#define RECORDING_SECTIONS_MAX	    256
#define RECORDING_BLOCKS_MAX	    (1U << 22)

enum recording_block_kind {
	RECORDING_BLOCK_SLICE = 1,
	RECORDING_BLOCK_INDEX = 2,
};

enum recording_codec {
	RECORDING_CODEC_PLAIN = 0,
	RECORDING_CODEC_ZLIB = 1,
};

/* When a slice was: CLOCK_MONOTONIC of its machine, and the time of day at its begin. */
struct recording_span {
	uint64_t sequence;
	uint64_t begin_ns, end_ns;
	int64_t begin_unix_ns;
};

#endif
