/* SPDX-License-Identifier: BSD-2-Clause */
/* Stores a record stream in a file: 16-byte file header, then the records as they are. */
#ifndef PKBPF_EVENT_RECORDER_H
#define PKBPF_EVENT_RECORDER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <pkbpf/event.h>

#define RECORDING_MAGIC	  "PKBPFREC"
#define RECORDING_VERSION 1

struct recording_header {
	char magic[8]; /* RECORDING_MAGIC without its NUL */
	uint32_t version;
	uint32_t reserved; /* 0 */
};

_Static_assert(sizeof(struct recording_header) == 16, "file format");

/* Writes the file header. -EIO and the like from the stream. */
int recorder_begin(FILE *out);
/* Writes one record or several whole ones. -EBADMSG when they are not; -EIO and the like from the
 * stream. */
int recorder_write(FILE *out, const void *record, size_t size);

#endif
