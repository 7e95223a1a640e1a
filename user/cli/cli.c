// SPDX-License-Identifier: BSD-2-Clause
/* Finds the command, reads its options, runs it. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/near_match.h"
#include "cli/command_table.h"
#include "cli/console.h"
#include "cli/exit_status.h"
#include "cli/help.h"
#include "cli/option_parser.h"
#include "cli/version_text.h"

/* A file opened while 0, 1 or 2 is free would become stdin, stdout or stderr and get what is meant
 * for them. The place holders fail like the closed descriptors would: nothing to read, not
 * writable. */
static void fill_standard_fds(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
	}
}

static int finish_stdout(struct console *console)
{
	bool failed = ferror(stdout) != 0;
	int earlier = errno; /* of the last write that failed, when one has */

	errno = 0;
	if (fflush(stdout) == 0 && !failed)
		return EXIT_STATUS_DONE;
	if (failed && !errno)
		errno = earlier;
	if (errno == EPIPE) /* the reader has seen enough */
		return EXIT_STATUS_DONE;
	console_error(console, "cannot write to standard output: %s",
		      errno ? strerror(errno) : "write error");
	return EXIT_STATUS_FAILED;
}

/* "docter" or "reprot" alone is a mistyped command rather than something to profile. */
static bool refuse_near_command(const char *word, struct error *error)
{
	struct near_match near = {0};
	const struct command_row *row;

	if (word[0] == '-')
		return false;
	for (size_t i = 0; (row = command_at(i)); i++) {
		if (row->name)
			near_match_offer(&near, word, row->name);
	}
	if (near.word)
		error_set(error, EINVAL, "unknown command %s; did you mean %s?", word, near.word);
	return near.word != NULL;
}

static int run_command(const struct command_row *command, int argc, char **argv,
		       struct console *console)
{
	struct cli_options options;
	struct error error;
	int status;

	cli_options_init(&options);
	if (options_parse(command, argc, argv, &options, &error) < 0) {
		console_error(console, "%s", error.text);
		status = EXIT_STATUS_USAGE;
	} else if (options.show_help) {
		if (command->name || options.show_all_help)
			help_print(command, stdout);
		else
			help_print_first(stdout);
		status = finish_stdout(console);
	} else if (options.show_version) {
		version_print(stdout);
		status = finish_stdout(console);
	} else {
		console->quiet = options.quiet;
		console->verbosity = options.verbosity;
		status = command->run(&options, console);
		if (status == EXIT_STATUS_DONE)
			status = finish_stdout(console);
	}
	cli_options_done(&options);
	return status;
}

int cli_run(int argc, char **argv)
{
	struct console console = {.out = stderr};
	const struct command_row *command = command_at(0);
	struct error error;
	int first = argc > 0 ? 1 : 0;

	fill_standard_fds();
	if (argc > first) {
		const struct command_row *named = command_find(argv[first]);

		if (named) {
			command = named;
			first++;
		} else if (refuse_near_command(argv[first], &error)) {
			console_error(&console, "%s", error.text);
			return EXIT_STATUS_USAGE;
		}
	}
	return run_command(command, argc - first, argv + first, &console);
}
