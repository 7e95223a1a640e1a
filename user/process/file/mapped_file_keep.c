// SPDX-License-Identifier: BSD-2-Clause
/* Chooses the descriptors of mapped files that stay open. An open descriptor keeps a file
 * readable after its processes exited and its name was deleted, and keeps its disk space
 * allocated. */
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/file/mapped_file_table.h"

/* A check visits every open descriptor, so it waits for enough opens or
 * opened bytes. */
#define OPENS_BETWEEN_CHECKS 32
#define OPEN_PER_CHECK	     4
#define BYTES_BETWEEN_CHECKS (MAPPED_FILES_MAX_DELETED_BYTES / 4)

static void unlink_recent(struct mapped_file_table *table, struct file *file)
{
	if (file->more_recent != NO_FILE)
		table->files.items[file->more_recent]->less_recent = file->less_recent;
	else
		table->most_recent = file->less_recent;
	if (file->less_recent != NO_FILE)
		table->files.items[file->less_recent]->more_recent = file->more_recent;
	else
		table->least_recent = file->more_recent;
}

static void link_most_recent(struct mapped_file_table *table, struct file *file)
{
	file->more_recent = NO_FILE;
	file->less_recent = table->most_recent;
	if (table->most_recent != NO_FILE)
		table->files.items[table->most_recent]->more_recent = file->public.id;
	else
		table->least_recent = file->public.id;
	table->most_recent = file->public.id;
}

void mapped_file_pass_on(struct mapped_file_table *table, struct file *older, struct file *newer)
{
	if (older->fd < 0)
		return;
	unlink_recent(table, older);
	newer->fd = older->fd;
	newer->public.identity_unsure = older->public.identity_unsure;
	older->fd = -1;
	link_most_recent(table, newer);
}

void mapped_file_close(struct mapped_file_table *table, struct file *file)
{
	unlink_recent(table, file);
	close(file->fd);
	file->fd = -1;
	table->open_count--;
}

/* Read when the first file is opened: the session raises the limit after creating the table. */
static size_t open_limit(struct mapped_file_table *table)
{
	struct rlimit limit = {.rlim_cur = 256};

	if (table->open_limit)
		return table->open_limit;
	getrlimit(RLIMIT_NOFILE, &limit);
	table->open_limit = limit.rlim_cur == RLIM_INFINITY ? MAPPED_FILES_MAX_OPEN
							    : (size_t)limit.rlim_cur / 2;
	if (table->open_limit > MAPPED_FILES_MAX_OPEN)
		table->open_limit = MAPPED_FILES_MAX_OPEN;
	if (table->open_limit < 1)
		table->open_limit = 1;
	return table->open_limit;
}

/* Programs that are built, run and deleted repeatedly must not fill the disk because of us. */
static void close_deleted(struct mapped_file_table *table)
{
	uint32_t at = table->most_recent;
	uint64_t bytes = 0;

	while (at != NO_FILE) {
		struct file *file = table->files.items[at];
		struct stat status;

		at = file->less_recent;
		if (fstat(file->fd, &status) < 0 || status.st_nlink > 0)
			continue;
		bytes += (uint64_t)status.st_size;
		if (bytes > MAPPED_FILES_MAX_DELETED_BYTES)
			mapped_file_close(table, file);
	}
}

void mapped_file_make_room(struct mapped_file_table *table)
{
	while (table->open_count >= open_limit(table))
		mapped_file_close(table, table->files.items[table->least_recent]);
}

static bool check_is_due(struct mapped_file_table *table, int fd)
{
	struct stat status;
	bool due;

	table->opens++;
	if (fstat(fd, &status) == 0)
		table->opened_bytes += (uint64_t)status.st_size;
	due = table->opened_bytes >= BYTES_BETWEEN_CHECKS ||
	      (table->opens >= OPENS_BETWEEN_CHECKS &&
	       table->opens >= table->open_count / OPEN_PER_CHECK);
	if (due)
		table->opens = table->opened_bytes = 0;
	return due;
}

void mapped_file_keep(struct mapped_file_table *table, struct file *file, int fd)
{
	if (check_is_due(table, fd))
		close_deleted(table);
	file->fd = fd;
	table->open_count++;
	link_most_recent(table, file);
}

void mapped_file_touch(struct mapped_file_table *table, struct file *file)
{
	unlink_recent(table, file);
	link_most_recent(table, file);
}
