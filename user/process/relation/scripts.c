// SPDX-License-Identifier: BSD-2-Clause
/* Finds the scripts that interpreters run: the process name python3 says little. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "process/relation/relation_writer.h"

static bool is_interpreter(const char *comm)
{
	static const char *const names[] = {"bash", "sh",   "dash", "zsh", "python", "perl",
					    "ruby", "node", "php",  "lua", "java"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(comm, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* Where the argument behind that at `at` begins; at or beyond size: there is none. */
static size_t next_argument(const char *arguments, size_t size, size_t at)
{
	return at < size ? at + strnlen(arguments + at, size - at) + 1 : size;
}

/* The first argument that is not an option; NULL: none. A NUL follows the last byte. */
static const char *script_of(const char *arguments, size_t size)
{
	size_t at = next_argument(arguments, size, 0);

	while (at < size) {
		const char *argument = arguments + at;

		/* "-c COMMAND" and the like: not a script. */
		if (!strcmp(argument, "-c") || !strcmp(argument, "-e"))
			return NULL;
		if (argument[0] != '-' && argument[0])
			return argument;
		at = next_argument(arguments, size, at);
		if (!strcmp(argument, "-cp") || !strcmp(argument, "-classpath"))
			at = next_argument(arguments, size, at);
	}
	return NULL;
}

void relation_scripts(const struct relation_writer *writer)
{
	char comm[PKBPF_COMM_SIZE + 1], path[64], arguments[1024];

	for (size_t i = 0; i < writer->pid_count; i++) {
		_cleanup_close_ int fd = -1;
		const char *script;
		ssize_t size;

		relation_read_comm(writer->pids[i], comm);
		if (!is_interpreter(comm))
			continue;
		snprintf(path, sizeof(path), "/proc/%u/cmdline", writer->pids[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		size = fd < 0 ? 0 : read(fd, arguments, sizeof(arguments) - 1);
		if (size <= 0)
			continue;
		arguments[size] = '\0';
		script = script_of(arguments, (size_t)size);
		if (script)
			relation_write(writer,
				       &(struct relation_view){.relation = PKBPF_RELATION_SCRIPT,
							       .pid = writer->pids[i],
							       .count = 1,
							       .text = script});
	}
}
