/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files that write a slice; private. */
#ifndef PKBPF_RECORDING_SLICE_ENCODING_H
#define PKBPF_RECORDING_SLICE_ENCODING_H

#include "profile/profile.h"
#include "recording/recording_writer.h"
#include "recording/slice_tables.h"

struct slice_encoding {
	const struct profile *profile;
	uint64_t secret;
	struct recorded_strings strings;
	struct recording_sections sections;
	/* by id of the profile: 1 + place in the table; 0: not written */
	uint32_t *processes, *stacks, *frames;
	size_t process_count, stack_count, frame_count; /* ids there are */
	bool failed;					/* out of memory */
};

/* Rows of a table while they are gathered. */
struct slice_rows {
	const struct recorded_table *table;
	void *items;
	size_t count, capacity;
};

/* A new row of zeroes; NULL, and noted, when there is no memory for it. Until the next one. */
void *slice_rows_add(struct slice_encoding *work, struct slice_rows *rows);
/* Writes and frees them. */
void slice_rows_write(struct slice_encoding *work, struct slice_rows *rows);
/* 1 + place of an id; 0: none. */
uint32_t slice_place(const uint32_t *places, size_t count, uint32_t id);

void slice_write_frames(struct slice_encoding *work);
void slice_write_stacks(struct slice_encoding *work);
/* Writes the accounts that distributions name, or the others. */
void slice_write_accounts(struct slice_encoding *work, bool is_named);
/* Names of the block devices that distributions and accounts name. */
void slice_write_devices(struct slice_encoding *work);
void slice_write_resources(struct slice_encoding *work);

#endif
