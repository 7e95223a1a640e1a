/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * History on disk: windows of time, each a profile, in four levels: slices as they were captured,
 * minutes, tens of minutes and hours that are merges of the level before. A level is a folder of
 * recordings (.pkbpf), so `pkbpf report` reads them, too. Bounded by bytes and by age; the oldest
 * segments go first.
 *
 * One thread writes; any may read meanwhile. Another process that only reads needs nothing of this:
 * files grow or vanish, and whole blocks in them never change.
 */
#ifndef PKBPF_STORE_STORE_H
#define PKBPF_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"
#include "profile/profile.h"
#include "recording/slice_choice.h"

/* Free space of the file system that stays free, if the store would have to take it. */
#define STORE_KEEP_FREE_BYTES (4ULL << 30)
/* Even if others fill the file system, as much is kept. */
#define STORE_LEAST_BYTES (16ULL << 20)

enum store_level { STORE_SLICE, STORE_MINUTE, STORE_TEN, STORE_HOUR, STORE_LEVELS };

struct store;
struct recording_sections;

struct store_options {
	const char *path;     /* made when it is not there */
	const char *title;    /* of it, in sentences; NULL: path */
	uint64_t max_bytes;   /* of all files */
	unsigned int wait_ms; /* for another writer that is about to end */
	bool read_only;	      /* whoever writes it now or has written it; nothing is changed */
};

/* Makes the folder, locks it and takes in what is there; windows that an end by force kept from
 * being merged are merged now. With read_only, what is added later is not seen. -EBUSY: another
 * process writes to it; errors of the file system; all with the sentence. */
int store_open(const struct store_options *options, struct store **ret_store, struct error *error);
/* Writes what is not on disk yet, and seals; the writer's thread. What is added later begins new
 * windows. The first error. */
int store_finish(struct store *store);
/* The same, and the end. NULL is fine. */
void store_close(struct store *store);

/* Adds a slice, which slice_new() or a decoder made, to all levels. encoded: what it was decoded
 * from, which is written as it is; NULL: it is encoded. The first error of a level; it
 * is tried again with the next window. -ENOSPC, -EIO, …: that window is missing in the store. */
int store_add(struct store *store, const struct profile *slice,
	      const struct recording_sections *encoded);

struct store_window {
	enum store_level level;
	int64_t begin_unix_ns, end_unix_ns;
	uint64_t begin_ns; /* CLOCK_MONOTONIC */
	uint64_t sequence; /* of its segment in the level */
	uint64_t offset;   /* in the segment */
};

struct store_windows {
	ARRAY_OF(struct store_window) list; /* in order of time */
};

/* The windows that cover [from, to) with whole hours and minutes inside it and slices at its edges,
 * widened where nothing finer is left. The caller frees the list. -ENOMEM. */
int store_cover(struct store *store, int64_t from_unix_ns, int64_t to_unix_ns,
		struct store_windows *ret_windows);
/* All windows of a level that meet [from, to). The caller frees the list. -ENOMEM. */
int store_list(struct store *store, enum store_level level, int64_t from_unix_ns,
	       int64_t to_unix_ns, struct store_windows *ret_windows);
/* Windows of a level in the order in which they were recorded, which no clock changes, until take
 * returns false. take may not ask the store for anything. */
void store_each(struct store *store, enum store_level level,
		bool (*take)(void *context, const struct store_window *window), void *context);
/* One window, or the chosen part of it, for profile_free(). -ENOENT: its segment was deleted
 * meanwhile; -EBADMSG: damaged; -ENOMEM, errors of pread(). */
int store_read(struct store *store, const struct store_window *window,
	       const struct slice_choice *choice, struct profile **ret_profile);
/* Merges windows. Damaged and deleted ones are left out and counted. *ret_profile NULL: there was
 * none. -ENOMEM. */
int store_merge(struct store *store, const struct store_windows *windows,
		const struct slice_choice *choice, struct profile **ret_profile,
		size_t *ret_missing);

struct store_state {
	uint64_t bytes[STORE_LEVELS];
	size_t windows[STORE_LEVELS];
	int64_t oldest_unix_ns[STORE_LEVELS]; /* 0: empty */
	int failing;			      /* errno of the last write, 0: it went well */
	uint64_t lost_windows;		      /* that could not be written */
	uint64_t unreadable_files;
	/* How far the clock is ahead of the time from which ages are counted, < 0: behind it. After
	 * a jump of more than a week windows are deleted by number and bytes, until it is followed.
	 */
	int64_t ahead_ns;
};

void store_get_state(struct store *store, struct store_state *ret_state);
/* Descriptor of the folder, which stays the store's; and the limit of all files. */
int store_root(const struct store *store);
uint64_t store_max_bytes(const struct store *store);
/* "slice", "minute", "ten", "hour" */
const char *store_level_name(enum store_level level);

#endif
