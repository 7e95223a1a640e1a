// SPDX-License-Identifier: BSD-2-Clause
#include "bench/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/thread_priority.h"
#include "bench/launched_process.h"
#include "live/command_launch.h"

/* Between the signal that asks a command to end and the one that ends it. */
#define GRACE_NS NS_PER_SECOND

struct launcher {
	pid_t pid;
	int fd; /* a request each way is one message */
};

struct launch_request {
	bool cancels;  /* what runs */
	bool holds;    /* tells the pid, and waits for the next request before the release */
	bool releases; /* what is held */
	uint32_t command;
	uint64_t timeout_ns;
};

/* ---- in the launcher's process ---- */

struct serving {
	const struct launcher_options *options;
	int request_fd, child_fd; /* signalfd of SIGCHLD */
	int null_fd;		  /* with readers; else -1 */
};

struct running {
	struct command *command;
	struct launch_result *result;
	uint64_t deadline_ns; /* UINT64_MAX: none */
	uint64_t stopped_since_ns;
};

static void signal_group(const struct running *running, int signal_number)
{
	/* Its own group, unless it has left that. */
	if (kill(-command_pid(running->command), signal_number) < 0)
		command_signal(running->command, signal_number);
	kill(-command_pid(running->command), SIGCONT);
}

/* First it is asked, then it is ended. */
static void end_command(struct running *running, uint64_t now_ns)
{
	signal_group(running, running->result->ended ? SIGKILL : SIGTERM);
	running->result->ended = true;
	running->deadline_ns = now_ns + GRACE_NS;
}

/* false: the owner is gone. */
static bool take_cancel(const struct serving *serving, struct running *running)
{
	struct launch_request request;
	ssize_t size = recv(serving->request_fd, &request, sizeof(request), 0);

	if (size <= 0) {
		signal_group(running, SIGKILL);
		return false;
	}
	if (request.cancels && !running->result->ended)
		end_command(running, clock_now_ns());
	return true;
}

/* Stops and their ends; true: the process has exited, and is not reaped. */
static bool look_at_child(struct running *running, uint64_t now_ns)
{
	int flags = WEXITED | WSTOPPED | WCONTINUED | WNOHANG;
	pid_t pid = command_pid(running->command);

	for (;;) {
		siginfo_t info = {0};

		if (waitid(P_PID, (id_t)pid, &info, flags | WNOWAIT) < 0 || !info.si_pid)
			return false;
		if (info.si_code != CLD_STOPPED && info.si_code != CLD_CONTINUED)
			break;
		waitid(P_PID, (id_t)pid, &info, WSTOPPED | WCONTINUED | WNOHANG);
		if (info.si_code == CLD_STOPPED && !running->stopped_since_ns)
			running->stopped_since_ns = now_ns;
		if (info.si_code == CLD_CONTINUED && running->stopped_since_ns) {
			running->result->stopped_ns += now_ns - running->stopped_since_ns;
			running->stopped_since_ns = 0;
		}
	}
	if (running->stopped_since_ns)
		running->result->stopped_ns += now_ns - running->stopped_since_ns;
	return true;
}

static int rest_ms(uint64_t deadline_ns, uint64_t now_ns)
{
	uint64_t rest_ns;

	if (deadline_ns == UINT64_MAX)
		return -1;
	rest_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
	return rest_ns / NS_PER_MS < 3600000 ? (int)(rest_ns / NS_PER_MS) + 1 : 3600000;
}

static bool wait_for_exit(const struct serving *serving, struct running *running)
{
	struct pollfd fds[] = {{.fd = serving->child_fd, .events = POLLIN},
			       {.fd = serving->request_fd, .events = POLLIN}};

	for (;;) {
		struct signalfd_siginfo info;
		uint64_t now_ns = clock_now_ns();

		if (look_at_child(running, now_ns)) {
			running->result->end_ns = now_ns;
			return true;
		}
		if (now_ns >= running->deadline_ns) {
			running->result->timed_out |= !running->result->ended;
			end_command(running, now_ns);
		}
		poll(fds, ARRAY_SIZE(fds), rest_ms(running->deadline_ns, now_ns));
		if (fds[0].revents)
			(void)!read(serving->child_fd, &info, sizeof(info));
		if (fds[1].revents && !take_cancel(serving, running))
			return false;
	}
}

/* What is left of it: adopted, since this process is the reaper of its descendants. What those used
 * that have ended is added to the result, for nobody else has waited for them; NULL: they are of a
 * run before. Returns how many are still there. */
static uint32_t reap_orphans(struct launch_result *result)
{
	siginfo_t info;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
			return 0;
		if (!info.si_pid)
			return launched_children();
		launched_orphan_reap(info.si_pid, result);
	}
}

/* Waits until the owner is ready. false: it is gone, or does not want the command any more. */
static bool hold(const struct serving *serving, struct running *running)
{
	struct launch_request request;
	struct launch_result held = {.held = command_pid(running->command)};

	return send(serving->request_fd, &held, sizeof(held), MSG_NOSIGNAL) > 0 &&
	       recv(serving->request_fd, &request, sizeof(request), 0) ==
		       (ssize_t)sizeof(request) &&
	       request.releases;
}

/* The command inherits them. */
static void set_streams(const struct serving *serving, uint32_t command)
{
	const struct launcher_options *options = serving->options;
	bool reads = command >= options->first_reader;
	char path[32];
	int input_fd = -1;

	if (!options->has_readers)
		return;
	if (reads) {
		/* An offset of its own: what an earlier run has left behind may write. */
		snprintf(path, sizeof(path), "/proc/self/fd/%d", options->output_fd);
		input_fd = open(path, O_RDONLY | O_CLOEXEC);
	} else if (command < options->writers) {
		lseek(options->output_fd, 0, SEEK_SET);
	}
	dup2(input_fd >= 0 ? input_fd : serving->null_fd, STDIN_FILENO);
	if (input_fd >= 0)
		close(input_fd);
	dup2(reads			  ? options->answer_fd
	     : command < options->writers ? options->output_fd
					  : serving->null_fd,
	     STDOUT_FILENO);
}

/* false: the owner is gone. */
static bool run_command(const struct serving *serving, const struct launch_request *request,
			struct launch_result *result)
{
	struct running running = {.result = result, .deadline_ns = UINT64_MAX};
	struct error error;
	bool owner_is_there = true, is_raised;
	int err;

	reap_orphans(NULL);
	set_streams(serving, request->command);
	result->fork_ns = clock_now_ns();
	running.command =
		command_launch(serving->options->commands[request->command], serving->options->user,
			       serving->options->mask, NULL, &error);
	if (!running.command) {
		result->failure = EAGAIN;
		memcpy(result->sentence, error.text, sizeof(result->sentence) - 1);
		return true;
	}
	/* So that all of it can be ended; the terminal's signals reach us alone. */
	setpgid(command_pid(running.command), command_pid(running.command));
	if (request->holds && !hold(serving, &running)) {
		command_free(running.command);
		return false;
	}
	/* So that the end of the command is seen when it comes. The command has been forked before,
	 * and does not inherit it. */
	is_raised = thread_priority_raise();
	result->start_ns = clock_now_ns();
	if (request->timeout_ns)
		running.deadline_ns = result->start_ns + request->timeout_ns;
	err = command_release(running.command, &error);
	if (err < 0) {
		result->failure = -err;
		memcpy(result->sentence, error.text, sizeof(result->sentence) - 1);
	} else {
		result->started = true;
		owner_is_there = wait_for_exit(serving, &running);
		if (owner_is_there)
			launched_process_read(command_pid(running.command), result);
		result->left_behind = reap_orphans(result);
	}
	if (is_raised)
		thread_priority_restore();
	command_free(running.command);
	return owner_is_there;
}

static void serve(const struct serving *serving)
{
	struct launch_request request;

	while (recv(serving->request_fd, &request, sizeof(request), 0) ==
	       (ssize_t)sizeof(request)) {
		struct launch_result result = {.command = request.command};

		if (request.cancels || request.releases) /* came after the end */
			continue;
		if (!run_command(serving, &request, &result) ||
		    send(serving->request_fd, &result, sizeof(result), MSG_NOSIGNAL) < 0)
			return;
	}
}

/* Commands inherit all of it. */
static void set_surroundings(const struct launcher_options *options)
{
	int null_fd = open("/dev/null", O_RDWR);

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	dup2(null_fd, STDIN_FILENO);
	if (!options->show_output) {
		dup2(null_fd, STDOUT_FILENO);
		dup2(null_fd, STDERR_FILENO);
	}
	if (null_fd > STDERR_FILENO)
		close(null_fd);
	if (options->no_aslr)
		personality((unsigned long)personality(0xffffffff) | ADDR_NO_RANDOMIZE);
	if (options->cpus)
		sched_setaffinity(0, sizeof(*options->cpus), options->cpus);
}

static void run_launcher(const struct launcher_options *options, int fd)
{
	struct serving serving = {.options = options, .request_fd = fd, .null_fd = -1};
	sigset_t set;

	set_surroundings(options);
	if (options->has_readers)
		serving.null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGCHLD, SIG_DFL);
	serving.child_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (serving.child_fd >= 0)
		serve(&serving);
	_exit(0);
}

/* ---- in the owner's ---- */

struct launcher *launcher_start(const struct launcher_options *options, struct error *error)
{
	struct launcher *launcher = calloc(1, sizeof(*launcher));
	int fds[2];

	if (!launcher || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0) {
		error_set(error, errno, "cannot start commands: %s", strerror(errno));
		free(launcher);
		return NULL;
	}
	launcher->pid = fork();
	if (launcher->pid == 0) {
		close(fds[0]);
		run_launcher(options, fds[1]);
	}
	close(fds[1]);
	launcher->fd = fds[0];
	if (launcher->pid > 0)
		return launcher;
	error_set(error, errno, "cannot start commands: %s", strerror(errno));
	close(launcher->fd);
	free(launcher);
	return NULL;
}

pid_t launcher_pid(const struct launcher *launcher)
{
	return launcher->pid;
}

int launcher_fd(const struct launcher *launcher)
{
	return launcher->fd;
}

static int send_request(struct launcher *launcher, const struct launch_request *request)
{
	return send(launcher->fd, request, sizeof(*request), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int launcher_hold(struct launcher *launcher, uint32_t command, uint64_t timeout_ns, pid_t *ret_pid)
{
	struct launch_result result;
	int err = send_request(launcher, &(struct launch_request){.holds = true,
								  .command = command,
								  .timeout_ns = timeout_ns});

	if (err == 0)
		err = launcher_result(launcher, &result);
	if (err == 0 && !result.held)
		err = -EAGAIN;
	if (err == 0)
		*ret_pid = result.held;
	return err;
}

int launcher_release(struct launcher *launcher)
{
	return send_request(launcher, &(struct launch_request){.releases = true});
}

int launcher_run(struct launcher *launcher, uint32_t command, uint64_t timeout_ns)
{
	return send_request(launcher,
			    &(struct launch_request){.command = command, .timeout_ns = timeout_ns});
}

void launcher_cancel(struct launcher *launcher)
{
	send_request(launcher, &(struct launch_request){.cancels = true});
}

int launcher_result(struct launcher *launcher, struct launch_result *ret_result)
{
	ssize_t size;

	do
		size = recv(launcher->fd, ret_result, sizeof(*ret_result), 0);
	while (size < 0 && errno == EINTR);
	return size == (ssize_t)sizeof(*ret_result) ? 0 : -EPIPE;
}

void launcher_free(struct launcher *launcher)
{
	if (!launcher)
		return;
	close(launcher->fd);
	while (waitpid(launcher->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(launcher);
}
