// SPDX-License-Identifier: BSD-2-Clause
/* Puts the slices of recordings into one order, and those of an interval together. */
#include "recording/recording_set.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "profile/shrink/slice_limit.h"
#include "profile/slice/slice.h"
#include "recording/slice_codec.h"

/* Between files, another boot or machine moves the time of day against CLOCK_MONOTONIC further. In
 * one file any step is one of the clock: it was set, or the machine slept. */
#define CLOCK_MAX_STEP_NS (60 * (int64_t)NS_PER_SECOND)

/* A slice ends milliseconds after its second: who wants what is behind that second means the next
 * one. So much of a slice is no more than its edge. */
#define EDGE_PARTS 20

static int add_slices(struct recording_set *set, size_t source)
{
	const struct recording_reader *reader = &set->sources.items[source].reader;

	for (size_t i = 0; i < reader->blocks.count; i++) {
		struct recording_slice *slice = array_add(&set->slices);

		if (!slice)
			return -ENOMEM;
		*slice = (struct recording_slice){source, i, reader->blocks.items[i].span};
	}
	return 0;
}

const char *recording_open_advice(int error_number)
{
	switch (error_number) {
	case ENOENT:
		return "; `pkbpf -o FILE.pkbpf` makes a recording";
	case EACCES:
	case EPERM:
		return "; its owner and root can read it";
	default:
		return "";
	}
}

int recording_set_add(struct recording_set *set, const char *path, struct error *error)
{
	/* A FIFO without a writer must not make us wait; it is refused then. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), err;
	struct recording_source *source;
	struct error reason;

	if (fd < 0)
		return error_set(error, errno, "cannot open %s: %s%s", path, strerror(errno),
				 recording_open_advice(errno));
	source = array_add(&set->sources);
	if (!source) {
		close(fd);
		return error_set(error, ENOMEM, "cannot read %s: out of memory", path);
	}
	*source = (struct recording_source){.path = path, .fd = fd};
	err = recording_reader_open(&source->reader, fd, &reason);
	if (err)
		return error_set(error, -err, "%s %s", path, reason.text);
	if (add_slices(set, set->sources.count - 1))
		return error_set(error, ENOMEM, "cannot read %s: out of memory", path);
	return 0;
}

void recording_set_done(struct recording_set *set)
{
	array_foreach(&set->sources, source) {
		recording_reader_done(&source->reader);
		close(source->fd);
	}
	array_free(&set->sources);
	array_free(&set->slices);
}

static int compare_slices(const void *left, const void *right)
{
	const struct recording_slice *a = left, *b = right;

	if (a->span.begin_ns != b->span.begin_ns)
		return a->span.begin_ns < b->span.begin_ns ? -1 : 1;
	if (a->span.end_ns != b->span.end_ns)
		return a->span.end_ns < b->span.end_ns ? -1 : 1;
	return a->source != b->source ? (a->source < b->source ? -1 : 1)
	       : a->block < b->block  ? -1
				      : a->block > b->block;
}

static int64_t clock_offset(const struct recording_span *span)
{
	return (int64_t)((uint64_t)span->begin_unix_ns - span->begin_ns);
}

int recording_set_sort(struct recording_set *set, struct error *error)
{
	const struct recording_slice *slices = set->slices.items;

	if (set->slices.count)
		qsort(set->slices.items, set->slices.count, sizeof(*slices), compare_slices);
	for (size_t i = 1; i < set->slices.count; i++) {
		const char *before = set->sources.items[slices[i - 1].source].path;
		const char *path = set->sources.items[slices[i].source].path;
		int64_t step;

		if (slices[i].source != slices[i - 1].source &&
		    (__builtin_sub_overflow(clock_offset(&slices[i].span),
					    clock_offset(&slices[i - 1].span), &step) ||
		     step > CLOCK_MAX_STEP_NS || step < -CLOCK_MAX_STEP_NS))
			return error_set(error, EINVAL,
					 "%s and %s cannot be merged: they are of different "
					 "machines or boots, or the clock was set between them",
					 before, path);
		if (slices[i].span.begin_ns < slices[i - 1].span.end_ns)
			return error_set(error, EINVAL,
					 "%s and %s cannot be merged: they overlap in time, and "
					 "events would count twice",
					 before, path);
	}
	return 0;
}

/* ---- reading ---- */

static bool is_wanted(const struct recording_set *set, const struct recording_slice *slice,
		      const struct recording_wish *wish)
{
	uint64_t first_ns = set->slices.items[0].span.begin_ns;
	uint64_t begin_ns = slice->span.begin_ns - first_ns;
	uint64_t end_ns = slice->span.end_ns - first_ns;

	uint64_t edge_ns = (end_ns - begin_ns) / EDGE_PARTS;

	/* One of no length is where it begins. */
	return (!wish->to_ns || begin_ns + edge_ns < wish->to_ns) &&
	       (end_ns - edge_ns > wish->from_ns ||
		(end_ns == begin_ns && begin_ns >= wish->from_ns));
}

static int read_slice(const struct recording_set *set, const struct recording_slice *slice,
		      const struct slice_choice *choice, struct profile **ret_profile)
{
	struct recording_block block;
	int err = recording_reader_read(&set->sources.items[slice->source].reader, slice->block,
					&block);

	if (err)
		return err;
	err = slice_decode(&block, choice, ret_profile);
	recording_block_done(&block);
	return err;
}

/* Does it go with the first one? */
static int check_host(const struct profile *slice, char host[256], const char *path,
		      struct error *error)
{
	const char *here = profile_info_read(slice)->host;

	if (!host[0])
		snprintf(host, 256, "%s", here);
	if (strcmp(host, here) == 0)
		return 0;
	return error_set(error, EINVAL,
			 "%s cannot be merged with the others: it is of another host (%s, not %s)",
			 path, here, host);
}

static void note_interval(struct recording_interval *interval, const struct recording_span *span)
{
	if (!interval->read++)
		interval->begin_ns = span->begin_ns;
	else
		interval->gaps_ns += span->begin_ns - interval->end_ns;
	interval->end_ns = span->end_ns;
}

int recording_set_each(const struct recording_set *set, const struct recording_wish *wish,
		       recording_take take, void *context, struct recording_interval *ret_interval,
		       struct error *error)
{
	struct recording_interval interval = {0};
	char host[256] = "";

	array_foreach(&set->slices, slice) {
		const char *path = set->sources.items[slice->source].path;
		struct profile *profile = NULL;
		int err;

		if (!is_wanted(set, slice, wish))
			continue;
		err = read_slice(set, slice, wish->choice, &profile);
		if (err == -EBADMSG) {
			interval.damaged++;
			continue;
		}
		if (err)
			return error_set(error, -err, "cannot read %s: %s", path, strerror(-err));
		err = check_host(profile, host, path, error);
		err = err ? err : take(context, profile, error);
		profile_free(profile);
		if (err)
			return err;
		note_interval(&interval, &slice->span);
	}
	*ret_interval = interval;
	return 0;
}

struct merged {
	struct profile *profile; /* NULL: none yet */
	bool want_times;
	struct slice_limit limit;
};

static int merge(void *context, const struct profile *slice, struct error *error)
{
	struct merged *into = context;

	if (!into->profile) {
		into->profile = slice_new();
		if (into->profile && into->want_times && slice_keep_times(into->profile))
			return error_set(error, ENOMEM, "cannot merge slices: out of memory");
	}
	if (!into->profile || slice_merge(into->profile, slice) ||
	    slice_limit_memory(&into->limit, into->profile))
		return error_set(error, ENOMEM, "cannot merge slices: out of memory");
	return 0;
}

int recording_set_read(const struct recording_set *set, const struct recording_wish *wish,
		       struct profile **ret_profile, struct recording_interval *ret_interval,
		       struct error *error)
{
	struct merged merged = {.want_times = wish->want_times};
	int err = recording_set_each(set, wish, merge, &merged, ret_interval, error);

	if (err)
		profile_free(merged.profile);
	else
		*ret_profile = merged.profile;
	return err;
}
