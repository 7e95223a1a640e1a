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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pkbpf/python_calls.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "live/command_environment.h"
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

/* All that would need memory or a user database after fork(), where another thread may have held
 * the lock of either. */
struct launch_plan {
	const struct invoking_user *user;
	const sigset_t *mask;
	const struct command_libraries *libraries; /* NULL: none */
	gid_t *groups;				   /* of the user behind sudo */
	int group_count;
	struct command_environment plain, with_libraries;
};

/* ---- the plan ---- */

/* sudo has set these for root; the command shall find what its user had. */
static int restore_environment(struct command_environment *environment,
			       const struct invoking_user *user)
{
	static const char *const of_sudo[] = {"SUDO_UID", "SUDO_GID", "SUDO_USER", "SUDO_COMMAND"};
	int err = 0;

	if (user->name)
		err = command_environment_set(environment, "USER", user->name);
	if (user->name && !err)
		err = command_environment_set(environment, "LOGNAME", user->name);
	if (user->home && !err)
		err = command_environment_set(environment, "HOME", user->home);
	for (size_t i = 0; i < ARRAY_SIZE(of_sudo); i++)
		command_environment_unset(environment, of_sudo[i]);
	return err;
}

/* Joins two values; either may be missing. */
static int set_joined(struct command_environment *environment, const char *name, const char *first,
		      const char *second)
{
	bool has_both = first && *first && second && *second;
	_cleanup_free_ char *value = NULL;

	if (asprintf(&value, "%s%s%s", first ? first : "", has_both ? ":" : "",
		     second ? second : "") < 0)
		return -ENOMEM;
	return command_environment_set(environment, name, value);
}

static int add_sampler(struct command_environment *environment,
		       const struct command_libraries *libraries)
{
	int err;

	if (!libraries->sampler[0])
		return 0;
	/* Before others: what they allocate counts as the program's. */
	err = set_joined(environment, "LD_PRELOAD", libraries->sampler,
			 command_environment_get(environment, "LD_PRELOAD"));
	if (!err && libraries->interval[0])
		err = command_environment_set(environment, SAMPLER_LIBRARY_INTERVAL,
					      libraries->interval);
	/* Address sanitizers refuse to start behind another library. The sampler does nothing
	 * there. */
	err = err ? err
		  : set_joined(environment, "ASAN_OPTIONS",
			       command_environment_get(environment, "ASAN_OPTIONS"),
			       "verify_asan_link_order=0");
	if (!err && libraries->python_objects)
		err = command_environment_set(environment, "PYTHONMALLOC", "malloc");
	return err;
}

/* The headers of both load it when the program first marks something. What the user has set is the
 * user's choice. */
static int add_regions(struct command_environment *environment,
		       const struct command_libraries *libraries)
{
	static const char *const names[] = {"NVTX_INJECTION64_PATH", "INTEL_LIBITTNOTIFY64"};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names) && libraries->regions[0] && !err; i++) {
		if (!command_environment_get(environment, names[i]))
			err = command_environment_set(environment, names[i], libraries->regions);
	}
	return err;
}

static int add_python_calls(struct command_environment *environment,
			    const struct command_libraries *libraries)
{
	int err;

	if (!libraries->python_calls[0])
		return 0;
	err = set_joined(environment, "LD_PRELOAD",
			 command_environment_get(environment, "LD_PRELOAD"),
			 libraries->python_calls);
	return err ? err
		   : command_environment_set(environment, PKBPF_PYTHON_CALLS_VARIABLE,
					     libraries->python_folder);
}

static int plan_environment(struct launch_plan *plan)
{
	int err = command_environment_copy(environ, &plan->plain);

	if (!err && plan->user->behind_sudo)
		err = restore_environment(&plan->plain, plan->user);
	if (err || !plan->libraries)
		return err;
	err = command_environment_copy(plan->plain.words.items, &plan->with_libraries);
	err = err ? err : add_sampler(&plan->with_libraries, plan->libraries);
	err = err ? err : add_python_calls(&plan->with_libraries, plan->libraries);
	return err ? err : add_regions(&plan->with_libraries, plan->libraries);
}

static int plan_groups(struct launch_plan *plan)
{
	const struct invoking_user *user = plan->user;
	int count = 1, last;

	do {
		gid_t *groups = realloc(plan->groups, (size_t)count * sizeof(*groups));

		if (!groups)
			return -ENOMEM;
		plan->groups = groups;
		groups[0] = user->gid;
		plan->group_count = last = count;
		/* Tells how many there are when they find no room. */
	} while (user->name && getgrouplist(user->name, user->gid, plan->groups, &count) < 0 &&
		 count > last);
	plan->group_count = count;
	return 0;
}

static void plan_done(struct launch_plan *plan)
{
	free(plan->groups);
	command_environment_done(&plan->plain);
	command_environment_done(&plan->with_libraries);
}

/* ---- in the child: only until exec, and nothing of ours may be relied on ---- */

static void fail_child(int result_fd, enum launch_stage stage)
{
	struct launch_failure failure = {.stage = stage, .errnum = errno};

	(void)!write(result_fd, &failure, sizeof(failure));
	_exit(STATUS_NOT_FOUND);
}

/* Groups first: without root's rights they could not be changed any more. By system calls: the C
 * library would ask threads for it that are not here. */
static bool drop_rights(const struct launch_plan *plan)
{
	const struct invoking_user *user = plan->user;

	return syscall(SYS_setgroups, plan->group_count, plan->groups) == 0 &&
	       syscall(SYS_setresgid, user->gid, user->gid, user->gid) == 0 &&
	       syscall(SYS_setresuid, user->uid, user->uid, user->uid) == 0;
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

static bool can_read(const char *path)
{
	return !path[0] || access(path, R_OK) == 0;
}

/* A library that the user cannot read would make the loader complain on the command's stderr. All
 * are installed in one folder. */
static bool can_read_libraries(const struct command_libraries *libraries)
{
	return libraries && can_read(libraries->sampler) && can_read(libraries->regions) &&
	       can_read(libraries->python_calls);
}

static void run_child(const struct command *command, const struct launch_plan *plan, int go_fd,
		      int result_fd)
{
	const struct command_environment *environment = &plan->plain;

	sigprocmask(SIG_SETMASK, plan->mask, NULL);
	if (plan->user->behind_sudo && !drop_rights(plan))
		fail_child(result_fd, STAGE_RIGHTS);
	if (can_read_libraries(plan->libraries))
		environment = &plan->with_libraries;
	wait_for_go(go_fd);
	execvpe(command->argv[0], command->argv, environment->words.items);
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
	_cleanup_(plan_done) struct launch_plan plan = {
		.user = user, .mask = mask, .libraries = libraries};
	struct command *command = calloc(1, sizeof(*command));
	int go[2], result[2];
	int err = command ? plan_environment(&plan) : -ENOMEM;

	if (!err && user->behind_sudo)
		err = plan_groups(&plan);
	err = err ? err : pipe_pairs(go, result);
	if (err < 0)
		goto failed;
	command->argv = argv;
	command->pid = fork();
	err = -errno;
	if (command->pid == 0) {
		close(go[1]);
		close(result[0]);
		run_child(command, &plan, go[0], result[1]);
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
