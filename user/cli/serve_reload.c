// SPDX-License-Identifier: BSD-2-Clause
/* Another configuration, while it runs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text_append.h"
#include "cli/option_parser.h"
#include "cli/serve_notify.h"
#include "cli/serve_private.h"
#include "cli/serve_token.h"

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

/* What is counted as too long is decided when a region is first seen. */
static bool has_same_limits(const struct region_options *before, const struct region_options *after)
{
	return !after->wanted ||
	       memcmp(&before->limits, &after->limits, sizeof(before->limits)) == 0;
}

static bool is_same(const char *before, const char *after)
{
	return before && after ? strcmp(before, after) == 0 : before == after;
}

void serve_fixed_changes(const struct serve_options *before, const struct serve_options *after,
			 char ret_names[SERVE_FIXED_SIZE])
{
	const struct {
		const char *name;
		bool is_same;
	} rows[] = {{"listen", is_same(before->listen, after->listen)},
		    {"store", is_same(before->store, after->store)},
		    {"store-size", before->store_bytes == after->store_bytes},
		    {"run-as", is_same(before->run_as, after->run_as)},
		    {"token-file", is_same(before->token_file, after->token_file)},
		    {"open-metrics", before->open_metrics == after->open_metrics}};

	ret_names[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!rows[i].is_same)
			text_append(ret_names, SERVE_FIXED_SIZE, "%s%s", ret_names[0] ? ", " : "",
				    rows[i].name);
}

/* The front cannot take it on: it has bound its socket and given up its rights. */
static void say_fixed(const struct serving *serving, const struct serve_options *after)
{
	struct serve_options complete = *after;
	char names[SERVE_FIXED_SIZE], *token = NULL;
	struct error unused;

	serve_options_complete(&complete);
	serve_fixed_changes(&serving->first, &complete, names);
	if (!names[0] && serving->token && after->token_file &&
	    serve_token_read(after->token_file, &token, &unused) == 0 &&
	    strcmp(token, serving->token) != 0)
		snprintf(names, sizeof(names), "the token");
	free(token);
	if (names[0])
		console_error(serving->console,
			      "%s: changed, but only another start of pkbpf serve takes that on",
			      names);
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
	say_fixed(serving, own);
	if (serve_front_configure(&serving->front, own->text) < 0)
		console_error(serving->console, "the front is behind: alerts stay as they were");
	serving->restarts =
		!is_same_capture(serving->own.text, own->text) ||
		!has_same_limits(&serving->live.sources.regions, &options->live.sources.regions);
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
