/* SPDX-License-Identifier: BSD-2-Clause */
/* Several recordings of one machine as one row of slices, from which intervals are read. One owner
 * thread. */
#ifndef PKBPF_RECORDING_RECORDING_SET_H
#define PKBPF_RECORDING_RECORDING_SET_H

#include "base/array.h"
#include "base/error.h"
#include "profile/profile.h"
#include "recording/recording_reader.h"
#include "recording/slice_choice.h"

struct recording_source {
	const char *path; /* borrowed */
	int fd;
	struct recording_reader reader;
};

struct recording_slice {
	size_t source, block;
	struct recording_span span;
};

/* Zero-initialised is empty. */
struct recording_set {
	ARRAY_OF(struct recording_source) sources;
	ARRAY_OF(struct recording_slice) slices; /* in order of time after recording_set_sort() */
};

/* Takes in the slices of a file. Errors of recording_reader_open() and open(), with the sentence.
 */
int recording_set_add(struct recording_set *set, const char *path, struct error *error);
/* What to do when open() of a recording failed with this errno, to be put behind the message; "":
 * nothing that is known here. */
const char *recording_open_advice(int error_number);
/* -EINVAL: slices overlap, and events would count twice; with the sentence. */
int recording_set_sort(struct recording_set *set, struct error *error);
void recording_set_done(struct recording_set *set);

/* Which part: [from_ns, to_ns), both counted from the begin of the first slice; to_ns 0: all behind
 * from_ns. choice NULL: all of it. */
struct recording_wish {
	uint64_t from_ns, to_ns;
	const struct slice_choice *choice;
	bool want_times; /* recording_set_read(): profile_time_line() */
};

/* What was read: from begin_ns to end_ns of the first slice's clock. */
struct recording_interval {
	uint64_t begin_ns, end_ns;
	uint64_t gaps_ns;     /* between slices: nothing was recorded there */
	size_t read, damaged; /* slices */
};

/* Called with one slice after the other, in order of time; it dies with the call. Negative errno
 * ends the reading; with the sentence. */
typedef int (*recording_take)(void *context, const struct profile *slice, struct error *error);

/* Reads the slices that a wish meets one by one, in the memory of one. Damaged slices are left out
 * and counted. Errors of take; -EINVAL: of different machines; -ENOTSUP, -ENOMEM and errors of
 * pread(); with the sentence. */
int recording_set_each(const struct recording_set *set, const struct recording_wish *wish,
		       recording_take take, void *context, struct recording_interval *ret_interval,
		       struct error *error);
/* Merges the slices that a wish meets. Damaged slices are left out and counted. The caller frees
 * the profile, which is NULL when there was none to read. -EINVAL: of different machines; -ENOTSUP,
 * -ENOMEM and errors of pread(); with the sentence. */
int recording_set_read(const struct recording_set *set, const struct recording_wish *wish,
		       struct profile **ret_profile, struct recording_interval *ret_interval,
		       struct error *error);

#endif
