// SPDX-License-Identifier: BSD-2-Clause
#include "push/command_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"

#define ARGUMENTS_MAX 32
#define WORDS	      5
#define PAUSE_MS      50

void command_words_of(const struct alert_news *news, struct command_words *ret_words)
{
	snprintf(ret_words->rule, sizeof(ret_words->rule), "%s", news->rule->name);
	snprintf(ret_words->who, sizeof(ret_words->who), "%s", news->state->who);
	snprintf(ret_words->severity, sizeof(ret_words->severity), "%s", news->rule->severity);
	snprintf(ret_words->status, sizeof(ret_words->status), "%s",
		 news->fires ? "firing" : "resolved");
	snprintf(ret_words->text, sizeof(ret_words->text), "%s", news->state->text);
}

static size_t split(char *text, char **ret_words, size_t max)
{
	size_t count = 0;
	char *rest = text, *word;

	while (count + 1 < max && (word = strsep(&rest, " \t")))
		if (*word)
			ret_words[count++] = word;
	ret_words[count] = NULL;
	return count;
}

/* A file, so that a command that reads nothing blocks nobody. */
static int body_file(const char *body, size_t size)
{
	int fd = memfd_create("pkbpf-alert", MFD_CLOEXEC);

	if (fd >= 0 && (write(fd, body, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) < 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int start(char **arguments, char **environment, int body, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int err;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, body, STDIN_FILENO);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	err = posix_spawn(ret_pid, arguments[0], &actions, &attributes, arguments, environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return -err;
}

static int wait_for(pid_t pid, const char *name, unsigned int seconds, struct error *error)
{
	int status = 0;
	pid_t ended = 0;

	for (unsigned int i = 0; i < seconds * 1000 / PAUSE_MS && !ended; i++) {
		ended = waitpid(pid, &status, WNOHANG);
		if (!ended)
			poll(NULL, 0, PAUSE_MS);
	}
	if (!ended) {
		kill(-pid, SIGKILL);
		waitpid(pid, &status, 0);
		return error_set(error, EINVAL, "%s did not end within %u s", name, seconds);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return error_set(error, EINVAL, "%s ended with %s %d", name,
				 WIFEXITED(status) ? "status" : "signal",
				 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return 0;
}

int command_run(const char *command, const struct command_words *words, const char *body,
		size_t size, unsigned int seconds, struct error *error)
{
	const struct {
		const char *name, *value;
	} table[WORDS] = {{"RULE", words->rule},
			  {"WHO", words->who},
			  {"SEVERITY", words->severity},
			  {"STATUS", words->status},
			  {"TEXT", words->text}};
	char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	char *environment[WORDS + 2] = {path};
	char texts[WORDS][256];
	char *arguments[ARGUMENTS_MAX];
	_cleanup_free_ char *copy = strdup(command);
	_cleanup_close_ int file = body_file(body, size);
	pid_t pid;
	int err;

	if (!copy || file < 0 || !split(copy, arguments, ARGUMENTS_MAX))
		return error_set(error, EINVAL, "cannot start the command: out of memory");
	for (size_t i = 0; i < WORDS; i++) {
		snprintf(texts[i], sizeof(texts[i]), "PKBPF_ALERT_%s=%s", table[i].name,
			 table[i].value);
		environment[i + 1] = texts[i];
	}
	err = start(arguments, environment, file, &pid);
	if (err < 0)
		return error_set(error, EINVAL, "cannot start %s: %s", arguments[0],
				 strerror(-err));
	return wait_for(pid, arguments[0], seconds, error);
}
