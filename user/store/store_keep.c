// SPDX-License-Identifier: BSD-2-Clause
#include "store/store_keep.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/durable_file.h"
#include "base/hash_map.h"
#include "recording/recording_writer.h"
#include "recording/slice_codec.h"

#define FOLDER	  "kept"
#define SUFFIX	  ".pkbpf"
#define TEMPORARY ".being-written"

/* ---- room ---- */

static bool is_recording(const char *name)
{
	size_t length = strlen(name), end = strlen(SUFFIX);

	return length > end && strcmp(name + length - end, SUFFIX) == 0;
}

/* Deletes the oldest until the rest is small enough; false: nothing to delete. */
static bool drop_oldest(int folder, uint64_t most)
{
	char oldest[NAME_MAX + 1] = "";
	int64_t oldest_time = INT64_MAX;
	uint64_t bytes = 0;
	int fd = dup(folder);
	DIR *files = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *file;

	if (!files)
		return false;
	rewinddir(files);
	while ((file = readdir(files))) {
		struct stat st;

		if (!is_recording(file->d_name) ||
		    fstatat(folder, file->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		bytes += (uint64_t)st.st_size;
		if (st.st_mtime >= oldest_time)
			continue;
		oldest_time = st.st_mtime;
		snprintf(oldest, sizeof(oldest), "%s", file->d_name);
	}
	closedir(files);
	return bytes > most && oldest[0] && unlinkat(folder, oldest, 0) == 0;
}

/* ---- writing ---- */

static int write_slices(struct store *store, const struct store_windows *windows, FILE *out)
{
	_cleanup_(recording_writer_done) struct recording_writer writer = {0};
	uint64_t secret = hash_random_seed();
	int err = recording_writer_begin(&writer, out, windows->list.items[0].begin_unix_ns);

	for (size_t i = 0; i < windows->list.count && err == 0; i++) {
		_cleanup_(recording_sections_done) struct recording_sections sections = {0};
		struct recording_span span;
		struct profile *slice;

		/* A damaged one is missing. */
		err = store_read(store, &windows->list.items[i], NULL, &slice);
		if (err < 0) {
			err = err == -ENOMEM ? err : 0;
			continue;
		}
		span = slice_span(slice);
		err = slice_encode(slice, secret, &sections);
		err = err ? err : recording_writer_add(&writer, &span, &sections);
		profile_free(slice);
	}
	return err ? err : recording_writer_end(&writer);
}

static int write_file(struct store *store, int folder, const struct store_windows *windows,
		      const char *name)
{
	struct durable_file file;
	int err = durable_file_open(&file, folder, TEMPORARY, 0600);

	if (err < 0)
		return err;
	return durable_file_close(&file, name, write_slices(store, windows, file.stream));
}

/* Names of rules are the configuration's, and become those of files. */
static void name_file(const char *what, int64_t unix_ns, char *ret_name)
{
	time_t seconds = (time_t)(unix_ns / (int64_t)NS_PER_SECOND);
	struct tm calendar;
	char time_text[32] = "";
	size_t length = 0;

	for (; what[length] && length < 60; length++)
		ret_name[length] = isalnum((unsigned char)what[length]) ? what[length] : '-';
	if (gmtime_r(&seconds, &calendar))
		strftime(time_text, sizeof(time_text), "%Y%m%dT%H%M%SZ", &calendar);
	snprintf(ret_name + length, STORE_KEEP_NAME_SIZE - length, "-%s" SUFFIX, time_text);
}

int store_keep(struct store *store, const char *what, int64_t from_unix_ns, int64_t to_unix_ns,
	       char ret_name[STORE_KEEP_NAME_SIZE])
{
	struct store_windows windows;
	uint64_t most = store_max_bytes(store) / 100 * STORE_KEEP_PERCENT;
	int root = store_root(store), folder, err;

	if (mkdirat(root, FOLDER, 0700) < 0 && errno != EEXIST)
		return -errno;
	folder = openat(root, FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0)
		return -errno;
	err = store_list(store, STORE_SLICE, from_unix_ns, to_unix_ns, &windows);
	if (err == 0 && !windows.list.count)
		err = -ENODATA;
	while (drop_oldest(folder, most))
		;
	name_file(what, from_unix_ns, ret_name);
	err = err < 0 ? err : write_file(store, folder, &windows, ret_name);
	array_free(&windows.list);
	close(folder);
	return err;
}
