// SPDX-License-Identifier: BSD-2-Clause
/* Segments of a level as files of its folder. */
#include "store/store_segment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/durable_file.h"
#include "recording/recording_reader.h"

#define SUFFIX	  ".pkbpf"
#define NAME_SIZE 32

static void name_of(uint64_t sequence, char ret_name[NAME_SIZE])
{
	snprintf(ret_name, NAME_SIZE, "%016" PRIx64 SUFFIX, sequence);
}

/* Only names that we would give. */
static bool parse_name(const char *name, uint64_t *ret_sequence)
{
	char again[NAME_SIZE];
	char *end;

	*ret_sequence = strtoull(name, &end, 16);
	name_of(*ret_sequence, again);
	return *ret_sequence && strcmp(name, again) == 0;
}

/* ---- taking in what is there ---- */

static int take_windows(struct store_folder *folder, struct store_segment *segment, int fd)
{
	struct recording_reader reader;
	struct error error;
	int err = recording_reader_open(&reader, fd, &error);

	if (err < 0)
		return err;
	array_foreach(&reader.blocks, place) {
		struct store_window *window = array_add(&segment->windows);

		if (!window) {
			err = -ENOMEM;
			break;
		}
		*window = (struct store_window){
			.level = folder->level,
			.begin_unix_ns = place->span.begin_unix_ns,
			.begin_ns = place->span.begin_ns,
			.end_unix_ns = place->span.begin_unix_ns +
				       (int64_t)(place->span.end_ns - place->span.begin_ns),
			.sequence = segment->sequence,
			.offset = place->offset,
		};
	}
	recording_reader_done(&reader);
	return err;
}

/* What cannot be read stays where it is: it may be a newer version's. */
static int take_segment(struct store_folder *folder, uint64_t sequence)
{
	_cleanup_close_ int fd = store_folder_open_segment(folder, sequence);
	struct store_segment *segment;
	struct stat st;
	int err;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	segment = array_add(&folder->segments);
	if (!segment)
		return -ENOMEM;
	segment->sequence = folder->last_sequence = sequence;
	segment->bytes = (uint64_t)st.st_size;
	err = take_windows(folder, segment, fd);
	if (err == -ENOMEM)
		return err;
	if (err < 0)
		folder->unreadable++;
	folder->bytes += segment->bytes;
	return 0;
}

static int compare_sequences(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static int take_all(struct store_folder *folder)
{
	ARRAY_OF(uint64_t) sequences = {0};
	int fd = dup(folder->fd), err = 0;
	DIR *files = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *file;

	if (!files)
		return -errno;
	while (err == 0 && (file = readdir(files))) {
		uint64_t sequence, *added;

		if (!parse_name(file->d_name, &sequence))
			continue;
		added = array_add(&sequences);
		if (added)
			*added = sequence;
		else
			err = -ENOMEM;
	}
	closedir(files);
	if (sequences.count)
		qsort(sequences.items, sequences.count, sizeof(*sequences.items),
		      compare_sequences);
	for (size_t i = 0; i < sequences.count && err == 0; i++)
		err = take_segment(folder, sequences.items[i]);
	array_free(&sequences);
	return err;
}

int store_folder_open(struct store_folder *folder, enum store_level level, int parent_fd,
		      const char *name, bool may_make, struct error *error)
{
	int err;

	*folder = (struct store_folder){.level = level, .fd = -1};
	/* A file system that is full or read-only may hold the folder. */
	if (may_make && mkdirat(parent_fd, name, 0700) < 0 && errno != EEXIST &&
	    faccessat(parent_fd, name, F_OK, 0) < 0)
		return error_set(error, errno, "cannot make the folder %s: %s", name,
				 strerror(errno));
	folder->fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder->fd < 0 && errno == ENOENT && !may_make)
		return 0;
	if (folder->fd < 0)
		return error_set(error, errno, "cannot open the folder %s: %s", name,
				 strerror(errno));
	err = take_all(folder);
	if (err < 0)
		return error_set(error, -err, "cannot read the folder %s: %s", name,
				 strerror(-err));
	return 0;
}

int store_folder_open_segment(const struct store_folder *folder, uint64_t sequence)
{
	char name[NAME_SIZE];
	int fd;

	name_of(sequence, name);
	fd = openat(folder->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* ---- writing ---- */

static int begin_segment(struct store_folder *folder, const struct recording_span *span)
{
	uint64_t sequence = folder->last_sequence + 1;
	struct store_segment *segment;
	char name[NAME_SIZE];
	int fd, err;

	name_of(sequence, name);
	fd = openat(folder->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	segment = array_add(&folder->segments);
	folder->out = segment ? fdopen(fd, "w") : NULL;
	if (!folder->out) {
		folder->segments.count -= segment != NULL;
		close(fd);
		unlinkat(folder->fd, name, 0);
		return -ENOMEM;
	}
	segment->sequence = folder->last_sequence = sequence;
	folder->opened_ns = span->begin_ns;
	err = recording_writer_begin(&folder->writer, folder->out, span->begin_unix_ns);
	return err;
}

static void note_size(struct store_folder *folder)
{
	struct store_segment *segment = &folder->segments.items[folder->segments.count - 1];

	folder->bytes += folder->writer.offset - segment->bytes;
	segment->bytes = folder->writer.offset;
}

/* Cuts off what a failed write left, so that the segment ends with its last whole window. */
static void abandon_segment(struct store_folder *folder)
{
	uint64_t whole = folder->writer.entries.count ? folder->writer.offset : 0;
	int fd = dup(fileno(folder->out));
	struct store_segment *segment = &folder->segments.items[folder->segments.count - 1];

	/* The stream may still hold what it could not write. */
	fclose(folder->out);
	folder->out = NULL;
	recording_writer_done(&folder->writer);
	if (fd >= 0) {
		if (ftruncate(fd, (off_t)whole) < 0)
			folder->unreadable++;
		close(fd);
	}
	if (!whole) {
		char name[NAME_SIZE];

		name_of(segment->sequence, name);
		unlinkat(folder->fd, name, 0);
		folder->bytes -= segment->bytes;
		array_free(&segment->windows);
		folder->segments.count--;
	}
}

int store_folder_add(struct store_folder *folder, const struct recording_span *span,
		     const struct recording_sections *sections)
{
	struct store_segment *segment;
	struct store_window *window;
	uint64_t offset;
	int err = 0;

	if (!folder->out)
		err = begin_segment(folder, span);
	if (err < 0 && !folder->out)
		return err;
	segment = &folder->segments.items[folder->segments.count - 1];
	offset = folder->writer.offset;
	if (err == 0)
		err = recording_writer_add(&folder->writer, span, sections);
	window = err == 0 ? array_add(&segment->windows) : NULL;
	if (err < 0) {
		abandon_segment(folder);
		return err;
	}
	note_size(folder);
	if (!window)
		return -ENOMEM;
	*window = (struct store_window){
		.level = folder->level,
		.begin_unix_ns = span->begin_unix_ns,
		.begin_ns = span->begin_ns,
		.end_unix_ns = span->begin_unix_ns + (int64_t)(span->end_ns - span->begin_ns),
		.sequence = segment->sequence,
		.offset = offset,
	};
	return 0;
}

int store_folder_seal(struct store_folder *folder, uint64_t bytes, uint64_t age_ns, uint64_t now_ns)
{
	int err;

	if (!folder->out ||
	    (bytes && folder->writer.offset < bytes && now_ns - folder->opened_ns < age_ns))
		return 0;
	err = recording_writer_end(&folder->writer);
	if (err == 0 && fflush(folder->out) == EOF)
		err = -errno;
	if (err < 0) {
		abandon_segment(folder);
		return err;
	}
	note_size(folder);
	err = durable_sync(fileno(folder->out));
	err = err < 0 ? err : durable_sync(folder->fd);
	fclose(folder->out);
	folder->out = NULL;
	recording_writer_done(&folder->writer);
	return err;
}

static size_t sealed_count(const struct store_folder *folder)
{
	return folder->segments.count - (folder->out != NULL);
}

static void drop_at(struct store_folder *folder, size_t index)
{
	struct store_segment *segment = &folder->segments.items[index];
	char name[NAME_SIZE];

	name_of(segment->sequence, name);
	unlinkat(folder->fd, name, 0);
	folder->bytes -= segment->bytes;
	array_free(&segment->windows);
	memmove(segment, segment + 1,
		(folder->segments.count - index - 1) * sizeof(*folder->segments.items));
	folder->segments.count--;
}

bool store_folder_drop(struct store_folder *folder)
{
	if (!sealed_count(folder))
		return false;
	drop_at(folder, 0);
	return true;
}

/* Clocks are set: the last window need not be the latest. 0: none. */
static int64_t end_of(const struct store_segment *segment)
{
	int64_t end = 0;

	array_foreach(&segment->windows, window)
		if (window->end_unix_ns > end)
			end = window->end_unix_ns;
	return end;
}

/* A segment that cannot be read, or has no windows, is older than the one behind it. */
void store_folder_drop_before(struct store_folder *folder, int64_t unix_ns)
{
	int64_t later_end = INT64_MAX;

	for (size_t i = sealed_count(folder); i-- > 0;) {
		int64_t end = end_of(&folder->segments.items[i]);

		if (!end)
			end = later_end;
		if (end < unix_ns)
			drop_at(folder, i);
		later_end = end;
	}
}

void store_folder_close(struct store_folder *folder)
{
	store_folder_seal(folder, 0, 0, 0);
	array_foreach(&folder->segments, segment)
		array_free(&segment->windows);
	array_free(&folder->segments);
	if (folder->fd >= 0)
		close(folder->fd);
}
