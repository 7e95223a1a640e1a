// SPDX-License-Identifier: BSD-2-Clause
#include "cli/serve_push.h"

#include <errno.h>
#include <unistd.h>

#include "cli/serve_config.h"
#include "history/history_time.h"

void serve_push_init(struct serve_push *push, struct console *console, struct store *store)
{
	*push = (struct serve_push){
		.console = console, .store = store, .start_unix_ns = history_time_now()};
	pthread_mutex_init(&push->lock, NULL);
}

static void say(void *context, const char *sentence)
{
	struct serve_push *push = context;

	console_error(push->console, "%s", sentence);
}

static void write_metrics(void *context, FILE *out)
{
	struct serve_push *push = context;

	web_write_metrics(push->web, true, out);
}

static void exchange(struct serve_push *push, struct pusher *pusher)
{
	struct pusher *before;

	pthread_mutex_lock(&push->lock);
	before = push->pusher;
	push->pusher = pusher;
	pthread_mutex_unlock(&push->lock);
	pusher_free(before);
}

int serve_push_configure(struct serve_push *push, struct web *web, const char *config)
{
	struct pusher_options options = {
		.store = push->store,
		.start_unix_ns = push->start_unix_ns,
		.say = say,
		.write_metrics = write_metrics,
		.context = push,
	};
	struct serve_config parsed;
	struct pusher *pusher = NULL;
	struct error error;
	int err = serve_config_read(config, &parsed, &error);

	push->web = web;
	options.targets = parsed.push;
	serve_config_done(&parsed);
	if (err < 0)
		return err;
	gethostname(options.host, sizeof(options.host) - 1);
	/* Two at a time would share their cursors. */
	exchange(push, NULL);
	if (!options.targets.count)
		return 0;
	pusher = pusher_new(&options);
	exchange(push, pusher);
	return pusher ? 0 : -ENOMEM;
}

void serve_push_write_metrics(void *context, FILE *out)
{
	struct serve_push *push = context;

	pthread_mutex_lock(&push->lock);
	if (push->pusher)
		pusher_write_metrics(push->pusher, out);
	pthread_mutex_unlock(&push->lock);
}

void serve_push_end(struct serve_push *push)
{
	exchange(push, NULL);
}

void serve_push_done(struct serve_push *push)
{
	pthread_mutex_destroy(&push->lock);
}
