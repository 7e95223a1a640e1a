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
#include "base/clock.h"

#define WORDS	 5
#define PAUSE_MS 50

void command_words_of(const struct alert_news *news, struct command_words *ret_words)
{
	snprintf(ret_words->rule, sizeof(ret_words->rule), "%s", news->rule->name);
	snprintf(ret_words->who, sizeof(ret_words->who), "%s", news->state->who);
	snprintf(ret_words->severity, sizeof(ret_words->severity), "%s", news->rule->severity);
	snprintf(ret_words->status, sizeof(ret_words->status), "%s",
		 news->fires ? "firing" : "resolved");
	snprintf(ret_words->text, sizeof(ret_words->text), "%s", news->state->text);
}

/* Returns how many words there are, which may be more than are stored. */
static size_t split(char *text, char *ret_words[COMMAND_ARGUMENTS_MAX + 1])
{
	size_t count = 0;
	char *rest = text, *word;

	while ((word = strsep(&rest, " \t"))) {
		if (*word && count < COMMAND_ARGUMENTS_MAX)
			ret_words[count] = word;
		count += *word != '\0';
	}
	ret_words[count < COMMAND_ARGUMENTS_MAX ? count : COMMAND_ARGUMENTS_MAX] = NULL;
	return count;
}

int command_check(const char *line, struct error *error)
{
	_cleanup_free_ char *copy = strdup(line);
	char *words[COMMAND_ARGUMENTS_MAX + 1];
	size_t count = copy ? split(copy, words) : 0;

	if (count <= COMMAND_ARGUMENTS_MAX)
		return 0;
	return error_set(error, EINVAL,
			 "the command has %zu words, at most %d are possible: put it into a script",
			 count, COMMAND_ARGUMENTS_MAX);
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
	sigset_t none, all;
	int err;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, body, STDIN_FILENO);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setpgroup(&attributes, 0);
	/* What is ignored here (SIGPIPE, SIGXFSZ) would be there. */
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						      POSIX_SPAWN_SETPGROUP);
	err = posix_spawn(ret_pid, arguments[0], &actions, &attributes, arguments, environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return -err;
}

static bool is_cancelled(const struct command *command)
{
	return command->is_cancelled && command->is_cancelled(command->context);
}

static int wait_for(pid_t pid, const char *name, const struct command *command, struct error *error)
{
	uint64_t until_ns = clock_now_ns() + command->seconds * NS_PER_SECOND;
	int status = 0;
	pid_t ended = 0;

	while (!ended && clock_now_ns() < until_ns && !is_cancelled(command)) {
		ended = waitpid(pid, &status, WNOHANG);
		if (!ended)
			poll(NULL, 0, PAUSE_MS);
	}
	if (!ended) {
		kill(-pid, SIGKILL);
		waitpid(pid, &status, 0);
		return clock_now_ns() < until_ns
			       ? error_set(error, EINVAL, "%s was killed: pkbpf ends", name)
			       : error_set(error, EINVAL, "%s did not end within %u s", name,
					   command->seconds);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return error_set(error, EINVAL, "%s ended with %s %d", name,
				 WIFEXITED(status) ? "status" : "signal",
				 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return 0;
}

int command_run(const struct command *command, struct error *error)
{
	const struct command_words *words = command->words;
	const struct {
		const char *name, *value;
	} table[WORDS] = {{"RULE", words->rule},
			  {"WHO", words->who},
			  {"SEVERITY", words->severity},
			  {"STATUS", words->status},
			  {"TEXT", words->text}};
	char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	char *environment[WORDS + 2] = {path};
	char texts[WORDS][sizeof("PKBPF_ALERT_SEVERITY=") + sizeof(words->text)];
	char *arguments[COMMAND_ARGUMENTS_MAX + 1];
	_cleanup_free_ char *copy = strdup(command->line);
	_cleanup_close_ int file = body_file(command->body, command->size);
	pid_t pid;
	int err;

	if (!copy || file < 0 || !split(copy, arguments))
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
	return wait_for(pid, arguments[0], command, error);
}
