/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads small files; writes output files that appear complete or not at all. */
#ifndef PKBPF_BASE_FILE_IO_H
#define PKBPF_BASE_FILE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"

/* Writes all of it, whatever a single write() takes. Negative errno: some of it may be there. */
int file_write_all(int fd, const void *bytes, size_t size);
/* Reads at most max_size bytes into a NUL-terminated heap buffer (the caller frees it). A longer
 * file gives -EFBIG; works for procfs files that claim size 0. directory_fd may be AT_FDCWD. */
int file_read_all(int directory_fd, const char *path, size_t max_size, char **ret_data,
		  size_t *ret_size);

/* An output file: written beside its target, without a name where the file system can, and put in
 * its place by commit. The target keeps its old content until then; free without commit leaves
 * nothing, nor does the end of the program by any signal. Path "-" is
 * stdout, not renamed. A target that exists and is not a regular file (/dev/null, a FIFO) is opened
 * directly. */
struct output_file;

/* NULL with errno set on failure. Links at the end of path are followed, so that a link stays one.
 * A file that is replaced never becomes readable or writable to more than it was. */
struct output_file *output_file_open(const char *path, struct error *error);
/* The same under a temporary name, by which what was written can be found after a crash. */
struct output_file *output_file_open_visible(const char *path, struct error *error);
/* Seekable when the target is; has no descriptor: fileno() gives -1. */
FILE *output_file_stream(struct output_file *output);
/* Drops what was written behind size, and the write error that came with it: what follows is
 * written there. Negative errno: the target cannot be cut. */
int output_file_cut(struct output_file *output, uint64_t size);
/* Flushes, checks for write errors (disk full, closed pipe: -EPIPE when the program ignores
 * SIGPIPE), gives the file to owner (uid and gid -1: unchanged; a filesystem that refuses is
 * tolerated) and renames it. Once: the stream is closed afterwards, whatever the result. */
int output_file_commit(struct output_file *output, uid_t owner, gid_t group, struct error *error);
void output_file_free(struct output_file *output);
/* Removes the temporary and nothing else: for a program about to die by a signal, from any thread
 * that keeps commit and free away. Async-signal-safe. */
void output_file_abandon(const struct output_file *output);
/* Likewise, but what has reached the file so far is kept: the temporary is given to owner, as by
 * output_file_commit(), and renamed. */
void output_file_keep(const struct output_file *output, uid_t owner, gid_t group);

#endif
