/* SPDX-License-Identifier: BSD-2-Clause */
/* Stores a stream of events in a file, for tests: a 16-byte file header, then the records
 * unchanged. Users keep recordings of profiles instead, recording/recording_file.h. */
#ifndef PKBPF_TEST_RECORDER_H
#define PKBPF_TEST_RECORDER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <pkbpf/event.h>

#define EVENT_FILE_MAGIC "PKBPFEVT"
/* version 1 had another TOTALS record */
#define EVENT_FILE_VERSION 2

struct event_file_header {
	char magic[8]; /* EVENT_FILE_MAGIC without its NUL */
	uint32_t version;
	uint32_t reserved; /* 0 */
};

_Static_assert(sizeof(struct event_file_header) == 16, "file format");

/* Writes the file header. Errors of the stream, such as -EIO. */
int recorder_begin(FILE *out);
/* Writes one or several complete records. -EBADMSG: incomplete; errors of the stream, such as
 * -EIO. */
int recorder_write(FILE *out, const void *record, size_t size);

#endif
