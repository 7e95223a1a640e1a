/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens files of served file systems without long waits: FUSE programs may be stopped, NFS
 * servers may be down. The result is a copy in our memory, since any later read, and even the
 * close, could block again. One owner thread. */
#ifndef PKBPF_PROCESS_FILE_FILE_SERVERS_H
#define PKBPF_PROCESS_FILE_FILE_SERVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "process/file/file_rights.h"

/* Larger files are opened directly once their server has answered: copies take memory. */
#define FILE_SERVERS_MAX_COPY_BYTES (64U << 20)

struct log;
struct served_mounts;
struct file_servers;

/* root: as in mapped_file_table_new(). */
struct file_servers *file_servers_new(const char *root);
void file_servers_free(struct file_servers *servers);
/* Log that gets file systems without an answer; NULL: none. */
void file_servers_set_log(struct file_servers *servers, const struct log *log);
/* Keeps the process that opens files, from now on: file_opener_keep(). Without it, it is forked
 * when it is needed. */
void file_servers_keep_opener(struct file_servers *servers);
/* The list of such file systems. */
struct served_mounts *file_servers_mounts(struct file_servers *servers);

struct served_file {
	/* served_mounts_device(): after no answer, it is not asked again for a while */
	uint64_t device;
	uint32_t pid; /* process that has it mounted, or 0 */
	/* Returns a descriptor or negative errno, and writes further results to result, of
	 * result_size bytes. Runs in another process, and in this one when the file is too large
	 * to be copied. */
	int (*open)(void *context, void *result);
	void *context;
	void *result;
	size_t result_size;
};

/* A file that a target names. */
struct named_file {
	const char *root; /* as in mapped_file_table_new() */
	uint32_t pid;	  /* below whose root directory; 0: ours */
	/* NULL: the rights of the process pid, or our own without one */
	const struct file_rights *rights;
	const char *path; /* absolute, below PATH_MAX */
	bool follow;	  /* a link at the end; others are always followed, below the root */
};

/* A read-only descriptor of a regular file, which the caller closes: of a copy where somebody
 * serves its file system. Never waits longer than a server has time. servers NULL: opened by this
 * process, for callers that have no other rights than their user. -EINVAL: not a regular file;
 * -ETIMEDOUT: something on the way does not answer; -EPERM: we may not take rights of others;
 * -EFBIG: served, and too large to be copied with the rights of others; other errors of open(). */
int file_servers_open_named(struct file_servers *servers, const struct named_file *file,
			    struct stat *ret_stat);
/* Returns a read-only descriptor, which the caller closes; copies are sealed against writing.
 * Errors of open(); -ETIMEDOUT: the server does not answer. */
int file_servers_open(struct file_servers *servers, const struct served_file *file);

#endif
