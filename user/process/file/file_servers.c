// SPDX-License-Identifier: BSD-2-Clause
#include "process/file/file_servers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bounded_job.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "process/file/file_opener.h"
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
#define MAX_LEFT     16
#define MAX_WARNINGS 8
/* The process that opens files may have to be forked first. */
#define OPENER_FACTOR	4
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
	struct file_opener opener;
	bool said_no_rights;
};

struct file_servers *file_servers_new(const char *root)
{
	struct file_servers *servers = calloc(1, sizeof(*servers));

	if (!servers)
		return NULL;
	servers->opener.fd = -1;
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
	file_opener_stop(&servers->opener);
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

void file_servers_keep_opener(struct file_servers *servers)
{
	file_opener_keep(&servers->opener);
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

/* where: NULL: at the mount point of the device */
static void tell_of_silence(struct file_servers *servers, uint32_t pid, uint64_t device,
			    const char *where)
{
	char text[MAX_DESCRIPTION];

	if (servers->silent.count == MAX_WARNINGS)
		log_warning(servers->log,
			    "more than %d file systems do not respond; the others are not listed",
			    MAX_WARNINGS);
	if (servers->silent.count >= MAX_WARNINGS)
		return;
	if (where)
		snprintf(text, sizeof(text), "or behind %.200s of process %u", where, pid);
	else
		served_mounts_describe(servers->mounts, pid, device, text, sizeof(text));
	log_warning(servers->log,
		    "the file system at %s does not respond: frames in its files stay unresolved "
		    "and stacks through them may be truncated; retried every %llu s",
		    text, SILENCE_NS / NS_PER_SECOND);
}

static void note_silence(struct file_servers *servers, uint32_t pid, uint64_t device,
			 const char *where, pid_t left)
{
	struct silent_server *silent = find_silent(servers, device);

	if (!silent) {
		tell_of_silence(servers, pid, device, where);
		silent = array_add(&servers->silent);
	}
	if (silent)
		*silent = (struct silent_server){device, clock_now_ns() + SILENCE_NS, left};
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
		note_silence(servers, file->pid, file->device, NULL, left);
	if (ret < 0)
		return ret;
	return ret == TOO_LARGE ? file->open(file->context, file->result)
				: reopen_for_reading(copy_fd);
}

/* ---- what targets name ---- */

/* Process directory and root directory of a file; -1 for ours. */
static int open_root(const struct named_file *file, int *ret_process_fd, int *ret_root_fd)
{
	char name[PATH_MAX];

	*ret_process_fd = -1;
	if (!file->pid) {
		snprintf(name, sizeof(name), "%s/", file->root);
		*ret_root_fd = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		return *ret_root_fd < 0 ? -errno : 0;
	}
	snprintf(name, sizeof(name), "%s/proc/%u", file->root, file->pid);
	*ret_process_fd = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*ret_process_fd < 0)
		return -errno;
	*ret_root_fd = openat(*ret_process_fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return *ret_root_fd < 0 ? -errno : 0;
}

struct copy_named {
	const struct named_file *file;
	struct file_question *question;
	pid_t program;
};

/* In a process that ends then; in the program it would leave us with the rights of others. */
static int open_to_copy(void *context, void *result)
{
	struct copy_named *copy = context;
	_cleanup_close_ int process_fd = -1;
	_cleanup_close_ int root_fd = -1;
	int err;

	if (getpid() == copy->program && copy->question->has_rights)
		return -EFBIG;
	err = open_root(copy->file, &process_fd, &root_fd);
	copy->question->even_served = true;
	return err ? err : file_opener_open_here(root_fd, copy->question, result);
}

static int copy_served(struct file_servers *servers, const struct named_file *file,
		       struct file_question *question, struct stat *status)
{
	struct copy_named copy = {file, question, getpid()};
	struct served_file served = {
		.device = served_mounts_device(major(status->st_dev), minor(status->st_dev)),
		.pid = file->pid,
		.open = open_to_copy,
		.context = &copy,
		.result = status,
		.result_size = sizeof(*status),
	};

	return file_servers_open(servers, &served);
}

/* Above all devices: silence somewhere behind the paths of a process. */
static uint64_t key_of_process(uint32_t pid)
{
	return UINT64_MAX - pid;
}

static int ask_opener(struct file_servers *servers, const struct named_file *file, int root_fd,
		      struct file_question *question, struct stat *ret_stat)
{
	uint64_t key = key_of_process(file->pid);
	pid_t left;
	int ret;

	if (is_silent(servers, key) || has_left_too_many(servers))
		return -ETIMEDOUT;
	ret = file_opener_ask(&servers->opener, root_fd, question,
			      OPENER_FACTOR * patience_ns(servers), ret_stat, &left);
	if (ret == -ETIMEDOUT)
		note_silence(servers, file->pid, key, file->path, left);
	return ret == -EREMOTE ? copy_served(servers, file, question, ret_stat) : ret;
}

static void tell_of_rights(struct file_servers *servers)
{
	if (!servers->said_no_rights)
		log_warning(servers->log,
			    "debug files, perf maps and sources of other users' processes are not "
			    "read: that needs their rights; run with CAP_SETUID and CAP_SETGID");
	servers->said_no_rights = true;
}

int file_servers_open_named(struct file_servers *servers, const struct named_file *file,
			    struct stat *ret_stat)
{
	struct file_question question = {.follow = file->follow, .even_served = !servers};
	_cleanup_close_ int process_fd = -1;
	_cleanup_close_ int root_fd = -1;
	int ret;

	if ((size_t)snprintf(question.path, sizeof(question.path), "%s", file->path) >=
	    sizeof(question.path))
		return -ENAMETOOLONG;
	ret = open_root(file, &process_fd, &root_fd);
	if (ret)
		return ret;
	if (!servers)
		return file_opener_open_here(root_fd, &question, ret_stat);
	if (file->rights)
		question.rights = *file->rights;
	else if (file->pid && (ret = file_rights_read(process_fd, &question.rights)))
		return ret;
	question.has_rights = file->rights || file->pid;
	ret = ask_opener(servers, file, root_fd, &question, ret_stat);
	if (ret == -EPERM)
		tell_of_rights(servers);
	return ret;
}
