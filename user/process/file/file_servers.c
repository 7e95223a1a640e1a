// SPDX-License-Identifier: BSD-2-Clause
#include "process/file/file_servers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bounded_job.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "process/file/served_mounts.h"

/* A working server answers within milliseconds, even across the world. The record waits for
 * these answers. */
#define QUIET_NS (250 * NS_PER_MS)
#define LIMIT_NS (2 * NS_PER_SECOND)
/* The wait halves with every silent server, up to this many times: any user may mount hundreds
 * of them. */
#define MAX_HALVINGS 4
/* Pause before a silent server is asked again. */
#define SILENCE_NS (10 * NS_PER_SECOND)
/* Maximum number of blocked helper processes at once: some servers leave them where they cannot
 * even be killed. */
#define MAX_LEFT	16
#define MAX_WARNINGS	8
#define COPY_STEP_BYTES (16U << 10)
#define MAX_DESCRIPTION 256

enum { COPIED, TOO_LARGE };

struct silent_server {
	uint64_t device;
	uint64_t until_ns;
	pid_t left; /* helper process still blocked by this server: ask nothing else; 0: it
		     * exited */
};

struct file_servers {
	struct served_mounts *mounts;
	const struct log *log;
	ARRAY_OF(struct silent_server) silent;
};

struct file_servers *file_servers_new(const char *root)
{
	struct file_servers *servers = calloc(1, sizeof(*servers));

	if (!servers)
		return NULL;
	servers->mounts = served_mounts_new(root);
	if (!servers->mounts) {
		free(servers);
		return NULL;
	}
	return servers;
}

void file_servers_free(struct file_servers *servers)
{
	if (!servers)
		return;
	array_foreach(&servers->silent, silent) {
		if (silent->left)
			bounded_job_has_ended(silent->left);
	}
	array_free(&servers->silent);
	served_mounts_free(servers->mounts);
	free(servers);
}

void file_servers_set_log(struct file_servers *servers, const struct log *log)
{
	servers->log = log;
}

struct served_mounts *file_servers_mounts(struct file_servers *servers)
{
	return servers->mounts;
}

struct copying {
	const struct served_file *file;
	int copy_fd;
};

static int copy_contents(int from_fd, int to_fd)
{
	char step[COPY_STEP_BYTES];
	ssize_t got;

	while ((got = read(from_fd, step, sizeof(step))) > 0)
		if (write(to_fd, step, (size_t)got) != got)
			return -ENOSPC;
	return got < 0 ? -errno : 0;
}

/* Runs in a process of its own. */
static int copy_file(void *context, void *result)
{
	struct copying *copying = context;
	_cleanup_close_ int fd = copying->file->open(copying->file->context, result);
	struct stat status;
	char first;
	int err;

	if (fd < 0)
		return fd;
	if (fstat(fd, &status) < 0)
		return -errno;
	if (status.st_size > (off_t)FILE_SERVERS_MAX_COPY_BYTES)
		return pread(fd, &first, 1, 0) < 0 ? -errno : TOO_LARGE;
	err = copy_contents(fd, copying->copy_fd);
	if (err)
		return err;
	/* The modification time shows whether it is the file that was mapped. */
	futimens(copying->copy_fd, (const struct timespec[]){status.st_atim, status.st_mtim});
	return COPIED;
}

/* Seals the copy: nothing writes to it from now on. The seals also mark it as a copy in our
 * memory. */
static int reopen_for_reading(int copy_fd)
{
	char link[32];
	int fd;

	if (fcntl(copy_fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK) < 0)
		return -errno;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", copy_fd);
	fd = open(link, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static struct silent_server *find_silent(struct file_servers *servers, uint64_t device)
{
	array_foreach(&servers->silent, silent) {
		if (silent->device == device)
			return silent;
	}
	return NULL;
}

static bool is_silent(struct file_servers *servers, uint64_t device)
{
	struct silent_server *silent = find_silent(servers, device);

	if (!silent)
		return false;
	if (silent->left && bounded_job_has_ended(silent->left))
		silent->left = 0;
	return silent->left || clock_now_ns() < silent->until_ns;
}

static bool has_left_too_many(struct file_servers *servers)
{
	size_t left = 0;

	array_foreach(&servers->silent, silent) {
		if (silent->left && bounded_job_has_ended(silent->left))
			silent->left = 0;
		left += silent->left != 0;
	}
	return left >= MAX_LEFT;
}

static uint64_t patience_ns(const struct file_servers *servers)
{
	uint64_t now_ns = clock_now_ns();
	unsigned int halvings = 0;

	array_foreach(&servers->silent, silent)
		halvings += now_ns < silent->until_ns;
	return QUIET_NS >> (halvings < MAX_HALVINGS ? halvings : MAX_HALVINGS);
}

static void tell_of_silence(struct file_servers *servers, const struct served_file *file)
{
	char text[MAX_DESCRIPTION];

	if (servers->silent.count == MAX_WARNINGS)
		log_warning(servers->log,
			    "more than %d file systems do not respond; the others are not listed",
			    MAX_WARNINGS);
	if (servers->silent.count >= MAX_WARNINGS)
		return;
	served_mounts_describe(servers->mounts, file->pid, file->device, text, sizeof(text));
	log_warning(servers->log,
		    "the file system at %s does not respond: frames in its files stay unresolved "
		    "and stacks through them may be truncated; retried every %llu s",
		    text, SILENCE_NS / NS_PER_SECOND);
}

static void note_silence(struct file_servers *servers, const struct served_file *file, pid_t left)
{
	struct silent_server *silent = find_silent(servers, file->device);

	if (!silent) {
		tell_of_silence(servers, file);
		silent = array_add(&servers->silent);
	}
	if (silent)
		*silent = (struct silent_server){file->device, clock_now_ns() + SILENCE_NS, left};
}

int file_servers_open(struct file_servers *servers, const struct served_file *file)
{
	_cleanup_close_ int copy_fd = -1;
	struct copying copying = {.file = file};
	struct bounded_job job = {
		.run = copy_file,
		.context = &copying,
		.result = file->result,
		.result_size = file->result_size,
		.quiet_ns = patience_ns(servers),
		.limit_ns = LIMIT_NS,
	};
	pid_t left;
	int ret;

	if (is_silent(servers, file->device) || has_left_too_many(servers))
		return -ETIMEDOUT;
	copy_fd = memfd_create("pkbpf-copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (copy_fd < 0)
		return -errno;
	copying.copy_fd = job.kept_fd = copy_fd;
	ret = bounded_job_run(&job, &left);
	if (ret == -ETIMEDOUT)
		note_silence(servers, file, left);
	if (ret < 0)
		return ret;
	return ret == TOO_LARGE ? file->open(file->context, file->result)
				: reopen_for_reading(copy_fd);
}
