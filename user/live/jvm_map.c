// SPDX-License-Identifier: BSD-2-Clause
/* Speaks HotSpot's attach protocol, in a process of its own that takes the identity of the JVM's
 * user: the JVM answers that user only, and nothing is touched there that the user could not. */
#include "live/jvm_map.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/bounded_job.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_io.h"
#include "process/procfs_status.h"

#define LIMIT_NS       (5 * NS_PER_SECOND)
#define MAX_MAPS_BYTES (16U << 20)
#define ANSWER_SIZE    256
#define LOOK_NS	       (20 * NS_PER_MS)
/* The protocol's version, the command, and always three arguments. */
static const char request[] = "1\0jcmd\0Compiler.perfmap\0\0";

struct attach {
	uint32_t pid;
	struct procfs_status status;
	int pidfd;
	/* opened before we are that user: directories of the JVM */
	int temporary, working;
};

/* ---- before ---- */

bool jvm_map_is_jvm(uint32_t pid)
{
	_cleanup_free_ char *maps = NULL;
	char path[64];
	size_t size;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	return !file_read_all(AT_FDCWD, path, MAX_MAPS_BYTES, &maps, &size) &&
	       strstr(maps, "/libjvm.so");
}

static int open_directory(uint32_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* ---- as the JVM's user ---- */

static int become_user(const struct procfs_status *status)
{
	if (status->effective_uid == geteuid() && status->effective_gid == getegid())
		return 0;
	if (setgroups(0, NULL) ||
	    setresgid(status->effective_gid, status->effective_gid, status->effective_gid) ||
	    setresuid(status->effective_uid, status->effective_uid, status->effective_uid))
		return -errno;
	return 0;
}

/* 0: connected. -ENOENT, -ECONNREFUSED: nobody listens. */
static int try_connect(const struct attach *attach, int *ret_fd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/.java_pid%u",
		 attach->temporary, attach->status.inner_pid);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address))) {
		int err = -errno;

		close(fd);
		return err;
	}
	*ret_fd = fd;
	return 0;
}

/* Makes the file that tells the JVM to listen, and signals it. */
static int wake_listener(const struct attach *attach, int directory, const char *name)
{
	int fd =
		openat(directory, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return -errno;
	close(fd);
	return syscall(SYS_pidfd_send_signal, attach->pidfd, SIGQUIT, NULL, 0) ? -errno : 0;
}

static int connect_to_listener(const struct attach *attach, int *ret_fd)
{
	const struct timespec rest = {.tv_nsec = LOOK_NS};
	uint64_t end_ns = clock_now_ns() + LIMIT_NS - NS_PER_SECOND / 2;
	int directory = attach->working, err = try_connect(attach, ret_fd);
	char name[32];

	if (err != -ENOENT && err != -ECONNREFUSED)
		return err;
	snprintf(name, sizeof(name), ".attach_pid%u", attach->status.inner_pid);
	err = wake_listener(attach, directory, name);
	if (err) {
		directory = attach->temporary;
		err = wake_listener(attach, directory, name);
	}
	while (!err) {
		err = try_connect(attach, ret_fd);
		if ((err != -ENOENT && err != -ECONNREFUSED) || clock_now_ns() > end_ns)
			break;
		err = 0;
		nanosleep(&rest, NULL);
	}
	unlinkat(directory, name, 0);
	return err == -ENOENT || err == -ECONNREFUSED ? -ETIMEDOUT : err;
}

/* The answer: a number, 0 for success, and a text. */
static int talk(int fd, char answer[ANSWER_SIZE])
{
	size_t size = 0;

	if (write(fd, request, sizeof(request)) != sizeof(request))
		return -EIO;
	while (size < ANSWER_SIZE - 1) {
		ssize_t got = read(fd, answer + size, ANSWER_SIZE - 1 - size);

		if (got < 0)
			return -errno;
		if (!got)
			break;
		size += (size_t)got;
	}
	answer[size] = '\0';
	return size ? 0 : -EIO;
}

/* In a process of its own, without our descriptors. */
static int ask(void *context, void *result)
{
	struct attach *attach = context;
	int fd = -1, err;

	attach->pidfd = (int)syscall(SYS_pidfd_open, attach->pid, 0);
	attach->temporary = open_directory(attach->pid, "root/tmp");
	attach->working = open_directory(attach->pid, "cwd");
	if (attach->pidfd < 0 || attach->temporary < 0)
		return -errno;
	err = become_user(&attach->status);
	err = err ? err : connect_to_listener(attach, &fd);
	err = err ? err : talk(fd, result);
	return err;
}

/* ---- the answer ---- */

static int tell_failure(uint32_t pid, int err, struct error *error)
{
	const char *why = err == -ETIMEDOUT ? "no answer within 5 s; it may run with "
					      "-XX:+DisableAttachMechanism, or be stopped"
			  : err == -EACCES || err == -EPERM ? "permission denied; run as root"
							    : strerror(-err);

	return error_set(error, -err, "cannot ask JVM %u for a perf map: %s", pid, why);
}

static int read_answer(uint32_t pid, char *answer, struct error *error)
{
	char *text = strchr(answer, '\n');

	if (answer[0] == '0' && text == answer + 1)
		return 0;
	for (char *at = answer; *at; at++)
		if ((unsigned char)*at < ' ' || (unsigned char)*at > '~')
			*at = ' ';
	return error_set(error, ENOTSUP,
			 "cannot ask JVM %u for a perf map: it answers '%s'; Java 17 or newer is "
			 "needed",
			 pid, text ? text + 1 : answer);
}

int jvm_map_ask(uint32_t pid, struct error *error)
{
	struct attach attach = {.pid = pid};
	char answer[ANSWER_SIZE] = "";
	struct bounded_job job = {
		.run = ask,
		.context = &attach,
		.result = answer,
		.result_size = sizeof(answer),
		.kept_fd = -1,
		.quiet_ns = LIMIT_NS,
		.limit_ns = LIMIT_NS,
	};
	pid_t left;
	int err;

	if (!jvm_map_is_jvm(pid))
		return error_set(error, ENOENT, "pid %u is not a JVM: it does not use libjvm.so",
				 pid);
	if (!procfs_status_read("/proc", pid, &attach.status))
		return error_set(error, ESRCH, "cannot ask JVM %u for a perf map: it has exited",
				 pid);
	/* It would kill a JVM that does not handle it (-Xrs, or not initialized yet). */
	if (!(attach.status.caught & 1ULL << (SIGQUIT - 1)))
		return error_set(
			error, ENOTSUP,
			"cannot ask JVM %u for a perf map: it does not handle SIGQUIT (-Xrs, "
			"or it has just been started)",
			pid);
	err = bounded_job_run(&job, &left);
	return err < 0 ? tell_failure(pid, err, error) : read_answer(pid, answer, error);
}
