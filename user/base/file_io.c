// SPDX-License-Identifier: BSD-2-Clause
/* Reads whole files; writes output files through a temporary that is renamed. */
#include "base/file_io.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdint.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/unused.h"
#include "base/hash_map.h"

#define READ_FIRST_SIZE 4096
/* Large writes let filesystems take large pages: 60 MB of stacks cost 40 ms less than in stdio's 8
 * KiB. */
#define STREAM_SIZE	 (512 * 1024)
#define LINKS_MAX	 40 /* as the kernel: MAXSYMLINKS */
#define TEMPORARY_TRIES	 100
#define TEMPORARY_SIZE	 40
#define READER_STEP_NS	 10000000
#define READER_STEPS	 200
#define ELSEWHERE_ADVICE "use another file with -o"

/* What is read from a file whose size is not to be believed. */
struct growing_text {
	char *data;
	size_t size, capacity;
};

/* Room for a byte and the NUL. One byte more than max_size shows that the file is longer. */
static int make_room(struct growing_text *text, size_t max_size)
{
	size_t grown = text->capacity ? text->capacity * 2 : READ_FIRST_SIZE;
	char *moved;

	if (text->capacity - text->size >= 2)
		return 0;
	if (grown < text->capacity || grown > PTRDIFF_MAX)
		return -EFBIG;
	if (max_size < grown - 2)
		grown = max_size + 2;
	moved = realloc(text->data, grown);
	if (!moved)
		return -ENOMEM;
	text->data = moved;
	text->capacity = grown;
	return 0;
}

static int read_to_end(int fd, struct growing_text *text, size_t max_size)
{
	for (;;) {
		int err = make_room(text, max_size);
		ssize_t got;

		if (err)
			return err;
		got = read(fd, text->data + text->size, text->capacity - 1 - text->size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : 0;
		text->size += (size_t)got;
		if (text->size > max_size)
			return -EFBIG;
	}
}

int file_write_all(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		ssize_t written = write(fd, at, size);

		if (written < 0 && errno != EINTR)
			return -errno;
		if (!written)
			return -EIO;
		at += written > 0 ? written : 0;
		size -= written > 0 ? (size_t)written : 0;
	}
	return 0;
}

int file_read_all(int directory_fd, const char *path, size_t max_size, char **ret_data,
		  size_t *ret_size)
{
	/* O_NONBLOCK: a FIFO that a target has put in the place of a file must not stop us. */
	_cleanup_close_ int fd =
		openat(directory_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct growing_text text = {0};
	int err;

	if (fd < 0)
		return -errno;
	err = read_to_end(fd, &text, max_size);
	if (err) {
		free(text.data);
		return err;
	}
	text.data[text.size] = '\0';
	*ret_data = text.data;
	*ret_size = text.size;
	return 0;
}

struct output_file {
	FILE *stream;
	char *buffer; /* of the stream: glibc heeds a size only with a buffer */
	int fd;
	int write_errno;  /* of the first write that failed: stdio forgets it */
	int directory_fd; /* of the target; -1: no rename */
	char *path;	  /* as the user wrote it, for sentences */
	char *name;	  /* of the target in its directory */
	char *temporary;  /* name of the temporary in the same directory; NULL once it is gone */
	bool is_stdout;
	bool is_visible; /* has a temporary name from its beginning */
	bool is_unnamed; /* no name yet, and gone with its descriptor */
	bool is_committed;
};

/* ---- the stream: a FILE over the descriptor that remembers why a write failed ---- */

static ssize_t stream_write(void *cookie, const char *data, size_t size)
{
	struct output_file *output = cookie;
	size_t done = 0;

	/* After a failure nothing more is written: a file with a hole is worse than a short one. */
	while (done < size && !output->write_errno) {
		ssize_t written = write(output->fd, data + done, size - done);

		if (written >= 0) {
			done += (size_t)written;
		} else if (errno == EAGAIN) {
			/* Somebody who shares our stdout has made it non-blocking. */
			struct pollfd wait = {.fd = output->fd, .events = POLLOUT};

			poll(&wait, 1, -1);
		} else if (errno != EINTR) {
			output->write_errno = errno;
		}
	}
	return (ssize_t)done;
}

static int stream_seek(void *cookie, off64_t *position, int whence)
{
	struct output_file *output = cookie;
	off64_t moved = lseek64(output->fd, *position, whence);

	if (moved < 0)
		return -1;
	*position = moved;
	return 0;
}

static int stream_open(struct output_file *output)
{
	output->stream = fopencookie(
		output, "w", (cookie_io_functions_t){.write = stream_write, .seek = stream_seek});
	if (!output->stream)
		return -ENOMEM;
	output->buffer = malloc(STREAM_SIZE);
	if (!output->buffer)
		return -ENOMEM;
	setvbuf(output->stream, output->buffer, _IOFBF, STREAM_SIZE);
	return 0;
}

/* ---- finding the target ---- */

/* Moves *directory_fd and *name to where `path`, seen from *directory_fd, lies. */
static int place_enter(int *directory_fd, char **name, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	_cleanup_free_ char *directory = NULL, *new_name = NULL;
	int fd;

	if (!*path)
		return -ENOENT;
	if (!*base)
		return -EISDIR;
	directory = slash ? strndup(path, (size_t)(base - path)) : strdup(".");
	new_name = strdup(base);
	if (!directory || !new_name)
		return -ENOMEM;
	fd = openat(*directory_fd, directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (*directory_fd >= 0)
		close(*directory_fd);
	*directory_fd = fd;
	free(*name);
	*name = take_pointer(new_name);
	return 0;
}

/* The rule of fs.protected_symlinks and fs.protected_fifos, which the kernel applies to links that
 * it follows itself and to opens with O_CREAT, and only where they are set: in a directory that all
 * may write, a link or FIFO counts if it is our own or belongs to the owner of the directory. */
static bool place_is_trusted(int directory_fd, const struct stat *place)
{
	struct stat directory;

	if (place->st_uid == geteuid())
		return true;
	if (fstat(directory_fd, &directory) < 0)
		return false;
	return !(directory.st_mode & S_IWOTH) || directory.st_uid == place->st_uid;
}

/* The links of /proc/<pid>/fd name open files: their text need not be a path. /dev/stdout leads
 * there. */
static bool directory_is_proc(int directory_fd)
{
	struct statfs filesystem;

	return fstatfs(directory_fd, &filesystem) == 0 && filesystem.f_type == PROC_SUPER_MAGIC;
}

/* Follows the links at the end of path by hand, since renaming onto a link would replace the link.
 * On success *ret_mode is that of the target: 0 when there is none, S_IFLNK for a link that only
 * the kernel can follow. *ret_target_fd holds a target that exists (O_PATH), for the caller to
 * close. */
static int place_find(const char *path, int *directory_fd, char **name, mode_t *ret_mode,
		      int *ret_target_fd)
{
	struct stat target;
	int err = place_enter(directory_fd, name, path);

	for (int links = 0; err == 0; links++) {
		/* O_PATH pins the link, so that its owner is checked on what is then read. */
		_cleanup_close_ int fd =
			openat(*directory_fd, *name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		char to[PATH_MAX];
		ssize_t length;

		if (fd < 0 && errno == ENOENT) {
			*ret_mode = 0;
			return 0;
		}
		if (fd < 0 || fstat(fd, &target) < 0)
			return -errno;
		/* Regular files are replaced, not written. */
		if (!S_ISREG(target.st_mode) && !S_ISDIR(target.st_mode) &&
		    !place_is_trusted(*directory_fd, &target))
			return -EACCES;
		if (!S_ISLNK(target.st_mode) || directory_is_proc(*directory_fd)) {
			*ret_mode = target.st_mode;
			*ret_target_fd = take_fd(fd);
			return 0;
		}
		if (links == LINKS_MAX)
			return -ELOOP;
		length = readlinkat(fd, "", to, sizeof(to));
		if (length < 0)
			return -errno;
		if (length == (ssize_t)sizeof(to))
			return -ENAMETOOLONG;
		to[length] = '\0';
		err = place_enter(directory_fd, name, to);
	}
	return err;
}

/* ---- opening ---- */

/* Gives the file without a name one; true: done. */
static bool temporary_link(const struct output_file *output, const char *temporary)
{
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", output->fd);
	return linkat(AT_FDCWD, self, output->directory_fd, temporary, AT_SYMLINK_FOLLOW) == 0;
}

/* O_EXCL also refuses a link planted there. */
static bool temporary_open(struct output_file *output, const char *temporary, mode_t mode)
{
	output->fd = openat(output->directory_fd, temporary,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	return output->fd >= 0;
}

/* A name of its own in the target's directory: for a new file, or for the one without a name. */
static int temporary_name(struct output_file *output, mode_t mode)
{
	_cleanup_free_ char *temporary = malloc(TEMPORARY_SIZE);

	if (!temporary)
		return -ENOMEM;
	for (int i = 0; i < TEMPORARY_TRIES; i++) {
		snprintf(temporary, TEMPORARY_SIZE, ".pkbpf-%016" PRIx64 ".tmp",
			 hash_random_seed());
		if (output->is_unnamed ? temporary_link(output, temporary)
				       : temporary_open(output, temporary, mode)) {
			output->is_unnamed = false;
			output->temporary = take_pointer(temporary);
			return 0;
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* Whatever O_TMPFILE fails of, a name may do: some file systems have no files without one. */
static int temporary_create(struct output_file *output, mode_t mode)
{
	if (!output->is_visible && access("/proc/self/fd", X_OK) == 0) {
		output->fd =
			openat(output->directory_fd, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
		output->is_unnamed = output->fd >= 0;
	}
	return output->is_unnamed ? 0 : temporary_name(output, mode);
}

/* To open a FIFO waits for somebody who reads it: not for ever, but its reader may be about to
 * begin. Writing may wait. -ENXIO: nobody. */
static int open_for_reader(const char *path, int flags)
{
	const struct timespec step = {.tv_nsec = READER_STEP_NS};
	int fd = open(path, flags | O_NONBLOCK);

	for (unsigned int i = 0; fd < 0 && errno == ENXIO && i < READER_STEPS; i++) {
		nanosleep(&step, NULL);
		fd = open(path, flags | O_NONBLOCK);
	}
	if (fd < 0)
		return -errno;
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

/* The target that was checked, and not another one that has got its name since. */
static int open_target(int target_fd, mode_t mode, const char *path)
{
	/* O_APPEND: when this is our own redirected stdout, keep what is there. */
	const int flags = O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC;
	char pinned[32];

	if (S_ISLNK(mode))
		return open_for_reader(path, flags);
	snprintf(pinned, sizeof(pinned), "/proc/self/fd/%d", target_fd);
	return open_for_reader(pinned, flags);
}

static int output_attach(struct output_file *output, const char *path)
{
	_cleanup_close_ int target_fd = -1;
	mode_t mode;
	int err;

	if (strcmp(path, "-") == 0) {
		fflush(stdout); /* what was printed before comes before */
		output->is_stdout = true;
		output->fd = STDOUT_FILENO;
		return fcntl(output->fd, F_GETFD) < 0 ? -errno : 0;
	}
	err = place_find(path, &output->directory_fd, &output->name, &mode, &target_fd);
	if (err < 0)
		return err;
	if (S_ISDIR(mode))
		return -EISDIR;
	if (mode == 0)
		return temporary_create(output, 0666);
	/* Replacing a file that its owner has closed to others must not open it. */
	if (S_ISREG(mode))
		return temporary_create(output, 0666 & mode);
	output->fd = open_target(target_fd, mode, path);
	return output->fd < 0 ? output->fd : 0;
}

static const char *advice(int errnum)
{
	switch (errnum) {
	case ENOSPC:
	case EDQUOT:
		return "free space or " ELSEWHERE_ADVICE;
	case EISDIR:
		return "name a file in this directory with -o";
	case ENOENT:
	case ENOTDIR:
		return "create the directory or " ELSEWHERE_ADVICE;
	case ENXIO:
		return "nothing reads from it; start the reader first";
	case EPIPE:
		return "the reader exited; keep it running until the end";
	case EFBIG:
		return "raise the file size limit or " ELSEWHERE_ADVICE;
	default:
		return ELSEWHERE_ADVICE;
	}
}

static int output_failed(const struct output_file *output, const char *path, int errnum,
			 struct error *error)
{
	return error_set(error, errnum, "cannot write %s: %s; %s",
			 output && output->is_stdout ? "to standard output" : path,
			 strerror(errnum), advice(errnum));
}

static struct output_file *open_output(const char *path, bool is_visible, struct error *error)
{
	struct output_file *output = calloc(1, sizeof(*output));
	int err = -ENOMEM;

	if (output) {
		output->is_visible = is_visible;
		output->fd = -1;
		output->directory_fd = AT_FDCWD;
		output->path = strdup(path);
		err = output->path ? output_attach(output, path) : -ENOMEM;
		if (err == 0)
			err = stream_open(output);
	}
	if (err < 0) {
		output_failed(output, path, -err, error);
		output_file_free(output);
		errno = -err;
		return NULL;
	}
	return output;
}

struct output_file *output_file_open(const char *path, struct error *error)
{
	return open_output(path, false, error);
}

struct output_file *output_file_open_visible(const char *path, struct error *error)
{
	return open_output(path, true, error);
}

FILE *output_file_stream(struct output_file *output)
{
	return output->stream;
}

int output_file_cut(struct output_file *output, uint64_t size)
{
	if (output->is_stdout || ftruncate(output->fd, (off_t)size) < 0 ||
	    lseek(output->fd, (off_t)size, SEEK_SET) < 0)
		return output->is_stdout ? -ESPIPE : -errno;
	__fpurge(output->stream);
	clearerr(output->stream);
	output->write_errno = 0;
	return 0;
}

/* ---- finishing ---- */

/* Closes stream and descriptor; returns what the writes, flush or close complained about. */
static int output_close(struct output_file *output)
{
	int err = 0;

	if (output->stream) {
		bool failed = ferror(output->stream) != 0;

		if (fclose(output->stream) != 0 || failed)
			err = -EIO; /* unless a write has said why */
		output->stream = NULL;
		if (output->write_errno)
			err = -output->write_errno;
	}
	if (output->fd >= 0 && !output->is_stdout) {
		/* Network filesystems tell of a full disk only now. No fsync: a crash of the
		 * machine is not what the rename guards against, and waiting for a slow disk at the
		 * end of every run is felt. */
		if (close(output->fd) < 0 && err == 0 && errno != EINTR)
			err = -errno;
	}
	output->fd = -1;
	return err;
}

int output_file_commit(struct output_file *output, uid_t owner, gid_t group, struct error *error)
{
	int err = 0, closed;

	if (output->is_committed)
		return error_set(error, EALREADY, "cannot write %s: already closed", output->path);
	output->is_committed = true;
	/* All bytes first, so that a name is never seen for long that is not the last one. */
	if (output->is_unnamed && fflush(output->stream) == 0)
		err = temporary_name(output, 0);
	if (output->temporary && (owner != (uid_t)-1 || group != (gid_t)-1) &&
	    fchown(output->fd, owner, group) < 0) {
		/* Filesystems without owners refuse every change; the data matters more. */
		if (errno != EPERM && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
			err = -errno;
	}
	/* The stream is closed in any case: no write may reach the file after its new name
	 * shows. */
	closed = output_close(output);
	if (err == 0)
		err = closed;
	if (err == 0 && output->temporary) {
		if (renameat(output->directory_fd, output->temporary, output->directory_fd,
			     output->name) < 0)
			err = -errno;
		else
			free(take_pointer(output->temporary));
	}
	return err < 0 ? output_failed(output, output->path, -err, error) : 0;
}

void output_file_free(struct output_file *output)
{
	if (!output)
		return;
	output_close(output);
	free(output->buffer);
	if (output->temporary)
		unlinkat(output->directory_fd, output->temporary, 0);
	if (output->directory_fd >= 0)
		close(output->directory_fd);
	free(output->temporary);
	free(output->name);
	free(output->path);
	free(output);
}

void output_file_abandon(const struct output_file *output)
{
	if (output->temporary)
		unlinkat(output->directory_fd, output->temporary, 0);
}

void output_file_keep(const struct output_file *output, uid_t owner, gid_t group)
{
	_unused_ int refused;

	if (!output->temporary)
		return;
	/* Where a file system without owners refuses, the data matters more. */
	if (owner != (uid_t)-1 || group != (gid_t)-1)
		refused = fchown(output->fd, owner, group);
	renameat(output->directory_fd, output->temporary, output->directory_fd, output->name);
}
