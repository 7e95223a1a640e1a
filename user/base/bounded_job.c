// SPDX-License-Identifier: BSD-2-Clause
#include "base/bounded_job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

static void close_range_of(unsigned int first, unsigned int last)
{
	if (first > last || !syscall(SYS_close_range, first, last, 0))
		return;
	/* A sandbox that does not know it. */
	for (unsigned int fd = first; fd <= last && fd < (unsigned int)sysconf(_SC_OPEN_MAX); fd++)
		close((int)fd);
}

/* What stays open in a process that cannot be killed would keep readers of our output waiting, and
 * programs attached. */
static void close_all_but(int fd, int other)
{
	unsigned int low = (unsigned int)(other >= 0 && other < fd ? other : fd),
		     high = (unsigned int)(other > fd ? other : fd);

	if (low)
		close_range_of(0, low - 1);
	if (high > low)
		close_range_of(low + 1, high - 1);
	close_range_of(high + 1, ~0U);
}

static void __attribute__((noreturn)) run_and_tell(const struct bounded_job *job, int answer_fd)
{
	struct iovec answer[2];
	int ret;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close_all_but(answer_fd, job->kept_fd);
	ret = job->run(job->context, job->result);
	answer[0] = (struct iovec){&ret, sizeof(ret)};
	answer[1] = (struct iovec){job->result, job->result_size};
	(void)!writev(answer_fd, answer, job->result ? 2 : 1);
	syscall(SYS_exit_group, 0);
	__builtin_unreachable();
}

static bool has_grown(int fd, off_t *size)
{
	struct stat status;
	bool grown = fd >= 0 && fstat(fd, &status) == 0 && status.st_size > *size;

	if (grown)
		*size = status.st_size;
	return grown;
}

/* false: it has not answered in time. */
static bool await_answer(const struct bounded_job *job, int fd)
{
	uint64_t begin_ns = clock_now_ns(), quiet_since_ns = begin_ns, now_ns = begin_ns;
	struct pollfd answer = {.fd = fd, .events = POLLIN};
	off_t size = 0;

	while (now_ns - quiet_since_ns < job->quiet_ns && now_ns - begin_ns < job->limit_ns) {
		if (poll(&answer, 1,
			 (int)((quiet_since_ns + job->quiet_ns - now_ns) / NS_PER_MS) + 1) > 0)
			return true;
		now_ns = clock_now_ns();
		if (has_grown(job->kept_fd, &size))
			quiet_since_ns = now_ns;
	}
	return false;
}

static int read_answer(const struct bounded_job *job, int fd)
{
	int ret;
	struct iovec answer[2] = {{&ret, sizeof(ret)}, {job->result, job->result_size}};
	ssize_t got = readv(fd, answer, job->result ? 2 : 1);

	return got == (ssize_t)(sizeof(ret) + (job->result ? job->result_size : 0)) ? ret : -EIO;
}

/* Without handlers: ours would believe to be in the program. */
static pid_t fork_without_signals(void)
{
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid)
		sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

int bounded_job_run(const struct bounded_job *job, pid_t *ret_left)
{
	_cleanup_close_ int answer_fd = -1;
	int ends[2], ret;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	answer_fd = ends[0];
	pid = fork_without_signals();
	if (pid == 0)
		run_and_tell(job, ends[1]);
	ret = -errno;
	close(ends[1]);
	if (pid < 0)
		return ret;
	if (!await_answer(job, answer_fd)) {
		kill(pid, SIGKILL);
		*ret_left = pid;
		return -ETIMEDOUT;
	}
	ret = read_answer(job, answer_fd);
	/* All that it did is done: nothing delays its end. */
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return ret;
}

bool bounded_job_has_ended(pid_t left)
{
	return waitpid(left, NULL, WNOHANG) != 0;
}
