// SPDX-License-Identifier: BSD-2-Clause
/* Another configuration, while it runs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/option_parser.h"
#include "cli/serve_notify.h"
#include "cli/serve_private.h"

static void free_reread(struct cli_options *options)
{
	struct serve_options *own;

	if (!options)
		return;
	own = options->own;
	if (own) {
		free(own->text);
		free(own->applied);
	}
	cli_options_done(options);
	free(options);
}

/* NULL with the sentence: it has an error. */
static struct cli_options *reread(const struct serving *serving, struct error *error)
{
	struct cli_options *options = malloc(sizeof(*options));

	if (!options) {
		error_set(error, ENOMEM, "out of memory");
		return NULL;
	}
	cli_options_init(options);
	if (options_parse(&command_serve, serving->options->word_count, serving->options->words,
			  options, error) < 0) {
		/* What it was read from is freed by the check. */
		cli_options_done(options);
		free(options);
		return NULL;
	}
	return options;
}

/* What is before the first section is about the capture. */
static bool is_same_capture(const char *before, const char *after)
{
	size_t length = strcspn(before, "["), other = strcspn(after, "[");

	return length == other && strncmp(before, after, length) == 0;
}

/* Alerts and who is told change at once; other kinds, targets or rates begin a new capture. */
void serving_reload(struct serving *serving)
{
	const struct serve_options *own;
	struct cli_options *options;
	struct error error;

	serve_notify("RELOADING=1");
	options = reread(serving, &error);
	if (!options) {
		serve_front_configure(&serving->front, NULL);
		console_error(serving->console,
			      "the configuration stays as it was, for it has an error: %s",
			      error.text);
		serve_notify("READY=1");
		return;
	}
	own = options->own;
	if (serve_front_configure(&serving->front, own->text) < 0)
		console_error(serving->console, "the front is behind: alerts stay as they were");
	serving->restarts = !is_same_capture(serving->own.text, own->text);
	free_reread(serving->reread);
	serving->reread = options;
	console_note(serving->console, "read %s again%s", own->config,
		     serving->restarts ? "; the capture begins anew" : "");
	if (serving->restarts)
		stop_signals_request(serving->signals);
	else
		serve_notify("READY=1");
}

int serving_begin_anew(struct serving *serving, struct error *error)
{
	struct serve_options before = serving->own;
	int err;

	serving->restarts = false;
	live_run_free(serving->run);
	serving->run = NULL;
	serving_choose(serving, serving->reread ? serving->reread : serving->options);
	if (serving->reread) {
		free_reread(serving->used);
		serving->used = serving->reread;
		serving->reread = NULL;
	}
	serving->own.listen = before.listen;
	serving->own.store = before.store;
	err = live_run_new(&serving->live, &serving->run, error);
	if (err < 0)
		return err;
	live_run_keep_apart(serving->run);
	return live_run_set_stop(serving->run, stop_signals_fd(serving->signals), error);
}

void serving_done(struct serving *serving)
{
	live_run_free(serving->run);
	stop_signals_free(serving->signals);
	free_reread(serving->used);
	free_reread(serving->reread);
	free(serving->token);
}
