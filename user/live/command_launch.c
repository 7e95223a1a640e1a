// SPDX-License-Identifier: BSD-2-Clause
/* Starts a command in two steps: fork, and later exec. */
#include "live/command_launch.h"

#include <errno.h>
#include <stdio.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "source/alloc/sampler_library.h"

/* What shells say of a command that exists but cannot be started, and of one that does not. */
#define STATUS_NOT_STARTED 126
#define STATUS_NOT_FOUND   127

/* Where in the child something failed; text for people in explain_failure(). */
enum launch_stage { STAGE_RIGHTS, STAGE_EXEC };

/* What the child sends through the pipe; small enough to arrive whole. */
struct launch_failure {
	enum launch_stage stage;
	int errnum;
};

struct command {
	char *const *argv;
	pid_t pid;
	/* write end: a byte lets the child go on, closing it ends the child; -1 afterwards */
	int go_fd;
	int result_fd; /* read end: a launch_failure, or end of file once exec has closed it */
	bool is_reaped;
	int status;
};

/* ---- in the child: only until exec, and nothing of ours may be relied on ---- */

static void fail_child(int result_fd, enum launch_stage stage)
{
	struct launch_failure failure = {.stage = stage, .errnum = errno};

	(void)!write(result_fd, &failure, sizeof(failure));
	_exit(STATUS_NOT_FOUND);
}

/* sudo has set these for root; the command shall find what its user had. */
static void restore_environment(const struct invoking_user *user)
{
	static const char *const of_sudo[] = {"SUDO_UID", "SUDO_GID", "SUDO_USER", "SUDO_COMMAND"};

	if (user->name) {
		setenv("USER", user->name, 1);
		setenv("LOGNAME", user->name, 1);
	}
	if (user->home)
		setenv("HOME", user->home, 1);
	for (size_t i = 0; i < sizeof(of_sudo) / sizeof(of_sudo[0]); i++)
		unsetenv(of_sudo[i]);
}

/* Groups first: without root's rights they could not be changed any more. */
static int drop_rights(const struct invoking_user *user)
{
	int err;

	if (user->name)
		err = initgroups(user->name, user->gid);
	else
		err = setgroups(1, &user->gid);
	if (err < 0 || setresgid(user->gid, user->gid, user->gid) < 0 ||
	    setresuid(user->uid, user->uid, user->uid) < 0)
		return -errno;
	return 0;
}

/* Without reading: a byte from the pipe would be one that the command has received. */
static void wait_for_go(int go_fd)
{
	struct pollfd go = {.fd = go_fd, .events = POLLIN};

	while (poll(&go, 1, -1) < 0 && errno == EINTR)
		;
	if (!(go.revents & POLLIN))
		_exit(STATUS_NOT_STARTED); /* the parent has given up */
}

/* A library that cannot be read would make the loader complain on the command's stderr. */
static void add_sampler(const struct command_libraries *libraries)
{
	const char *others = getenv("LD_PRELOAD"), *sanitizer = getenv("ASAN_OPTIONS");
	char *list;

	if (!libraries->sampler[0] || access(libraries->sampler, R_OK))
		return;
	/* Before others: what they allocate counts as the program's. */
	if (asprintf(&list, "%s%s%s", libraries->sampler, others && *others ? ":" : "",
		     others ? others : "") < 0)
		return;
	setenv("LD_PRELOAD", list, 1);
	free(list);
	if (libraries->interval[0])
		setenv(SAMPLER_LIBRARY_INTERVAL, libraries->interval, 1);
	/* Address sanitizers refuse to start behind another library. The sampler does nothing
	 * there. */
	if (asprintf(&list, "%s%sverify_asan_link_order=0", sanitizer ? sanitizer : "",
		     sanitizer && *sanitizer ? ":" : "") >= 0) {
		setenv("ASAN_OPTIONS", list, 1);
		free(list);
	}
	if (libraries->python_objects)
		setenv("PYTHONMALLOC", "malloc", 1);
}

/* The headers of both load it when the program first marks something. What the user has set is the
 * user's choice. */
static void add_regions(const struct command_libraries *libraries)
{
	if (!libraries->regions[0] || access(libraries->regions, R_OK))
		return;
	setenv("NVTX_INJECTION64_PATH", libraries->regions, 0);
	setenv("INTEL_LIBITTNOTIFY64", libraries->regions, 0);
}

static void run_child(const struct command *command, const struct invoking_user *user,
		      const sigset_t *mask, const struct command_libraries *libraries, int go_fd,
		      int result_fd)
{
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (user->behind_sudo) {
		if (drop_rights(user) < 0)
			fail_child(result_fd, STAGE_RIGHTS);
		restore_environment(user);
	}
	if (libraries) {
		add_sampler(libraries);
		add_regions(libraries);
	}
	wait_for_go(go_fd);
	execvp(command->argv[0], command->argv);
	fail_child(result_fd, STAGE_EXEC);
}

/* ---- in the parent ---- */

static int pipe_pairs(int go[2], int result[2])
{
	if (pipe2(go, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(result, O_CLOEXEC) < 0) {
		int err = -errno;

		close(go[0]);
		close(go[1]);
		return err;
	}
	return 0;
}

struct command *command_launch(char *const argv[], const struct invoking_user *user,
			       const sigset_t *mask, const struct command_libraries *libraries,
			       struct error *error)
{
	struct command *command = calloc(1, sizeof(*command));
	int go[2], result[2];
	int err = command ? pipe_pairs(go, result) : -ENOMEM;

	if (err < 0)
		goto failed;
	command->argv = argv;
	command->pid = fork();
	err = -errno;
	if (command->pid == 0) {
		close(go[1]);
		close(result[0]);
		run_child(command, user, mask, libraries, go[0], result[1]);
	}
	close(go[0]);
	close(result[1]);
	command->go_fd = go[1];
	command->result_fd = result[0];
	if (command->pid > 0)
		return command;
	close(go[1]);
	close(result[0]);
failed:
	error_set(error, -err, "cannot start %s: %s", argv[0], strerror(-err));
	free(command);
	return NULL;
}

pid_t command_pid(const struct command *command)
{
	return command->pid;
}

static int explain_failure(const struct command *command, const struct launch_failure *failure,
			   struct error *error)
{
	const char *name = command->argv[0];

	if (failure->stage == STAGE_RIGHTS)
		return error_set(error, failure->errnum,
				 "cannot start %s: cannot switch to the user behind sudo: %s", name,
				 strerror(failure->errnum));
	if (failure->errnum == ENOENT && strchr(name, '/') && access(name, F_OK) == 0)
		return error_set(error, ENOENT,
				 "cannot start %s: its interpreter (#! line) or dynamic loader "
				 "does not exist",
				 name);
	if (failure->errnum == ENOENT && !strchr(name, '/'))
		return error_set(error, ENOENT, "cannot start %s: command not found in PATH", name);
	return error_set(error, failure->errnum, "cannot start %s: %s", name,
			 strerror(failure->errnum));
}

int command_release(struct command *command, struct error *error)
{
	struct launch_failure failure;
	ssize_t size;
	char byte = 0;

	/* EPIPE: the child is gone (killed); its wait status says how, the pipe below is at its
	 * end. */
	(void)!write(command->go_fd, &byte, 1);
	close(command->go_fd);
	command->go_fd = -1;
	do
		size = read(command->result_fd, &failure, sizeof(failure));
	while (size < 0 && errno == EINTR);
	if (size != (ssize_t)sizeof(failure))
		return 0;
	command_wait(command);
	return explain_failure(command, &failure, error);
}

int command_failure_status(int err)
{
	return err == -ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_STARTED;
}

void command_signal(struct command *command, int signal_number)
{
	/* Until it is waited for, the pid cannot belong to anybody else. */
	if (!command->is_reaped)
		kill(command->pid, signal_number);
}

int command_wait(struct command *command)
{
	pid_t got;
	int status = 0;

	if (command->is_reaped)
		return command->status;
	do
		got = waitpid(command->pid, &status, 0);
	while (got < 0 && errno == EINTR);
	command->is_reaped = true;
	if (WIFSIGNALED(status))
		command->status = 128 + WTERMSIG(status);
	else
		command->status = WEXITSTATUS(status);
	return command->status;
}

void command_free(struct command *command)
{
	if (!command)
		return;
	if (command->go_fd >= 0) {
		close(command->go_fd);
		command_wait(command);
	}
	close(command->result_fd);
	free(command);
}
