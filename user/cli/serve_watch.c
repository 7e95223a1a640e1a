// SPDX-License-Identifier: BSD-2-Clause
#include "cli/serve_watch.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/timed_wait.h"

/* One of both. */
struct item {
	struct item *next;
	struct profile *slice;
	char *text;
};

struct serve_watch {
	struct serve_watch_ops ops;
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t news;
	struct item *first, **last;
	size_t slices; /* that wait */
	uint64_t skipped;
	bool is_behind; /* it was said */
	bool stops;
};

static void free_item(struct item *item)
{
	if (!item)
		return;
	profile_free(item->slice);
	free(item->text);
	free(item);
}

/* ---- the watch's thread ---- */

/* NULL: nothing has come for a while, or the end. *ret_is_newest: no slice waits behind it. */
static struct item *next_item(struct serve_watch *watch, bool *ret_is_newest, bool *ret_ends)
{
	uint64_t until_ns = clock_now_ns() + SERVE_WATCH_TICK_NS;
	struct item *item;

	pthread_mutex_lock(&watch->lock);
	while (!watch->first && !watch->stops)
		if (!timed_wait(&watch->news, &watch->lock, until_ns))
			break;
	item = watch->first;
	if (item) {
		watch->first = item->next;
		if (!watch->first)
			watch->last = &watch->first;
		watch->slices -= item->slice != NULL;
	}
	*ret_is_newest = !watch->slices;
	*ret_ends = !item && watch->stops;
	pthread_mutex_unlock(&watch->lock);
	return item;
}

static void count_skipped(struct serve_watch *watch)
{
	pthread_mutex_lock(&watch->lock);
	watch->skipped++;
	pthread_mutex_unlock(&watch->lock);
}

static void take_slice(struct serve_watch *watch, const struct profile *slice, bool is_newest)
{
	const struct resource_rows *rows;
	struct results results;

	results_init(&results, slice, ROWS_BY_CONTAINER);
	/* Without memory rules are looked at with the next one. */
	if (results_rows(&results, &rows) < 0) {
		count_skipped(watch);
	} else if (is_newest) {
		watch->ops.look(watch->ops.context, rows);
	} else {
		watch->ops.note(watch->ops.context, rows);
		count_skipped(watch);
	}
	results_done(&results);
}

static void *watch_all(void *context)
{
	struct serve_watch *watch = context;
	bool is_newest, ends;

	for (;;) {
		struct item *item = next_item(watch, &is_newest, &ends);

		if (ends)
			break;
		if (!item)
			watch->ops.tick(watch->ops.context);
		else if (item->slice)
			take_slice(watch, item->slice, is_newest);
		else
			watch->ops.configure(watch->ops.context, item->text);
		free_item(item);
	}
	watch->ops.end(watch->ops.context);
	return NULL;
}

/* ---- the thread that stores ---- */

struct serve_watch *serve_watch_start(const struct serve_watch_ops *ops)
{
	struct serve_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	watch->ops = *ops;
	watch->last = &watch->first;
	pthread_mutex_init(&watch->lock, NULL);
	timed_wait_init(&watch->news);
	if (pthread_create(&watch->thread, NULL, watch_all, watch) != 0) {
		pthread_cond_destroy(&watch->news);
		pthread_mutex_destroy(&watch->lock);
		free(watch);
		return NULL;
	}
	return watch;
}

static struct item *first_slice(struct serve_watch *watch, struct item ***ret_link)
{
	struct item **link = &watch->first;

	while (*link && !(*link)->slice)
		link = &(*link)->next;
	*ret_link = link;
	return *link;
}

/* Returns the oldest slice that waits if there are too many. */
static struct item *make_room(struct serve_watch *watch)
{
	struct item **link, *oldest;

	if (watch->slices < SERVE_WATCH_MAX)
		return NULL;
	oldest = first_slice(watch, &link);
	*link = oldest->next;
	if (!*link)
		watch->last = link;
	watch->slices--;
	watch->skipped++;
	return oldest;
}

static void enqueue(struct serve_watch *watch, struct item *item)
{
	struct item *skipped = NULL;
	bool says = false;

	pthread_mutex_lock(&watch->lock);
	if (item->slice) {
		skipped = make_room(watch);
		watch->slices++;
		says = skipped && !watch->is_behind;
		/* Until it has caught up, once. */
		watch->is_behind = skipped || (watch->is_behind && watch->slices > 1);
	}
	*watch->last = item;
	watch->last = &item->next;
	pthread_cond_signal(&watch->news);
	pthread_mutex_unlock(&watch->lock);
	free_item(skipped);
	if (says)
		watch->ops.say(
			watch->ops.context,
			"alert rules take longer than slices: some slices are stored, but no "
			"rule is held against them (pkbpf_watch_skipped_total); use fewer rules, "
			"or "
			"a longer --interval");
}

void serve_watch_add(struct serve_watch *watch, struct profile *slice)
{
	struct item *item = calloc(1, sizeof(*item));

	if (!item) {
		profile_free(slice);
		count_skipped(watch);
		return;
	}
	item->slice = slice;
	enqueue(watch, item);
}

void serve_watch_configure(struct serve_watch *watch, char *text)
{
	struct item *item = calloc(1, sizeof(*item));

	if (!item) {
		free(text);
		watch->ops.say(watch->ops.context,
			       "the configuration stays as it was: out of memory");
		return;
	}
	item->text = text;
	enqueue(watch, item);
}

void serve_watch_write_metrics(struct serve_watch *watch, FILE *out)
{
	uint64_t skipped;
	size_t waiting;

	pthread_mutex_lock(&watch->lock);
	skipped = watch->skipped;
	waiting = watch->slices;
	pthread_mutex_unlock(&watch->lock);
	fprintf(out,
		"# HELP pkbpf_watch_waiting_slices stored slices that alert rules are still to be "
		"held against\n# TYPE pkbpf_watch_waiting_slices gauge\n"
		"pkbpf_watch_waiting_slices %zu\n"
		"# HELP pkbpf_watch_skipped_total stored slices that no alert rule was held "
		"against, "
		"for want of time\n# TYPE pkbpf_watch_skipped_total counter\n"
		"pkbpf_watch_skipped_total %" PRIu64 "\n",
		waiting, skipped);
}

void serve_watch_end(struct serve_watch *watch)
{
	pthread_mutex_lock(&watch->lock);
	watch->stops = true;
	pthread_cond_signal(&watch->news);
	pthread_mutex_unlock(&watch->lock);
	pthread_join(watch->thread, NULL);
}

void serve_watch_free(struct serve_watch *watch)
{
	pthread_cond_destroy(&watch->news);
	pthread_mutex_destroy(&watch->lock);
	free(watch);
}
