// SPDX-License-Identifier: BSD-2-Clause
#include "process/file/file_opener.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "process/file/path_in_root.h"

/* Without a question for so long it ends: a copy of our memory is not kept for nothing. */
#define IDLE_SECONDS 1

struct answer {
	int result;
	struct stat status;
};

/* ---- messages, with a descriptor or without (-1) ---- */

static int send_message(int socket_fd, const void *bytes, size_t size, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec part = {(void *)bytes, size};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	while (sendmsg(socket_fd, &message, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

/* 0: all of it came; the other end is this program, too. */
static int receive_message(int socket_fd, void *bytes, size_t size, int *ret_fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = {bytes, size};
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	const struct cmsghdr *header;
	ssize_t got;

	*ret_fd = -1;
	do
		got = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(header), sizeof(*ret_fd));
	return (size_t)got == size ? 0 : -EPIPE;
}

/* ---- rights; of this thread alone, by system calls: nothing else is safe after fork() ---- */

static int set_overrides(bool may_override)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	const uint32_t overrides =
		1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH | 1U << CAP_FOWNER;

	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	if (may_override)
		data[0].effective |= data[0].permitted & overrides;
	else
		data[0].effective &= ~overrides;
	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

/* Signals of the target's user do not reach this process: its own ids stay. */
static int take_ids(const struct file_rights *rights)
{
	if (syscall(SYS_setgroups, rights->group_count, rights->groups) < 0)
		return -errno;
	syscall(SYS_setfsgid, rights->gid);
	syscall(SYS_setfsuid, rights->uid);
	/* They say what there was before. */
	return (uint32_t)syscall(SYS_setfsgid, -1) == rights->gid &&
			       (uint32_t)syscall(SYS_setfsuid, -1) == rights->uid
		       ? 0
		       : -EPERM;
}

static int take_rights(const struct file_rights *rights)
{
	/* Who is of its user, and has no capability for others, has its rights already. */
	int err = take_ids(rights);

	if (err && (rights->uid != geteuid() || rights->gid != getegid()))
		return -EPERM;
	/* root itself may override. */
	return set_overrides(rights->uid == 0 && geteuid() == 0);
}

static int take_own_rights(const struct file_rights *own)
{
	take_ids(own);
	return set_overrides(true);
}

static void note_own_rights(struct file_rights *own)
{
	int count = getgroups(FILE_RIGHTS_MAX_GROUPS, own->groups);

	own->uid = geteuid();
	own->gid = getegid();
	own->group_count = count > 0 ? (size_t)count : 0;
}

/* ---- opening ---- */

static bool is_served(int path_fd)
{
	/* linux/magic.h and the file systems' own headers: FUSE and virtiofs, NFS, CIFS, SMB 2 and
	 * 3, 9P, Ceph, AFS (two), Coda, GFS2, OCFS2, Lustre, autofs, VirtualBox, Orange, GPFS */
	static const uint32_t types[] = {
		0x65735546, 0x6969,	0xff534d42, 0xfe534d42, 0x01021997, 0x00c36400,
		0x5346414f, 0x6b414653, 0x73757245, 0x01161970, 0x7461636f, 0x0bd00bd0,
		0x0187,	    0x786f4256, 0x20030528, 0x47504653,
	};
	struct statfs status;

	if (fstatfs(path_fd, &status) < 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if ((uint32_t)status.f_type == types[i])
			return true;
	return false;
}

/* Takes over path_fd. */
static int open_regular(int path_fd, const struct file_question *question, struct stat *ret_stat)
{
	_cleanup_close_ int owned_fd = path_fd;
	char name[32];
	int fd;

	if (owned_fd < 0)
		return owned_fd;
	if (fstat(path_fd, ret_stat) < 0)
		return -errno;
	if (!S_ISREG(ret_stat->st_mode))
		return -EINVAL;
	if (!question->even_served && is_served(path_fd))
		return -EREMOTE;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", path_fd);
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

/* Who may not take the rights of others reads what has nothing to hide. */
static int open_without_rights(int root_fd, const struct file_question *question,
			       struct stat *ret_stat)
{
	int path_fd = path_in_root_open_to_all(root_fd, question->path, question->follow);

	return path_fd == -EACCES ? -EPERM : open_regular(path_fd, question, ret_stat);
}

int file_opener_open_here(int root_fd, const struct file_question *question, struct stat *ret_stat)
{
	int err = question->has_rights ? take_rights(&question->rights) : 0;

	if (err == -EPERM)
		return open_without_rights(root_fd, question, ret_stat);
	if (err)
		return err;
	return open_regular(path_in_root_open(root_fd, question->path, question->follow), question,
			    ret_stat);
}

static void __attribute__((noreturn)) run(int socket_fd)
{
	static struct file_question question;
	struct file_rights own;
	int root_fd;

	note_own_rights(&own);
	while (receive_message(socket_fd, &question, sizeof(question), &root_fd) == 0) {
		struct answer answer = {0};
		int fd = file_opener_open_here(root_fd, &question, &answer.status);

		answer.result = fd < 0 ? fd : 0;
		close(root_fd);
		if (question.has_rights && take_own_rights(&own) < 0)
			break;
		if (send_message(socket_fd, &answer, sizeof(answer), fd < 0 ? -1 : fd) < 0)
			break;
		if (fd >= 0)
			close(fd);
	}
	syscall(SYS_exit_group, 0);
	__builtin_unreachable();
}

/* ---- the program's side ---- */

static void close_all_but(int fd)
{
	if (syscall(SYS_close_range, 0U, (unsigned int)fd - 1, 0) == 0 &&
	    syscall(SYS_close_range, (unsigned int)fd + 1, ~0U, 0) == 0)
		return;
	/* A sandbox that does not know it. */
	for (int other = 0; other < (int)sysconf(_SC_OPEN_MAX); other++)
		if (other != fd)
			close(other);
}

/* Handlers of signals would believe to be in the program. */
static pid_t fork_opener(int socket_fd, int idle_seconds)
{
	const struct timeval idle = {.tv_sec = idle_seconds};
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "pkbpf-opener");
		setsockopt(socket_fd, SOL_SOCKET, SO_RCVTIMEO, &idle, sizeof(idle));
		close_all_but(socket_fd);
		run(socket_fd);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid < 0 ? -errno : pid;
}

static int start(struct file_opener *opener, int idle_seconds)
{
	int ends[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	opener->pid = fork_opener(ends[1], idle_seconds);
	close(ends[1]);
	opener->fd = ends[0];
	if (opener->pid > 0)
		return 0;
	err = opener->pid;
	close(opener->fd);
	*opener = (struct file_opener){.fd = -1};
	return err;
}

int file_opener_keep(struct file_opener *opener)
{
	return opener->pid > 0 ? 0 : start(opener, 0);
}

/* One that has nothing to do ends at once. */
void file_opener_stop(struct file_opener *opener)
{
	if (opener->pid <= 0)
		return;
	close(opener->fd);
	while (waitpid(opener->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*opener = (struct file_opener){.fd = -1};
}

static int send_question(struct file_opener *opener, int root_fd,
			 const struct file_question *question)
{
	return send_message(opener->fd, question, sizeof(*question), root_fd);
}

static int take_answer(struct file_opener *opener, struct stat *ret_stat)
{
	struct answer answer;
	int fd, err = receive_message(opener->fd, &answer, sizeof(answer), &fd);

	if (!err) {
		*ret_stat = answer.status;
		err = answer.result;
	}
	if (!err && fd < 0)
		err = -EMFILE;
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

/* It may have ended since the last question. */
static int ask_once(struct file_opener *opener, int root_fd, const struct file_question *question,
		    uint64_t limit_ns, struct stat *ret_stat, pid_t *ret_left)
{
	struct pollfd wait = {.fd = opener->fd, .events = POLLIN};
	uint64_t until_ns = clock_now_ns() + limit_ns, now_ns;
	int ret = send_question(opener, root_fd, question);

	if (ret)
		return ret == -ECONNRESET ? -EPIPE : ret;
	while ((now_ns = clock_now_ns()) < until_ns) {
		if (poll(&wait, 1, (int)((until_ns - now_ns) / NS_PER_MS) + 1) <= 0)
			continue;
		ret = take_answer(opener, ret_stat);
		return ret == -ECONNRESET ? -EPIPE : ret;
	}
	kill(opener->pid, SIGKILL);
	*ret_left = opener->pid;
	close(opener->fd);
	*opener = (struct file_opener){.fd = -1};
	return -ETIMEDOUT;
}

int file_opener_ask(struct file_opener *opener, int root_fd, const struct file_question *question,
		    uint64_t limit_ns, struct stat *ret_stat, pid_t *ret_left)
{
	int ret = -EPIPE;

	for (unsigned int tries = 0; tries < 3 && ret == -EPIPE; tries++) {
		ret = opener->pid > 0 ? 0 : start(opener, IDLE_SECONDS);
		if (ret)
			return ret;
		ret = ask_once(opener, root_fd, question, limit_ns, ret_stat, ret_left);
		if (ret == -EPIPE)
			file_opener_stop(opener);
	}
	return ret;
}
