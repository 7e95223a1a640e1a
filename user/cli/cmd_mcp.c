// SPDX-License-Identifier: BSD-2-Clause
/* `pkbpf mcp`: recordings and histories for programs that ask, by the Model Context Protocol on
 * standard input and output. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/command_table.h"
#include "cli/exit_status.h"
#include "cli/mcp_input.h"
#include "cli/mcp_sources.h"
#include "cli/serve_defaults.h"
#include "mcp/mcp_server.h"

#define ANSWER_TOKENS 2000

struct mcp_options {
	bool allow_profile;
	unsigned int answer_tokens; /* 0: the default */
	const char *token_file;
};

struct serving {
	struct mcp_input input;
	struct mcp_server server;
	struct mcp_sources *sources;
	char *id; /* of the request that is worked on; NULL: none */
	bool is_cancelled;
};

static volatile sig_atomic_t stop;

static void note_stop(int number)
{
	(void)number;
	stop = 1;
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = note_stop};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	/* A client that is gone is a failed write. */
	signal(SIGPIPE, SIG_IGN);
}

static bool is_cancelled(void *context)
{
	struct serving *serving = context;

	if (!stop && serving->id && mcp_input_cancels(&serving->input, serving->id))
		serving->is_cancelled = true;
	return stop || serving->is_cancelled;
}

/* A line: false: nobody reads it. */
static bool send_line(const char *line)
{
	return fputs(line, stdout) != EOF && fputc('\n', stdout) != EOF && fflush(stdout) == 0;
}

static bool answer_line(struct serving *serving, const char *line, size_t size)
{
	_cleanup_free_ char *answer = NULL;
	/* The input may move its bytes while a tool works. */
	_cleanup_free_ char *message = strndup(line, size);
	bool sent = true;

	if (!message)
		return false;
	serving->id = mcp_message_id(message, size);
	serving->is_cancelled = false;
	answer = mcp_server_answer(&serving->server, message, strlen(message));
	if (answer && !serving->is_cancelled && !stop)
		sent = send_line(answer);
	free(serving->id);
	serving->id = NULL;
	return sent;
}

static bool refuse_long(void)
{
	_cleanup_free_ char *answer = mcp_server_refuse_long();

	return answer && send_line(answer);
}

static int serve(struct serving *serving, struct console *console)
{
	const char *line;
	bool goes_on = true;
	size_t size;
	int err = 0;

	while (goes_on && !stop) {
		err = mcp_input_next(&serving->input, &line, &size);
		if (err == -EFBIG)
			goes_on = refuse_long();
		else if (err > 0 && size)
			goes_on = answer_line(serving, line, size);
		else if (err <= 0)
			break;
	}
	if (err < 0 && err != -EINTR && err != -EFBIG) {
		console_error(console, "cannot read requests: %s", strerror(-err));
		return EXIT_STATUS_FAILED;
	}
	/* Not an error of this side: the client is gone. */
	return EXIT_STATUS_DONE;
}

static int add_sources(struct mcp_sources *sources, const struct cli_options *options,
		       struct error *error)
{
	const struct mcp_options *own = options->own;
	int err = 0;

	for (size_t i = 0; i < options->files.count && err == 0; i++)
		err = mcp_sources_add(sources, options->files.items[i], error);
	if (options->files.count)
		return err;
	if (access(SERVE_STORE, R_OK | X_OK) == 0)
		return mcp_sources_add(sources, SERVE_STORE, error);
	if (own->allow_profile)
		return 0;
	return error_set(error, ENOENT,
			 "nothing to ask: name recordings, the store of pkbpf serve, or its "
			 "address (http://127.0.0.1:7747); or start with --allow-profile");
}

static int mcp_run(const struct cli_options *options, struct console *console)
{
	const struct mcp_options *own = options->own;
	struct serving serving = {.input = {.fd = STDIN_FILENO}};
	struct mcp_sources_options sources = {own->token_file, own->allow_profile, is_cancelled,
					      &serving};
	struct mcp_backend backend;
	struct error error;
	int status = EXIT_STATUS_FAILED;

	serving.sources = mcp_sources_new(&sources);
	if (!serving.sources) {
		console_error(console, "cannot serve: out of memory");
		return status;
	}
	if (add_sources(serving.sources, options, &error) < 0) {
		console_error(console, "%s", error.text);
	} else {
		backend = mcp_sources_backend(serving.sources);
		serving.server = (struct mcp_server){
			.backend = &backend,
			.version = PKBPF_VERSION,
			.answer_tokens = own->answer_tokens ? own->answer_tokens : ANSWER_TOKENS,
		};
		catch_signals();
		status = serve(&serving, console);
	}
	mcp_input_done(&serving.input);
	mcp_sources_free(serving.sources);
	return status;
}

#define OWN(member) OPTION_AT(struct mcp_options, member)

static const struct option_row own_options[] = {
	{0, "allow-profile", NULL, "offer a tool that profiles a process, a container or the host",
	 .text = "Needs the rights that profiling needs. Its recordings are kept in a directory "
		 "below "
		 "TMPDIR or /tmp until the end.",
	 .group = OPTION_GROUP_TARGETS, .form = OPTION_FLAG, OWN(allow_profile)},
	{0, "answer-tokens", "N", "maximum length of an answer, 1000 to 20000 tokens; default 2000",
	 .text = "A token is counted as three bytes.", .group = OPTION_GROUP_OUTPUT,
	 .form = OPTION_NUMBER, OWN(answer_tokens), .least = 1000, .most = 20000},
	{0, "token-file", "FILE", "the token that a server asks for", .group = OPTION_GROUP_TARGETS,
	 .completes = OPTION_COMPLETES_FILE, .form = OPTION_TEXT, OWN(token_file)},
	{0},
};

const struct command_row command_mcp = {
	.name = "mcp",
	.synopsis = "mcp [OPTIONS] [FILE|DIR|http://ADDRESS:PORT]...",
	.summary = "Serves recordings and histories to agents (Model Context Protocol on stdio)",
	.options = (const char *const[]){NULL},
	.own_options = own_options,
	.own_size = sizeof(struct mcp_options),
	.takes_files = true,
	.run = mcp_run,
};
