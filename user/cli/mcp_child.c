// SPDX-License-Identifier: BSD-2-Clause
#include "cli/mcp_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/escape.h"
#include "cli/exit_status.h"

#define PAUSE_MS   20
#define PATIENCE_S 10 /* for a process that was asked to end */

void mcp_child_add(struct mcp_child *child, const char *word)
{
	if (child->count < MCP_CHILD_WORDS)
		child->words[child->count++] = word;
}

void mcp_child_add_option(struct mcp_child *child, const char *name, const char *value)
{
	if (!value)
		return;
	mcp_child_add(child, name);
	mcp_child_add(child, value);
}

static int start(const struct mcp_child *child, int out, int said, pid_t *ret_pid)
{
	extern char **environ;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, ours;
	int err;

	sigemptyset(&none);
	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGHUP);
	sigaddset(&ours, SIGPIPE);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, said, STDERR_FILENO);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &ours);
	/* A group of its own: Ctrl-C is passed on once, and not twice. */
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						      POSIX_SPAWN_SETPGROUP);
	err = posix_spawn(ret_pid, "/proc/self/exe", &actions, &attributes,
			  (char *const *)child->words, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return -err;
}

static off_t size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? st.st_size : 0;
}

/* 0: it has ended, with *ret_status. */
static int wait_for(const struct mcp_child *child, pid_t pid, int out, int *ret_status)
{
	uint64_t until_ns = clock_now_ns() + child->limit_seconds * NS_PER_SECOND;
	int err = 0;

	while (waitpid(pid, ret_status, WNOHANG) == 0) {
		if (child->is_cancelled(child->context))
			err = -ECANCELED;
		else if (clock_now_ns() > until_ns)
			err = -ETIMEDOUT;
		else if (size_of(out) > MCP_OUTPUT_MAX)
			err = -EFBIG;
		if (err < 0)
			break;
		poll(NULL, 0, PAUSE_MS);
	}
	if (err == 0)
		return 0;
	/* It takes its probes away first. */
	kill(pid, SIGTERM);
	for (int i = 0; waitpid(pid, ret_status, WNOHANG) == 0; i++) {
		if (i == PATIENCE_S * 1000 / PAUSE_MS)
			kill(pid, SIGKILL);
		poll(NULL, 0, PAUSE_MS);
	}
	return err;
}

static char *read_all(int fd)
{
	size_t size = (size_t)size_of(fd);
	char *text = malloc(size + 1);
	ssize_t count = text ? pread(fd, text, size, 0) : -1;

	if (count < 0) {
		free(text);
		return NULL;
	}
	text[count] = '\0';
	return text;
}

/* The last line that is no warning, without the program's name. */
static void find_sentence(char *text, char *sentence, size_t size)
{
	static const char name[] = "pkbpf: ", warning[] = "pkbpf: warning: ";
	char *line, *found = NULL;

	while ((line = strsep(&text, "\n")))
		if (*line && strncmp(line, warning, sizeof(warning) - 1) != 0)
			found = line;
	if (found && strncmp(found, name, sizeof(name) - 1) == 0)
		found += sizeof(name) - 1;
	escape_terminal(sentence, size, found ? found : "no reason is given");
}

static int tell(int err, int said, int status, struct error *error)
{
	_cleanup_free_ char *text = read_all(said);
	char sentence[ERROR_TEXT_SIZE - 64];

	switch (err) {
	case -ECANCELED:
		return error_set(error, ECANCELED, "cancelled");
	case -ETIMEDOUT:
		return error_set(error, ETIMEDOUT,
				 "no answer in time: ask for less, by from and to, pid, comm or "
				 "container");
	case -EFBIG:
		return error_set(error, EFBIG,
				 "the profile is larger than %u MiB: ask for less, by from and to, "
				 "pid, comm or container",
				 MCP_OUTPUT_MAX >> 20);
	default:
		break;
	}
	if (!text)
		return error_set(error, ENOMEM, "out of memory");
	if (WIFSIGNALED(status))
		return error_set(error, EIO, "pkbpf ended by signal %d", WTERMSIG(status));
	find_sentence(text, sentence, sizeof(sentence));
	return error_set(error, WEXITSTATUS(status) == EXIT_STATUS_EMPTY ? ENODATA : EIO, "%s",
			 sentence);
}

int mcp_child_run(const struct mcp_child *child, char **ret_text, struct error *error)
{
	_cleanup_close_ int out = memfd_create("pkbpf-answer", MFD_CLOEXEC);
	_cleanup_close_ int said = memfd_create("pkbpf-said", MFD_CLOEXEC);
	int status = 0, err;
	pid_t pid;

	if (out < 0 || said < 0)
		return error_set(error, errno, "cannot start pkbpf: %s", strerror(errno));
	err = start(child, out, said, &pid);
	if (err < 0)
		return error_set(error, -err, "cannot start pkbpf: %s", strerror(-err));
	err = wait_for(child, pid, out, &status);
	if (err < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return tell(err, said, status, error);
	*ret_text = read_all(out);
	return *ret_text ? 0 : error_set(error, ENOMEM, "out of memory");
}
