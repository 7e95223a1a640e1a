/* SPDX-License-Identifier: BSD-2-Clause */
/* A level of the store: its segments, the one that is written, and where their windows are. The
 * store's lock guards it. */
#ifndef PKBPF_STORE_STORE_SEGMENT_H
#define PKBPF_STORE_STORE_SEGMENT_H

#include <stdio.h>

#include "recording/recording_writer.h"
#include "store/store.h"

struct store_segment {
	uint64_t sequence;
	uint64_t bytes;
	ARRAY_OF(struct store_window) windows;
};

struct store_folder {
	enum store_level level;
	int fd;					 /* of the folder */
	ARRAY_OF(struct store_segment) segments; /* oldest first; the last one may be open */
	uint64_t bytes, unreadable;
	/* Not given again while windows of a deleted segment may still be asked for. */
	uint64_t last_sequence;
	/* The one that is written. */
	FILE *out; /* NULL: none */
	struct recording_writer writer;
	uint64_t opened_ns; /* CLOCK_MONOTONIC */
};

/* Opens or makes the folder `name` in parent_fd and takes in its segments; without may_make a
 * folder that is not there is empty. Negative errno with the sentence. */
int store_folder_open(struct store_folder *folder, enum store_level level, int parent_fd,
		      const char *name, bool may_make, struct error *error);
/* Appends a window. Negative errno: it is not there, and the segment before it is whole. */
int store_folder_add(struct store_folder *folder, const struct recording_span *span,
		     const struct recording_sections *sections);
/* Ends the segment that is written when it is this large or so many ns old; 0: in any case. The
 * segment and its name are on the disk then; negative errno: perhaps not. */
int store_folder_seal(struct store_folder *folder, uint64_t bytes, uint64_t age_ns,
		      uint64_t now_ns);
/* Deletes the oldest segment that is not being written; false: there is none. */
bool store_folder_drop(struct store_folder *folder);
/* Deletes each segment whose windows all end before this time; the one that is being written stays.
 */
void store_folder_drop_before(struct store_folder *folder, int64_t unix_ns);
/* -ENOENT and other errors of open(). */
int store_folder_open_segment(const struct store_folder *folder, uint64_t sequence);
void store_folder_close(struct store_folder *folder);

#endif
