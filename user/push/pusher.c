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

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/durable_file.h"
#include "base/escape.h"
#include "base/file_io.h"
#include "base/hash_map.h"
#include "base/timed_wait.h"
#include "history/history_time.h"
#include "http/http_client.h"
#include "push/gzip_body.h"
#include "push/otlp_metrics.h"
#include "push/otlp_profiles.h"
#include "push/otlp_proto.h"
#include "push/push_cursor.h"
#include "push/push_retry.h"
#include "push/pyroscope.h"

#define LOOK_SECONDS	1
#define TIMEOUT_SECONDS 10
#define CURSORS		"cursor"
#define NAME_SIZE	80
/* With that many refusals in a row, it is asked more rarely. */
#define REFUSALS_MAX  5
#define CANNOT_ENCODE "cannot encode the request as protobuf; set encoding = json"

struct target_state {
	uint64_t next_ns; /* of the next try, CLOCK_MONOTONIC */
	struct push_cursor cursor;
	unsigned int failures, refusals; /* in a row */
	uint64_t sent, failed, dropped, left_out;
	int64_t lag_ns;
	bool takes_plain_only; /* refused a packed body; the thread's */
};

struct pusher {
	struct pusher_options options;
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

static bool read_cursor(const struct pusher *pusher, const struct push_target *target,
			struct push_cursor *ret_cursor)
{
	char name[NAME_SIZE], *text;
	size_t size;
	bool is_there;

	snprintf(name, sizeof(name), CURSORS "/%s", target->name);
	if (file_read_all(store_root(pusher->options.store), name, 128, &text, &size) < 0)
		return false;
	is_there = push_cursor_parse(text, ret_cursor);
	free(text);
	return is_there;
}

/* A cursor that cannot be written is where it was at the next start: sent twice, not lost. */
static void write_cursor(const struct pusher *pusher, const struct push_target *target,
			 const struct push_cursor *cursor)
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
		push_cursor_write(cursor, file.stream);
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

static void note_failure(struct pusher *pusher, const struct push_target *target,
			 struct target_state *state, unsigned int retry_after, const char *why)
{
	unsigned int seconds =
		push_backoff_seconds(state->failures, hash_random_seed(), retry_after);

	if (!state->failures)
		say(pusher, target, "will be tried again", why);
	pthread_mutex_lock(&pusher->lock);
	state->failures++;
	state->failed++;
	state->next_ns = clock_now_ns() + seconds * NS_PER_SECOND;
	pthread_mutex_unlock(&pusher->lock);
}

/* Of windows that were sent. */
static void note_left_out(struct pusher *pusher, const struct push_target *target,
			  struct target_state *state, size_t count)
{
	char what[64];

	snprintf(what, sizeof(what), "%zu profiles of a minute are left out", count);
	if (!state->left_out)
		say(pusher, target, what, PYROSCOPE_LIMITS);
	pthread_mutex_lock(&pusher->lock);
	state->left_out += count;
	pthread_mutex_unlock(&pusher->lock);
}

static void note_dropped(struct pusher *pusher, struct target_state *state)
{
	pthread_mutex_lock(&pusher->lock);
	state->dropped++;
	pthread_mutex_unlock(&pusher->lock);
}

/* Counts as dropped what no further attempt can send. */
static void note_refusal(struct pusher *pusher, const struct push_target *target,
			 struct target_state *state, const char *what, const char *why)
{
	bool is_first = !state->refusals;

	pthread_mutex_lock(&pusher->lock);
	if (++state->refusals >= REFUSALS_MAX)
		state->next_ns = clock_now_ns() + PUSH_BACKOFF_MAX_SECONDS * NS_PER_SECOND;
	state->dropped++;
	pthread_mutex_unlock(&pusher->lock);
	if (is_first)
		say(pusher, target, what, why);
}

/* ---- requests ---- */

enum sent { SENT, SENT_LATER, SENT_NEVER };

static bool stops(void *context)
{
	struct pusher *pusher = context;
	bool is_stopping;

	pthread_mutex_lock(&pusher->lock);
	is_stopping = pusher->stops;
	pthread_mutex_unlock(&pusher->lock);
	return is_stopping;
}

static enum sent post(struct pusher *pusher, const struct push_target *target,
		      struct target_state *state, const char *url, const char *body, size_t size)
{
	const char *headers[PUSH_HEADERS_MAX + 3] = {
		target->is_protobuf ? "Content-Type: application/x-protobuf"
				    : "Content-Type: application/json"};
	_cleanup_free_ char *packed = NULL;
	size_t packed_size = 0;
	/* Receivers of OTLP take it; profiles for Pyroscope are packed themselves. */
	bool is_packed = target->way != PUSH_PYROSCOPE && !state->takes_plain_only &&
			 gzip_body(body, size, &packed, &packed_size) == 0;
	struct http_request request = {.url = url,
				       .headers = headers,
				       .body = is_packed ? packed : body,
				       .size = is_packed ? packed_size : size,
				       .timeout_seconds = TIMEOUT_SECONDS,
				       .is_cancelled = stops,
				       .context = pusher};
	struct http_answer answer;
	struct error error;
	char why[600];

	for (size_t i = 0; i < target->header_count; i++)
		headers[1 + i] = target->headers[i];
	if (is_packed)
		headers[1 + target->header_count] = GZIP_BODY_HEADER;
	if ((!pusher->client && http_client_new(&pusher->client, &error) < 0) ||
	    http_post(pusher->client, &request, &answer, &error) < 0) {
		if (stops(pusher))
			return SENT_LATER;
		note_failure(pusher, target, state, 0, error.text);
		return SENT_LATER;
	}
	if (answer.status / 100 == 2) {
		note_success(pusher, state);
		return SENT;
	}
	snprintf(why, sizeof(why), "answered %u: %.200s", answer.status, answer.text);
	/* 415: unsupported media type. The next attempt is plain. */
	if (is_packed && answer.status == 415)
		state->takes_plain_only = true;
	if (!push_is_refused(answer.status) || (is_packed && answer.status == 415)) {
		note_failure(pusher, target, state, answer.retry_after_seconds, why);
		return SENT_LATER;
	}
	note_refusal(pusher, target, state, "refused, and left out", why);
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
	struct output_file *file;
	struct error error;
	int err;

	if (!text) {
		note_failure(pusher, target, state, 0, "out of memory");
		return;
	}
	file = output_file_open(target->where, &error);
	err = file ? 0 : -errno;
	if (file) {
		fputs(text, output_file_stream(file));
		err = output_file_commit(file, (uid_t)-1, (gid_t)-1, &error);
		output_file_free(file);
	}
	free(text);
	if (err < 0)
		note_failure(pusher, target, state, 0, error.text);
	else
		note_success(pusher, state);
}

/* json: a request of OTLP. */
static enum sent post_otlp(struct pusher *pusher, const struct push_target *target,
			   struct target_state *state, const char *json, size_t size)
{
	_cleanup_free_ char *body = NULL;
	int err;

	if (!target->is_protobuf)
		return post(pusher, target, state, target->where, json, size);
	err = otlp_proto_encode(
		json, target->way == PUSH_OTLP ? OTLP_REQUEST_METRICS : OTLP_REQUEST_PROFILES,
		&body, &size);
	if (!err)
		return post(pusher, target, state, target->where, body, size);
	if (err == -ENOMEM) {
		note_failure(pusher, target, state, 0, "out of memory");
		return SENT_LATER;
	}
	note_refusal(pusher, target, state, "left out", CANNOT_ENCODE);
	return SENT_NEVER;
}

static void push_otlp(struct pusher *pusher, const struct push_target *target,
		      struct target_state *state)
{
	char *text = metrics_text(pusher), *body = NULL;
	size_t size;
	FILE *out = text ? open_memstream(&body, &size) : NULL;

	if (out)
		otlp_metrics_write(text, pusher->options.host, pusher->options.start_unix_ns,
				   history_time_now(), out);
	if (out && fclose(out) == 0)
		post_otlp(pusher, target, state, body, size);
	else
		note_failure(pusher, target, state, 0, "out of memory");
	free(body);
	free(text);
}

static enum sent post_pyroscope(struct pusher *pusher, const struct push_target *target,
				struct target_state *state, const char *body, size_t size)
{
	bool slash = target->where[strlen(target->where) - 1] == '/';
	char url[600];

	snprintf(url, sizeof(url), "%s%spush.v1.PusherService/Push", target->where,
		 slash ? "" : "/");
	return post(pusher, target, state, url, body, size);
}

static enum sent push_window(struct pusher *pusher, const struct push_target *target,
			     struct target_state *state, const struct store_window *window)
{
	char *body = NULL;
	struct pyroscope_count count = {0};
	size_t size;
	FILE *out = open_memstream(&body, &size);
	enum sent sent = SENT_NEVER;
	int err;

	if (!out)
		return SENT_LATER;
	if (target->way == PUSH_PYROSCOPE)
		err = pyroscope_write(pusher->options.store, window, target->kinds_mask,
				      pusher->options.host, out, &count);
	else
		err = otlp_profiles_write(pusher->options.store, window, target->kinds_mask,
					  pusher->options.host, out, &count.series);
	if (fclose(out) == EOF && err == 0)
		err = -ENOMEM;
	if (err == -ENOMEM)
		sent = SENT_LATER;
	else if (err < 0)
		note_dropped(pusher, state); /* damaged, or deleted meanwhile */
	else if (!count.series)
		sent = SENT;
	else if (target->way == PUSH_PYROSCOPE)
		sent = post_pyroscope(pusher, target, state, body, size);
	else
		sent = post_otlp(pusher, target, state, body, size);
	if (sent == SENT && count.left_out)
		note_left_out(pusher, target, state, count.left_out);
	free(body);
	return sent;
}

/* One window; true: there may be more to do at once. */
static bool push_next_window(struct pusher *pusher, const struct push_target *target,
			     struct target_state *state, int64_t now)
{
	struct store_window window;
	bool is_there =
		push_cursor_next(&state->cursor, pusher->options.store, STORE_MINUTE, &window);
	int64_t age_ns = is_there && now > window.end_unix_ns ? now - window.end_unix_ns : 0;
	bool is_old = age_ns > (int64_t)target->max_age_ns;

	pthread_mutex_lock(&pusher->lock);
	state->lag_ns = age_ns;
	pthread_mutex_unlock(&pusher->lock);
	if (!is_there)
		return false;
	if (is_old)
		note_dropped(pusher, state);
	else if (push_window(pusher, target, state, &window) == SENT_LATER)
		return false;
	push_cursor_pass(&state->cursor, &window);
	write_cursor(pusher, target, &state->cursor);
	return true;
}

/* ---- the thread ---- */

static bool push_target(struct pusher *pusher, size_t index)
{
	const struct push_target *target = &pusher->options.targets.items[index];
	struct target_state *state = &pusher->states[index];
	uint64_t now_ns = clock_now_ns();

	if (now_ns < state->next_ns)
		return false;
	if (push_way_has_cursor(target->way))
		return push_next_window(pusher, target, state, history_time_now());
	state->next_ns = now_ns + target->interval_ns;
	if (target->way == PUSH_TEXTFILE)
		push_textfile(pusher, target, state);
	else
		push_otlp(pusher, target, state);
	return false;
}

static bool rest(struct pusher *pusher, bool at_once)
{
	bool goes_on;

	pthread_mutex_lock(&pusher->lock);
	if (!pusher->stops && !at_once)
		timed_wait(&pusher->news, &pusher->lock,
			   clock_now_ns() + LOOK_SECONDS * NS_PER_SECOND);
	goes_on = !pusher->stops;
	pthread_mutex_unlock(&pusher->lock);
	return goes_on;
}

static void *push_all(void *context)
{
	struct pusher *pusher = context;
	bool more = false;

	while (rest(pusher, more)) {
		more = false;
		for (size_t i = 0; i < pusher->options.targets.count && !stops(pusher); i++)
			more = push_target(pusher, i) || more;
	}
	return NULL;
}

/* One that is new gets what comes from now on. */
static void begin_target(struct pusher *pusher, size_t index)
{
	const struct push_target *target = &pusher->options.targets.items[index];
	struct push_cursor *cursor = &pusher->states[index].cursor;

	if (!push_way_has_cursor(target->way) || read_cursor(pusher, target, cursor))
		return;
	push_cursor_begin(cursor, pusher->options.store, STORE_MINUTE, history_time_now());
	write_cursor(pusher, target, cursor);
}

struct pusher *pusher_new(const struct pusher_options *options)
{
	struct pusher *pusher = calloc(1, sizeof(*pusher));

	if (!pusher)
		return NULL;
	pusher->options = *options;
	pthread_mutex_init(&pusher->lock, NULL);
	timed_wait_init(&pusher->news);
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
	fprintf(out, "# HELP pkbpf_push_profiles_left_out_total profiles of windows that were sent "
		     "without them, for they are too many or too large\n"
		     "# TYPE pkbpf_push_profiles_left_out_total counter\n");
	for (size_t i = 0; i < count; i++)
		fprintf(out, "pkbpf_push_profiles_left_out_total{target=\"%s\"} %" PRIu64 "\n",
			pusher->options.targets.items[i].name, pusher->states[i].left_out);
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
