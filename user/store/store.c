// SPDX-License-Identifier: BSD-2-Clause
/* Levels, roll-ups, retention, and reading. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash_map.h"
#include "profile/slice/slice.h"
#include "recording/slice_codec.h"
#include "profile/shrink/process_merge.h"
#include "store/store_segment.h"

#define SECOND ((int64_t)NS_PER_SECOND)

/* How long a window of a level is, how long it is kept, its share of the bytes, and when its
 * segments end. A level that does not use its share lends it. */
static const struct {
	const char *name;
	int64_t length_ns, keep_ns;
	uint64_t segment_ns;
	unsigned int percent;
} levels[STORE_LEVELS] = {
	[STORE_SLICE] = {"slice", 0, 6 * 3600 * SECOND, 600 * NS_PER_SECOND, 20},
	[STORE_MINUTE] = {"minute", 60 * SECOND, 3 * 86400 * SECOND, 3 * 3600 * NS_PER_SECOND, 30},
	[STORE_TEN] = {"ten", 600 * SECOND, 21 * 86400 * SECOND, 86400 * NS_PER_SECOND, 25},
	[STORE_HOUR] = {"hour", 3600 * SECOND, 400 * 86400 * SECOND, 7 * 86400 * NS_PER_SECOND, 25},
};
/* A limit is kept to this part of it: segments are dropped whole. */
#define SEGMENTS_OF_LEVEL 64
#define SEGMENT_MIN_BYTES (256U << 10)
/* Each start begins one: a service that ends again and again makes no files without end. */
#define SEGMENTS_MAX 1024
/* Of the file system this part stays free. */
#define KEEP_FREE_PERCENT 10
/* Stacks and names of a window that grows. One that has more of them ends early, and another one
 * begins: a program that makes its stacks up costs no more than that. */
#define GROWING_MAX_BYTES (6U << 20)
/* Processes that ended and have rows of their own in a window that grows. With more of them the
 * window has a row per name and cgroup: slices keep the pids. */
#define ENDED_MAX 1024

/* Ages are counted from a time that follows the clock. Over a week at most it does so at once, as
 * after a machine was off; over more, as with a clock that was never set, so much for each second
 * that is recorded. A clock that is wrong for an hour costs a week of fine windows at most. */
#define AGE_LEAP_NS (7 * 86400 * SECOND)
#define AGE_PACE    60

#define LOCK_PAUSE_MS 50

struct store {
	int fd; /* of the folder; locked */
	uint64_t max_bytes;
	uint64_t secret;
	pthread_mutex_t lock; /* of the folders and the state */
	struct store_folder folders[STORE_LEVELS];
	/* Windows that are still growing, in the writer's thread. */
	struct profile *growing[STORE_LEVELS];
	int64_t bucket[STORE_LEVELS]; /* of what grows */
	int64_t age_unix_ns;	      /* from which ages are counted; 0: nothing is stored yet */
	int64_t ahead_ns;	      /* of it, the clock of the last slice */
	int failing;
	uint64_t lost_windows;
};

const char *store_level_name(enum store_level level)
{
	return levels[level].name;
}

/* ---- opening ---- */

/* The front of a collector that was killed lives on until it has written what it has. */
static int lock(int fd, unsigned int wait_ms)
{
	int err = flock(fd, LOCK_EX | LOCK_NB);

	for (unsigned int i = 0; err < 0 && errno == EWOULDBLOCK && i < wait_ms / LOCK_PAUSE_MS;
	     i++) {
		usleep(LOCK_PAUSE_MS * 1000);
		err = flock(fd, LOCK_EX | LOCK_NB);
	}
	return err;
}

static int open_folder(struct store *store, const struct store_options *options,
		       struct error *error)
{
	const char *path = options->path, *title = options->title ? options->title : path;

	if (!options->read_only && mkdir(path, 0700) < 0 && errno != EEXIST)
		return error_set(error, errno, "cannot make the store %s: %s", title,
				 strerror(errno));
	store->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (store->fd < 0)
		return error_set(error, errno, "cannot open the store %s: %s", title,
				 strerror(errno));
	if (!options->read_only && lock(store->fd, options->wait_ms) < 0)
		return error_set(
			error, errno == EWOULDBLOCK ? EBUSY : errno,
			errno == EWOULDBLOCK
				? "another process writes to the store %s; stop it, or use "
				  "another --store"
				: "cannot lock the store %s",
			title);
	return 0;
}

int store_root(const struct store *store)
{
	return store->fd;
}

uint64_t store_max_bytes(const struct store *store)
{
	return store->max_bytes;
}

/* ---- writing ---- */

static uint64_t level_bytes(const struct store *store, int level)
{
	return store->max_bytes / 100 * levels[level].percent;
}

/* The level that is furthest over its share. */
static int greediest(const struct store *store)
{
	double worst = -1;
	int level = -1;

	for (int i = 0; i < STORE_LEVELS; i++) {
		const struct store_folder *folder = &store->folders[i];
		double used = (double)folder->bytes / ((double)level_bytes(store, i) + 1);

		if (folder->segments.count > (folder->out != NULL) && used > worst) {
			worst = used;
			level = i;
		}
	}
	return level;
}

/* Others need room, too. */
static uint64_t limit_of(const struct store *store, uint64_t used)
{
	struct statvfs system;
	uint64_t free_bytes, keep, most;

	if (fstatvfs(store->fd, &system) < 0)
		return store->max_bytes;
	free_bytes = (uint64_t)system.f_bavail * system.f_frsize;
	keep = (uint64_t)system.f_blocks * system.f_frsize / 100 * KEEP_FREE_PERCENT;
	if (keep > STORE_KEEP_FREE_BYTES)
		keep = STORE_KEEP_FREE_BYTES;
	most = used + free_bytes > keep ? used + free_bytes - keep : 0;
	if (most < STORE_LEAST_BYTES)
		most = STORE_LEAST_BYTES;
	return most < store->max_bytes ? most : store->max_bytes;
}

static void note_time(struct store *store, int64_t now_unix_ns, int64_t length_ns)
{
	int64_t way = now_unix_ns - store->age_unix_ns, most = AGE_PACE * length_ns;

	if (store->age_unix_ns && llabs(way) > AGE_LEAP_NS)
		way = way > 0 ? most : -most;
	store->age_unix_ns += way;
	store->ahead_ns = now_unix_ns - store->age_unix_ns;
}

static void make_room(struct store *store, uint64_t bytes)
{
	uint64_t used = 0, most;

	for (int i = 0; i < STORE_LEVELS; i++) {
		struct store_folder *folder = &store->folders[i];

		store_folder_drop_before(folder, store->age_unix_ns - levels[i].keep_ns);
		while (folder->segments.count > SEGMENTS_MAX && store_folder_drop(folder))
			;
		used += folder->bytes;
	}
	most = limit_of(store, used);
	while (used + bytes > most) {
		int level = greediest(store);
		uint64_t before;

		if (level < 0)
			return;
		before = store->folders[level].bytes;
		if (!store_folder_drop(&store->folders[level]))
			return;
		used -= before - store->folders[level].bytes;
	}
}

static int write_sections(struct store *store, int level, const struct profile *profile,
			  const struct recording_sections *sections)
{
	struct recording_span span = slice_span(profile);
	uint64_t segment_bytes = level_bytes(store, level) / SEGMENTS_OF_LEVEL;
	struct store_folder *folder = &store->folders[level];
	int64_t length_ns = (int64_t)(span.end_ns - span.begin_ns);
	int err, seal_err;

	if (segment_bytes < SEGMENT_MIN_BYTES)
		segment_bytes = SEGMENT_MIN_BYTES;
	pthread_mutex_lock(&store->lock);
	if (level == STORE_SLICE)
		note_time(store, span.begin_unix_ns + length_ns, length_ns);
	make_room(store, sections->bytes.count);
	err = store_folder_add(folder, &span, sections);
	seal_err = store_folder_seal(folder, segment_bytes, levels[level].segment_ns, span.end_ns);
	store->failing = err < 0 ? -err : -seal_err;
	store->lost_windows += err < 0;
	pthread_mutex_unlock(&store->lock);
	return err;
}

static int write_window(struct store *store, int level, const struct profile *profile)
{
	_cleanup_(recording_sections_done) struct recording_sections sections = {0};
	int err = slice_encode(profile, store->secret, &sections);

	return err < 0 ? err : write_sections(store, level, profile, &sections);
}

static int64_t length_of(const struct profile *profile)
{
	const struct profile_info *info = profile_info_read(profile);

	return (int64_t)(info->end_ns - info->start_ns);
}

static int64_t middle_of(const struct profile *profile)
{
	return profile_info_read(profile)->start_unix_ns + length_of(profile) / 2;
}

static int grow(struct store *store, int level, const struct profile *window);

static int finish_window(struct store *store, int level)
{
	struct profile *growing = store->growing[level];
	int err, next_err = 0;

	if (!growing)
		return 0;
	store->growing[level] = NULL;
	err = write_window(store, level, growing);
	if (level + 1 < STORE_LEVELS)
		next_err = grow(store, level + 1, growing);
	profile_free(growing);
	return err < 0 ? err : next_err;
}

/* Does its clock begin anew, so that a reboot lies between? */
static bool is_of_boot(const struct profile *growing, const struct profile *window)
{
	return profile_info_read(window)->start_ns + NS_PER_SECOND >=
	       profile_info_read(growing)->end_ns;
}

static int limit_processes(struct profile *growing)
{
	_cleanup_free_ uint32_t *numbers = NULL;

	if (profile_ended_processes(growing) <= ENDED_MAX)
		return 0;
	return profile_merge_processes(growing, profile_info_read(growing)->end_ns, &numbers);
}

/* The clock is set a little all the time, so middles decide where a window belongs. */
static int grow(struct store *store, int level, const struct profile *window)
{
	struct profile *growing = store->growing[level];
	int64_t length = levels[level].length_ns, bucket = middle_of(window) / length;
	int err = 0, merge_err, end_err = 0;

	if (growing && (store->bucket[level] != bucket || !is_of_boot(growing, window) ||
			profile_names_bytes(growing) > GROWING_MAX_BYTES))
		err = finish_window(store, level);
	if (!store->growing[level])
		store->growing[level] = slice_new();
	store->bucket[level] = bucket;
	merge_err = store->growing[level] ? slice_merge(store->growing[level], window) : -ENOMEM;
	if (merge_err == 0)
		merge_err = limit_processes(store->growing[level]);
	/* No other one of its length has its middle before the end. */
	if ((middle_of(window) + length_of(window)) / length > bucket)
		end_err = finish_window(store, level);
	err = err < 0 ? err : merge_err;
	return err < 0 ? err : end_err;
}

int store_add(struct store *store, const struct profile *slice,
	      const struct recording_sections *encoded)
{
	int err = encoded ? write_sections(store, STORE_SLICE, slice, encoded)
			  : write_window(store, STORE_SLICE, slice);
	int grow_err = grow(store, STORE_MINUTE, slice);

	return err < 0 ? err : grow_err;
}

int store_finish(struct store *store)
{
	int first_err = 0;

	for (int i = 0; i < STORE_LEVELS; i++) {
		/* A window may be short: what comes after a restart is another one. */
		int err = finish_window(store, i), seal_err;

		pthread_mutex_lock(&store->lock);
		seal_err = store_folder_seal(&store->folders[i], 0, 0, 0);
		pthread_mutex_unlock(&store->lock);
		err = err < 0 ? err : seal_err;
		first_err = first_err < 0 ? first_err : err;
	}
	return first_err;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	store_finish(store);
	for (int i = 0; i < STORE_LEVELS; i++)
		store_folder_close(&store->folders[i]);
	if (store->fd >= 0)
		close(store->fd);
	pthread_mutex_destroy(&store->lock);
	free(store);
}

/* ---- reading ---- */

static int compare_windows(const void *left, const void *right)
{
	const struct store_window *a = left, *b = right;

	return a->begin_unix_ns < b->begin_unix_ns ? -1 : a->begin_unix_ns > b->begin_unix_ns;
}

static int list_locked(struct store *store, enum store_level level, int64_t from, int64_t to,
		       struct store_windows *windows)
{
	array_foreach(&store->folders[level].segments, segment) {
		array_foreach(&segment->windows, window) {
			struct store_window *added;

			if (window->begin_unix_ns >= to || window->end_unix_ns <= from)
				continue;
			added = array_add(&windows->list);
			if (!added)
				return -ENOMEM;
			*added = *window;
		}
	}
	if (windows->list.count)
		qsort(windows->list.items, windows->list.count, sizeof(*windows->list.items),
		      compare_windows);
	return 0;
}

int store_list(struct store *store, enum store_level level, int64_t from_unix_ns,
	       int64_t to_unix_ns, struct store_windows *ret_windows)
{
	int err;

	*ret_windows = (struct store_windows){0};
	pthread_mutex_lock(&store->lock);
	err = list_locked(store, level, from_unix_ns, to_unix_ns, ret_windows);
	pthread_mutex_unlock(&store->lock);
	if (err < 0)
		array_free(&ret_windows->list);
	return err;
}

void store_each(struct store *store, enum store_level level,
		bool (*take)(void *context, const struct store_window *window), void *context)
{
	bool goes_on = true;

	pthread_mutex_lock(&store->lock);
	array_foreach(&store->folders[level].segments, segment)
		array_foreach(&segment->windows, window)
			goes_on = goes_on && take(context, window);
	pthread_mutex_unlock(&store->lock);
}

struct cover {
	struct store *store;
	int64_t from, to;
	struct store_windows *windows;
};

/* Is it part of [from, to)? The clock's own steps make edges of windows overlap by a little: its
 * middle decides, but at the ends of the whole interval, where what is cut counts as well. */
static bool belongs(const struct cover *cover, const struct store_window *window, int64_t from,
		    int64_t to)
{
	int64_t middle = window->begin_unix_ns / 2 + window->end_unix_ns / 2;
	bool is_slice = window->level == STORE_SLICE;

	return (middle >= from || (is_slice && from == cover->from)) &&
	       (middle < to || (is_slice && to == cover->to)) &&
	       (is_slice ||
		(window->begin_unix_ns >= cover->from && window->end_unix_ns <= cover->to));
}

static int take_window(const struct cover *cover, const struct store_window *window)
{
	struct store_window *added = array_add(&cover->windows->list);

	if (!added)
		return -ENOMEM;
	*added = *window;
	return 0;
}

/* Covers [from, to) with what this level has inside of it, and the rest with finer levels. */
static int cover_locked(const struct cover *cover, int level, int64_t from, int64_t to)
{
	struct store_windows mine = {0};
	int64_t at = from;
	int err = 0;

	if (level < STORE_SLICE || from >= to)
		return 0;
	err = list_locked(cover->store, (enum store_level)level, from, to, &mine);
	for (size_t i = 0; i < mine.list.count && err == 0; i++) {
		const struct store_window *window = &mine.list.items[i];

		if (!belongs(cover, window, at, to))
			continue;
		err = cover_locked(cover, level - 1, at, window->begin_unix_ns);
		err = err < 0 ? err : take_window(cover, window);
		at = window->end_unix_ns;
	}
	array_free(&mine.list);
	return err < 0 ? err : cover_locked(cover, level - 1, at, to);
}

int store_cover(struct store *store, int64_t from_unix_ns, int64_t to_unix_ns,
		struct store_windows *ret_windows)
{
	struct cover cover = {store, from_unix_ns, to_unix_ns, ret_windows};
	int err;

	*ret_windows = (struct store_windows){0};
	pthread_mutex_lock(&store->lock);
	err = cover_locked(&cover, STORE_HOUR, from_unix_ns, to_unix_ns);
	/* Where finer windows are gone the whole of a coarser one is the answer. */
	for (int level = STORE_MINUTE; level < STORE_LEVELS && err == 0 && !ret_windows->list.count;
	     level++)
		err = list_locked(store, (enum store_level)level, from_unix_ns, to_unix_ns,
				  ret_windows);
	pthread_mutex_unlock(&store->lock);
	if (err < 0)
		array_free(&ret_windows->list);
	return err;
}

int store_read(struct store *store, const struct store_window *window,
	       const struct slice_choice *choice, struct profile **ret_profile)
{
	struct recording_place place = {.offset = window->offset};
	struct recording_reader reader = {.blocks = {.items = &place, .count = 1, .capacity = 1}};
	struct recording_block block;
	struct stat st;
	int err;
	/* The folder's descriptor never changes. */
	_cleanup_close_ int fd =
		store_folder_open_segment(&store->folders[window->level], window->sequence);

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	reader.fd = fd;
	reader.size_bytes = (uint64_t)st.st_size;
	err = recording_reader_read(&reader, 0, &block);
	if (err < 0)
		return err;
	err = slice_decode(&block, choice, ret_profile);
	recording_block_done(&block);
	return err;
}

int store_merge(struct store *store, const struct store_windows *windows,
		const struct slice_choice *choice, struct profile **ret_profile,
		size_t *ret_missing)
{
	struct profile *merged = NULL;
	int err = 0;

	*ret_missing = 0;
	for (size_t i = 0; i < windows->list.count && err == 0; i++) {
		struct profile *profile;
		int read_err = store_read(store, &windows->list.items[i], choice, &profile);

		if (read_err == -ENOMEM) {
			err = read_err;
			break;
		}
		if (read_err < 0) {
			++*ret_missing;
			continue;
		}
		if (!merged)
			merged = slice_new();
		err = merged ? slice_merge(merged, profile) : -ENOMEM;
		profile_free(profile);
	}
	if (err < 0) {
		profile_free(merged);
		merged = NULL;
	}
	*ret_profile = merged;
	return err;
}

void store_get_state(struct store *store, struct store_state *ret_state)
{
	*ret_state = (struct store_state){0};
	pthread_mutex_lock(&store->lock);
	ret_state->failing = store->failing;
	ret_state->lost_windows = store->lost_windows;
	ret_state->ahead_ns = store->ahead_ns;
	for (int i = 0; i < STORE_LEVELS; i++) {
		const struct store_folder *folder = &store->folders[i];

		ret_state->bytes[i] = folder->bytes;
		ret_state->unreadable_files += folder->unreadable;
		array_foreach(&folder->segments, segment) {
			ret_state->windows[i] += segment->windows.count;
			if (!ret_state->oldest_unix_ns[i] && segment->windows.count)
				ret_state->oldest_unix_ns[i] =
					segment->windows.items[0].begin_unix_ns;
		}
	}
	pthread_mutex_unlock(&store->lock);
}

/* ---- opening what is there ---- */

static int64_t newest_end(const struct store_folder *folder)
{
	int64_t end = 0;

	array_foreach(&folder->segments, segment)
		array_foreach(&segment->windows, window)
			if (window->end_unix_ns > end)
				end = window->end_unix_ns;
	return end;
}

/* Of most windows the clock was right. 0: there is none. */
static int middle_end(struct store *store, enum store_level level, int64_t *ret_unix_ns)
{
	struct store_windows windows;
	int err = store_list(store, level, INT64_MIN, INT64_MAX, &windows);

	if (err < 0)
		return err;
	*ret_unix_ns =
		windows.list.count ? windows.list.items[windows.list.count / 2].end_unix_ns : 0;
	array_free(&windows.list);
	return 0;
}

/* Merges again what was growing in this level when the program ended by force. */
static int resume_level(struct store *store, int level)
{
	int64_t end = newest_end(&store->folders[level]);
	int64_t finer_end = newest_end(&store->folders[level - 1]);
	struct store_windows windows;
	int err;

	if (end < finer_end - levels[level].length_ns)
		end = finer_end - levels[level].length_ns;
	err = store_list(store, (enum store_level)(level - 1), end, INT64_MAX, &windows);
	for (size_t i = 0; i < windows.list.count && err == 0; i++) {
		const struct store_window *window = &windows.list.items[i];
		struct profile *profile;

		if (window->begin_unix_ns / 2 + window->end_unix_ns / 2 < end)
			continue;
		err = store_read(store, window, NULL, &profile);
		if (err == 0) {
			/* What cannot be written is in the state. */
			if (grow(store, level, profile) == -ENOMEM)
				err = -ENOMEM;
			profile_free(profile);
		}
		err = err == -ENOMEM ? err : 0;
	}
	array_free(&windows.list);
	return err;
}

/* Coarse ones first: what a finer one adds to them is not on disk yet. */
static int resume(struct store *store)
{
	int err = 0;

	for (int level = STORE_LEVELS - 1; level > STORE_SLICE && err == 0; level--)
		err = resume_level(store, level);
	return err;
}

int store_open(const struct store_options *options, struct store **ret_store, struct error *error)
{
	struct store *store = calloc(1, sizeof(*store));
	int err;

	if (!store)
		return error_set(error, ENOMEM, "cannot open the store: out of memory");
	pthread_mutex_init(&store->lock, NULL);
	store->fd = -1;
	store->max_bytes = options->max_bytes;
	store->secret = hash_random_seed();
	for (int i = 0; i < STORE_LEVELS; i++)
		store->folders[i].fd = -1;
	err = open_folder(store, options, error);
	for (int i = 0; i < STORE_LEVELS && err == 0; i++)
		err = store_folder_open(&store->folders[i], (enum store_level)i, store->fd,
					levels[i].name, !options->read_only, error);
	for (int i = 0; i < STORE_LEVELS && err == 0 && !store->age_unix_ns; i++)
		err = middle_end(store, (enum store_level)i, &store->age_unix_ns) < 0
			      ? error_set(error, ENOMEM, "cannot open the store: out of memory")
			      : 0;
	if (err == 0 && !options->read_only)
		err = resume(store) < 0
			      ? error_set(error, ENOMEM, "cannot open the store: out of memory")
			      : 0;
	if (err < 0) {
		store_close(store);
		return err;
	}
	*ret_store = store;
	return 0;
}
