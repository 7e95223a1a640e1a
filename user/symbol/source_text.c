// SPDX-License-Identifier: BSD-2-Clause
/* Reads lines of source files and keeps the files that were read. */
#include "symbol/source_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/string_pool.h"
#include "process/file/file_servers.h"
#include "process/process_table.h"

struct source_file {
	char *path;
	uint32_t pid;
	struct process_home home; /* when pid is 0 */
	char *text;		  /* NULL: not to be had */
	size_t size;
	int64_t changed_unix_ns;
};

struct source_text {
	const char *root;
	bool is_live;
	struct file_servers *servers;
	ARRAY_OF(struct source_file) files;
	struct string_pool *lines; /* that were given out */
};

struct source_text *source_text_new(const char *root, struct process_table *processes, bool is_live)
{
	struct source_text *sources = calloc(1, sizeof(*sources));

	if (!sources)
		return NULL;
	sources->root = root;
	sources->is_live = is_live;
	sources->servers = mapped_file_table_servers(process_table_files(processes));
	sources->lines = string_pool_new();
	if (!sources->lines) {
		free(sources);
		return NULL;
	}
	return sources;
}

void source_text_free(struct source_text *sources)
{
	if (!sources)
		return;
	array_foreach(&sources->files, file) {
		free(file->path);
		free(file->text);
	}
	array_free(&sources->files);
	string_pool_free(sources->lines);
	free(sources);
}

/* We may read more than the target may: what only others can read must not end up in a report
 * because a target says it was its source. */
static int open_file(const struct source_text *sources, const struct source_file *file,
		     struct stat *ret_stat)
{
	const struct file_rights ended = {.uid = file->home.uid, .gid = file->home.gid};
	const struct named_file named = {
		.root = sources->root,
		.pid = file->pid,
		.rights = sources->is_live && !file->pid ? &ended : NULL,
		.path = file->path,
		.follow = true,
	};
	int fd = file_servers_open_named(sources->servers, &named, ret_stat);

	if (fd >= 0 && !sources->is_live && !(ret_stat->st_mode & S_IROTH)) {
		close(fd);
		return -EACCES;
	}
	return fd;
}

static void read_file(const struct source_text *sources, struct source_file *file)
{
	_cleanup_close_ int fd = -1;
	_cleanup_free_ char *text = NULL;
	struct stat st;
	ssize_t got;

	fd = open_file(sources, file, &st);
	if (fd < 0 || st.st_size <= 0 || st.st_size > SOURCE_TEXT_MAX_BYTES)
		return;
	text = malloc((size_t)st.st_size);
	if (!text)
		return;
	while (file->size < (size_t)st.st_size) {
		got = pread(fd, text + file->size, (size_t)st.st_size - file->size,
			    (off_t)file->size);
		if (got <= 0)
			break;
		file->size += (size_t)got;
	}
	file->changed_unix_ns =
		st.st_mtim.tv_sec * (int64_t)NS_PER_SECOND + (int64_t)st.st_mtim.tv_nsec;
	file->text = take_pointer(text);
}

static bool is_same_place(const struct source_file *file, uint32_t pid,
			  const struct source_place *place)
{
	return file->pid == pid && !strcmp(file->path, place->path) &&
	       (pid || (file->home.uid == place->home.uid && file->home.gid == place->home.gid));
}

/* pid 0: below our root. NULL: there are too many already. */
static const struct source_file *find_file(struct source_text *sources, uint32_t pid,
					   const struct source_place *place)
{
	struct source_file *file;

	array_foreach(&sources->files, known)
		if (is_same_place(known, pid, place))
			return known;
	if (sources->files.count >= SOURCE_TEXT_MAX_FILES)
		return NULL;
	file = array_add(&sources->files);
	if (!file)
		return NULL;
	file->pid = pid;
	file->home = place->home;
	file->path = strdup(place->path);
	if (!file->path) {
		sources->files.count--;
		return NULL;
	}
	read_file(sources, file);
	return file;
}

/* Start of a line; NULL: there are fewer. */
static const char *find_line(const struct source_file *file, uint32_t line)
{
	const char *at = file->text, *end = file->text + file->size;

	for (; at && line > 1; line--) {
		at = memchr(at, '\n', (size_t)(end - at));
		at = at && at + 1 < end ? at + 1 : NULL;
	}
	return at;
}

static size_t length_of_line(const struct source_file *file, const char *line)
{
	size_t left = (size_t)(file->text + file->size - line);
	const char *end = memchr(line, '\n', left);

	return end ? (size_t)(end - line) : left;
}

const char *source_text_find(struct source_text *sources, const struct source_place *place)
{
	const struct source_file *file;
	const char *line;
	size_t length;
	uint32_t id;

	/* What is not absolute depends on a directory that may be another one by now. */
	if (place->path[0] != '/' || !place->line)
		return NULL;
	/* Where the files of one that has ended lay, nobody knows, but for our own root. */
	if (sources->is_live && !place->pid && !(place->home.is_known && place->home.is_ours))
		return NULL;
	file = find_file(sources, sources->is_live ? place->pid : 0, place);
	if (!file || !file->text || file->changed_unix_ns > place->not_after_unix_ns)
		return NULL;
	line = find_line(file, place->line);
	if (!line)
		return NULL;
	length = length_of_line(file, line);
	for (; length && isspace((unsigned char)*line); line++)
		length--;
	while (length && isspace((unsigned char)line[length - 1]))
		length--;
	if (length > SOURCE_TEXT_LINE_BYTES)
		length = SOURCE_TEXT_LINE_BYTES;
	id = string_pool_add_n(sources->lines, line, length);
	return id == STRING_POOL_NONE ? NULL : string_pool_get(sources->lines, id);
}
