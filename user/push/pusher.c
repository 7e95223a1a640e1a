// SPDX-License-Identifier: BSD-2-Clause
#include "push/pusher.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/durable_file.h"
#include "base/escape.h"
#include "base/file_io.h"
#include "history/history_time.h"
#include "push/http_client.h"
#include "push/otlp_metrics.h"
#include "push/otlp_profiles.h"
#include "push/pyroscope.h"

#define SECOND		((int64_t)NS_PER_SECOND)
#define LOOK_SECONDS	1
#define TIMEOUT_SECONDS 10
#define BACKOFF_MAX	300
/* A window is there some seconds after its end. */
#define EDGE_NS	  SECOND
#define CURSORS	  "cursor"
#define NAME_SIZE 80
/* With that many refusals in a row, it is asked once an hour. */
#define REFUSALS_MAX 5

struct target_state {
	int64_t next_unix_ns; /* of the next try */
	int64_t cursor_unix_ns;
	unsigned int failures, refusals; /* in a row */
	uint64_t sent, failed, dropped;
	int64_t lag_ns;
};

struct pusher {
	struct pusher_options options;
	int64_t start_unix_ns;
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t news;
	bool stops;
	struct target_state states[PUSH_TARGETS_MAX];
	struct http_client *client; /* the thread's */
};

static void say(const struct pusher *pusher, const struct push_target *target, const char *what,
		const char *why)
{
	char sentence[1024], clean[600];

	snprintf(sentence, sizeof(sentence), "push to %s: %s: %s", target->name, what,
		 escape_terminal(clean, sizeof(clean), why));
	pusher->options.say(pusher->options.context, sentence);
}

/* ---- cursors ---- */

static int64_t read_cursor(const struct pusher *pusher, const struct push_target *target)
{
	char name[NAME_SIZE], *text;
	int64_t cursor = 0;
	size_t size;

	snprintf(name, sizeof(name), CURSORS "/%s", target->name);
	if (file_read_all(store_root(pusher->options.store), name, 64, &text, &size) < 0)
		return 0;
	if (sscanf(text, "%" SCNd64, &cursor) != 1)
		cursor = 0;
	free(text);
	return cursor;
}

/* A cursor that cannot be written is where it was at the next start: sent twice, not lost. */
static void write_cursor(const struct pusher *pusher, const struct push_target *target,
			 int64_t cursor)
{
	int root = store_root(pusher->options.store), folder;
	struct durable_file file;
	char temporary[NAME_SIZE];

	mkdirat(root, CURSORS, 0700);
	folder = openat(root, CURSORS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0)
		return;
	snprintf(temporary, sizeof(temporary), "%s.new", target->name);
	if (durable_file_open(&file, folder, temporary, 0600) == 0) {
		fprintf(file.stream, "%" PRId64 "\n", cursor);
		durable_file_close(&file, target->name, 0);
	}
	close(folder);
}

/* ---- trying again ---- */

static void note_success(struct pusher *pusher, struct target_state *state)
{
	pthread_mutex_lock(&pusher->lock);
	state->failures = state->refusals = 0;
	state->sent++;
	pthread_mutex_unlock(&pusher->lock);
}

/* Waits longer each time, and by chance, so that a fleet does not come back as one. */
static void note_failure(struct pusher *pusher, const struct push_target *target,
			 struct target_state *state, unsigned int retry_after, const char *why)
{
	unsigned int seconds = state->failures < 9 ? 1U << state->failures : BACKOFF_MAX;

	if (seconds > BACKOFF_MAX)
		seconds = BACKOFF_MAX;
	seconds = 1 + (unsigned int)random() % seconds;
	if (retry_after > seconds)
		seconds = retry_after;
	if (!state->failures)
		say(pusher, target, "will be tried again", why);
	pthread_mutex_lock(&pusher->lock);
	state->failures++;
	state->failed++;
	state->next_unix_ns = history_time_now() + (int64_t)seconds * SECOND;
	pthread_mutex_unlock(&pusher->lock);
}

static void note_dropped(struct pusher *pusher, struct target_state *state)
{
	pthread_mutex_lock(&pusher->lock);
	state->dropped++;
	pthread_mutex_unlock(&pusher->lock);
}

/* ---- requests ---- */

enum sent { SENT, SENT_LATER, SENT_NEVER };

static bool may_be_tried_again(unsigned int status)
{
	return status == 429 || status == 502 || status == 503 || status == 504 || status == 500 ||
	       status == 408;
}

static enum sent post(struct pusher *pusher, const struct push_target *target,
		      struct target_state *state, const char *url, const char *body, size_t size)
{
	const char *headers[PUSH_HEADERS_MAX + 2] = {"Content-Type: application/json"};
	struct http_request request = {.url = url,
				       .headers = headers,
				       .body = body,
				       .size = size,
				       .timeout_seconds = TIMEOUT_SECONDS};
	struct http_answer answer;
	struct error error;
	char why[600];

	for (size_t i = 0; i < target->header_count; i++)
		headers[1 + i] = target->headers[i];
	if ((!pusher->client && http_client_new(&pusher->client, &error) < 0) ||
	    http_post(pusher->client, &request, &answer, &error) < 0) {
		note_failure(pusher, target, state, 0, error.text);
		return SENT_LATER;
	}
	if (answer.status / 100 == 2) {
		note_success(pusher, state);
		return SENT;
	}
	snprintf(why, sizeof(why), "answered %u: %.200s", answer.status, answer.text);
	if (may_be_tried_again(answer.status)) {
		note_failure(pusher, target, state, answer.retry_after_seconds, why);
		return SENT_LATER;
	}
	if (!state->refusals)
		say(pusher, target, "refused, and left out", why);
	pthread_mutex_lock(&pusher->lock);
	if (++state->refusals >= REFUSALS_MAX)
		state->next_unix_ns = history_time_now() + 3600 * SECOND;
	state->dropped++;
	pthread_mutex_unlock(&pusher->lock);
	return SENT_NEVER;
}

/* ---- ways ---- */

static char *metrics_text(const struct pusher *pusher)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	pusher->options.write_metrics(pusher->options.context, out);
	if (fclose(out) == EOF) {
		free(text);
		return NULL;
	}
	return text;
}

static void push_textfile(struct pusher *pusher, const struct push_target *target,
			  struct target_state *state)
{
	char *text = metrics_text(pusher);
	struct error error;
	struct output_file *file = text ? output_file_open(target->where, &error) : NULL;
	int err = file ? 0 : -EIO;

	if (file) {
		fputs(text, output_file_stream(file));
		err = output_file_commit(file, (uid_t)-1, (gid_t)-1, &error);
		output_file_free(file);
	}
	free(text);
	if (err < 0)
		note_failure(pusher, target, state, 0, file ? error.text : "out of memory");
	else
		note_success(pusher, state);
}

static void push_otlp(struct pusher *pusher, const struct push_target *target,
		      struct target_state *state)
{
	char *text = metrics_text(pusher), *body = NULL;
	size_t size;
	FILE *out = text ? open_memstream(&body, &size) : NULL;

	if (out) {
		otlp_metrics_write(text, pusher->options.host, pusher->start_unix_ns,
				   history_time_now(), out);
		if (fclose(out) == 0)
			post(pusher, target, state, target->where, body, size);
	}
	free(body);
	free(text);
}

static void window_url(const struct push_target *target, char *url, size_t size)
{
	bool slash = target->where[strlen(target->where) - 1] == '/';

	if (target->way == PUSH_PYROSCOPE)
		snprintf(url, size, "%s%spush.v1.PusherService/Push", target->where,
			 slash ? "" : "/");
	else
		snprintf(url, size, "%s", target->where);
}

static enum sent push_window(struct pusher *pusher, const struct push_target *target,
			     struct target_state *state, const struct store_window *window)
{
	char *body = NULL, url[600];
	size_t size, series = 0;
	FILE *out = open_memstream(&body, &size);
	enum sent sent = SENT_NEVER;
	int err;

	if (!out)
		return SENT_LATER;
	if (target->way == PUSH_PYROSCOPE)
		err = pyroscope_write(pusher->options.store, window, target->kinds_mask,
				      pusher->options.host, out, &series);
	else
		err = otlp_profiles_write(pusher->options.store, window, target->kinds_mask,
					  pusher->options.host, out, &series);
	if (fclose(out) == EOF && err == 0)
		err = -ENOMEM;
	window_url(target, url, sizeof(url));
	if (err == -ENOMEM)
		sent = SENT_LATER;
	else if (err < 0)
		note_dropped(pusher, state); /* damaged, or deleted meanwhile */
	else
		sent = series ? post(pusher, target, state, url, body, size) : SENT;
	free(body);
	return sent;
}

/* One window; true: there may be more to do at once. */
static bool push_next_window(struct pusher *pusher, const struct push_target *target,
			     struct target_state *state, int64_t now)
{
	const struct store_window *window = NULL;
	struct store_windows windows;
	bool more = false;

	if (store_list(pusher->options.store, STORE_MINUTE, state->cursor_unix_ns + EDGE_NS,
		       INT64_MAX, &windows) < 0)
		return false;
	array_foreach(&windows.list, each) {
		if (each->end_unix_ns <= state->cursor_unix_ns + EDGE_NS)
			continue;
		window = each;
		break;
	}
	pthread_mutex_lock(&pusher->lock);
	state->lag_ns = window ? now - window->end_unix_ns : 0;
	pthread_mutex_unlock(&pusher->lock);
	if (window) {
		bool is_old = now - window->end_unix_ns > (int64_t)target->max_age_ns;

		if (is_old)
			note_dropped(pusher, state);
		if (is_old || push_window(pusher, target, state, window) != SENT_LATER) {
			state->cursor_unix_ns = window->end_unix_ns;
			write_cursor(pusher, target, state->cursor_unix_ns);
			more = true;
		}
	}
	array_free(&windows.list);
	return more;
}

/* ---- the thread ---- */

static bool push_target(struct pusher *pusher, size_t index)
{
	const struct push_target *target = &pusher->options.targets.items[index];
	struct target_state *state = &pusher->states[index];
	int64_t now = history_time_now();

	if (now < state->next_unix_ns && state->next_unix_ns - now < 7200 * SECOND)
		return false;
	if (push_way_has_cursor(target->way))
		return push_next_window(pusher, target, state, now);
	state->next_unix_ns = now + (int64_t)target->interval_ns;
	if (target->way == PUSH_TEXTFILE)
		push_textfile(pusher, target, state);
	else
		push_otlp(pusher, target, state);
	return false;
}

static bool rest(struct pusher *pusher, bool at_once)
{
	struct timespec until;
	bool stops;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LOOK_SECONDS;
	pthread_mutex_lock(&pusher->lock);
	if (!pusher->stops && !at_once)
		pthread_cond_timedwait(&pusher->news, &pusher->lock, &until);
	stops = pusher->stops;
	pthread_mutex_unlock(&pusher->lock);
	return !stops;
}

static void *push_all(void *context)
{
	struct pusher *pusher = context;
	bool more = false;

	while (rest(pusher, more)) {
		more = false;
		for (size_t i = 0; i < pusher->options.targets.count; i++)
			more = push_target(pusher, i) || more;
	}
	return NULL;
}

/* One that is new gets what comes from now on. */
static void begin_target(struct pusher *pusher, size_t index)
{
	const struct push_target *target = &pusher->options.targets.items[index];
	struct target_state *state = &pusher->states[index];

	if (!push_way_has_cursor(target->way))
		return;
	state->cursor_unix_ns = read_cursor(pusher, target);
	if (state->cursor_unix_ns)
		return;
	state->cursor_unix_ns = pusher->start_unix_ns;
	write_cursor(pusher, target, state->cursor_unix_ns);
}

struct pusher *pusher_new(const struct pusher_options *options)
{
	struct pusher *pusher = calloc(1, sizeof(*pusher));

	if (!pusher)
		return NULL;
	pusher->options = *options;
	pusher->start_unix_ns = history_time_now();
	pthread_mutex_init(&pusher->lock, NULL);
	pthread_cond_init(&pusher->news, NULL);
	for (size_t i = 0; i < options->targets.count; i++)
		begin_target(pusher, i);
	if (pthread_create(&pusher->thread, NULL, push_all, pusher) != 0) {
		pthread_cond_destroy(&pusher->news);
		pthread_mutex_destroy(&pusher->lock);
		free(pusher);
		return NULL;
	}
	return pusher;
}

void pusher_write_metrics(struct pusher *pusher, FILE *out)
{
	size_t count = pusher->options.targets.count;

	if (!count)
		return;
	pthread_mutex_lock(&pusher->lock);
	fprintf(out, "# HELP pkbpf_push_windows_total what was sent to others, by result\n"
		     "# TYPE pkbpf_push_windows_total counter\n");
	for (size_t i = 0; i < count; i++) {
		const struct target_state *state = &pusher->states[i];
		const char *name = pusher->options.targets.items[i].name;

		fprintf(out,
			"pkbpf_push_windows_total{target=\"%s\",result=\"sent\"} %" PRIu64 "\n",
			name, state->sent);
		fprintf(out,
			"pkbpf_push_windows_total{target=\"%s\",result=\"failed\"} %" PRIu64 "\n",
			name, state->failed);
		fprintf(out,
			"pkbpf_push_windows_total{target=\"%s\",result=\"dropped\"} %" PRIu64 "\n",
			name, state->dropped);
	}
	fprintf(out, "# HELP pkbpf_push_lag_seconds age of the oldest window that waits\n"
		     "# TYPE pkbpf_push_lag_seconds gauge\n");
	for (size_t i = 0; i < count; i++)
		fprintf(out, "pkbpf_push_lag_seconds{target=\"%s\"} %.3f\n",
			pusher->options.targets.items[i].name,
			(double)pusher->states[i].lag_ns / 1e9);
	pthread_mutex_unlock(&pusher->lock);
}

void pusher_free(struct pusher *pusher)
{
	if (!pusher)
		return;
	pthread_mutex_lock(&pusher->lock);
	pusher->stops = true;
	pthread_cond_signal(&pusher->news);
	pthread_mutex_unlock(&pusher->lock);
	pthread_join(pusher->thread, NULL);
	http_client_free(pusher->client);
	pthread_cond_destroy(&pusher->news);
	pthread_mutex_destroy(&pusher->lock);
	free(pusher);
}
