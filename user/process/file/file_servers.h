/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens files of file systems that somebody else serves, without ever waiting long for who does:
 * FUSE programs that were stopped, NFS servers that are gone. What is opened is a copy in our
 * memory, since any later read, and even the closing, could wait again. One owner thread.
 */
#ifndef PKBPF_PROCESS_FILE_FILE_SERVERS_H
#define PKBPF_PROCESS_FILE_FILE_SERVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Larger ones are opened for themselves as soon as their server has shown that it answers: copies
 * take memory. */
#define FILE_SERVERS_MAX_COPY_BYTES (64U << 20)

struct log;
struct served_mounts;
struct file_servers;

/* root: as in mapped_file_table_new(). */
struct file_servers *file_servers_new(const char *root);
void file_servers_free(struct file_servers *servers);
/* Who is told which file systems do not answer; NULL: nobody. */
void file_servers_set_log(struct file_servers *servers, const struct log *log);
/* Where to ask which file systems are such. */
struct served_mounts *file_servers_mounts(struct file_servers *servers);

struct served_file {
	/* served_mounts_device(): one that does not answer is not asked again for a while */
	uint64_t device;
	uint32_t pid; /* who has it mounted, or 0 */
	/* A descriptor or negative errno; what it finds out besides goes to result, of result_size
	 * bytes. Called in another process, and in this one for a file too large to be copied. */
	int (*open)(void *context, void *result);
	void *context;
	void *result;
	size_t result_size;
};

/* A read-only descriptor, which the caller closes; copies are sealed against writing. As open()
 * fails; -ETIMEDOUT: the server does not answer. */
int file_servers_open(struct file_servers *servers, const struct served_file *file);

#endif
