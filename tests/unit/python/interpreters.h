/* SPDX-License-Identifier: BSD-2-Clause */
/* The Python interpreters that tests run: the system's, or those that PKBPF_PYTHONS names,
 * separated by colons. */
#ifndef PKBPF_TEST_INTERPRETERS_H
#define PKBPF_TEST_INTERPRETERS_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define INTERPRETERS_MAX 16

struct interpreters {
	char *text;
	const char *paths[INTERPRETERS_MAX];
	size_t count;
};

static inline void interpreters_find(struct interpreters *interpreters)
{
	const char *wanted = getenv("PKBPF_PYTHONS");
	char *rest;

	*interpreters = (struct interpreters){.text = strdup(wanted ? wanted : "/usr/bin/python3")};
	for (char *path = strtok_r(interpreters->text, ":", &rest);
	     path && interpreters->count < INTERPRETERS_MAX; path = strtok_r(NULL, ":", &rest))
		if (access(path, X_OK) == 0)
			interpreters->paths[interpreters->count++] = path;
}

static inline void interpreters_done(struct interpreters *interpreters)
{
	free(interpreters->text);
}

/* A script that runs in an interpreter and writes to `out`. */
struct script {
	pid_t pid;
	FILE *out;
};

static inline struct script script_start(const char *interpreter, const char *path)
{
	struct script script = {0};
	int ends[2];

	if (pipe(ends))
		abort();
	script.pid = fork();
	if (script.pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		execl(interpreter, interpreter, path, NULL);
		_exit(127);
	}
	close(ends[1]);
	script.out = fdopen(ends[0], "r");
	if (script.pid < 0 || !script.out)
		abort();
	return script;
}

static inline void script_end(struct script *script)
{
	fclose(script->out);
	kill(script->pid, SIGKILL);
	waitpid(script->pid, NULL, 0);
}

#endif
