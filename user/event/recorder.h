/* SPDX-License-Identifier: BSD-2-Clause */
/* Stores a stream of events in a file, for tests: 16-byte file header, then the records as they
 * are. What people keep is a recording of profiles, recording/recording_file.h. */
#ifndef PKBPF_EVENT_RECORDER_H
#define PKBPF_EVENT_RECORDER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <pkbpf/event.h>

#define EVENT_FILE_MAGIC "PKBPFEVT"
/* 1 had another record of TOTALS */
#define EVENT_FILE_VERSION 2

struct event_file_header {
	char magic[8]; /* EVENT_FILE_MAGIC without its NUL */
	uint32_t version;
	uint32_t reserved; /* 0 */
};

_Static_assert(sizeof(struct event_file_header) == 16, "file format");

/* Writes the file header. -EIO and the like from the stream. */
int recorder_begin(FILE *out);
/* Writes one record or several whole ones. -EBADMSG when they are not; -EIO and the like from the
 * stream. */
int recorder_write(FILE *out, const void *record, size_t size);

#endif
