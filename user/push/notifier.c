// SPDX-License-Identifier: BSD-2-Clause
#include "push/notifier.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/timed_wait.h"
#include "history/history_time.h"
#include "push/command_run.h"
#include "http/http_client.h"
#include "push/notify_message.h"

#define QUEUE_MAX	256
#define TRIES		3
#define TIMEOUT_SECONDS 5
#define COMMAND_SECONDS 30

struct message {
	struct message *next;
	struct notify_target target; /* as it was configured then */
	char *body;
	size_t size;
	bool is_repeat;
	struct command_words words;
};

struct notifier {
	struct notifier_options options; /* the telling thread's */
	void (*say)(void *context, const char *sentence);
	void *context;
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t news;
	struct message *first, **end;
	size_t count;
	bool stops;
	uint64_t end_ns; /* when it gives up, once it stops */
	/* The telling thread's. */
	struct notify_quotas quotas;
	/* The sending thread's. */
	struct http_client *client;
};

void notifier_sentence(const struct alert_news *news, char *text, size_t size)
{
	const struct alert_state *state = news->state;
	char who[ALERT_WHO_SIZE], what[160];

	escape_terminal(who, sizeof(who), state->who);
	escape_terminal(what, sizeof(what), state->text);
	snprintf(text, size, "alert %s %s: %s%s%s (%s)", news->rule->name,
		 news->fires ? "fires" : "has ended", who, who[0] ? ": " : "",
		 news->fires ? what : "no longer holds", news->rule->when);
}

/* ---- the sending thread ---- */

static void say(struct notifier *notifier, const struct notify_target *target, const char *why)
{
	char sentence[1024], clean[512];

	snprintf(sentence, sizeof(sentence), "cannot tell %s of an alert: %s", target->name,
		 escape_terminal(clean, sizeof(clean), why));
	notifier->say(notifier->context, sentence);
}

static bool gives_up(void *context)
{
	struct notifier *notifier = context;
	bool is_over;

	pthread_mutex_lock(&notifier->lock);
	is_over = notifier->stops && clock_now_ns() >= notifier->end_ns;
	pthread_mutex_unlock(&notifier->lock);
	return is_over;
}

/* false: it is to stop. */
static bool rest(struct notifier *notifier, unsigned int seconds)
{
	uint64_t until_ns = clock_now_ns() + seconds * NS_PER_SECOND;
	bool goes_on;

	pthread_mutex_lock(&notifier->lock);
	while (!notifier->stops && timed_wait(&notifier->news, &notifier->lock, until_ns))
		;
	goes_on = !notifier->stops;
	pthread_mutex_unlock(&notifier->lock);
	return goes_on;
}

static int post(struct notifier *notifier, const struct notify_target *target,
		const struct message *message, struct error *error)
{
	static const char *const headers[] = {"Content-Type: application/json", NULL};
	struct http_request request = {.url = target->where,
				       .headers = headers,
				       .body = message->body,
				       .size = message->size,
				       .timeout_seconds = TIMEOUT_SECONDS,
				       .is_cancelled = gives_up,
				       .context = notifier};
	struct http_answer answer;
	char url[600];

	if (target->way == NOTIFY_ALERTMANAGER) {
		size_t length = strlen(target->where);
		bool slash = length && target->where[length - 1] == '/';

		snprintf(url, sizeof(url), "%s%sapi/v2/alerts", target->where, slash ? "" : "/");
		request.url = url;
	}
	if (!notifier->client && http_client_new(&notifier->client, error) < 0)
		return -EIO;
	if (http_post(notifier->client, &request, &answer, error) < 0)
		return -EIO;
	if (answer.status / 100 == 2)
		return 0;
	return error_set(error, answer.status / 100 == 4 ? EINVAL : EIO, "%s answered %u: %.200s",
			 request.url, answer.status, answer.text);
}

/* A server that is not there for a moment is asked again. */
static void send_message(struct notifier *notifier, const struct message *message)
{
	const struct notify_target *target = &message->target;
	struct command command = {.line = target->where,
				  .words = &message->words,
				  .body = message->body,
				  .size = message->size,
				  .seconds = COMMAND_SECONDS,
				  .is_cancelled = gives_up,
				  .context = notifier};
	struct error error;
	int err = -EIO;

	if (target->way == NOTIFY_COMMAND)
		err = command_run(&command, &error);
	else
		for (unsigned int i = 0;
		     i < TRIES && err == -EIO && (!i || rest(notifier, 1U << (i - 1))); i++)
			err = post(notifier, target, message, &error);
	if (err == 0)
		return;
	/* One that fails each minute says so once. */
	if (!message->is_repeat)
		say(notifier, target, error.text);
}

static void free_message(struct message *message)
{
	free(message->body);
	free(message);
}

static struct message *next_message(struct notifier *notifier)
{
	struct message *message;

	pthread_mutex_lock(&notifier->lock);
	while (!notifier->first && !notifier->stops)
		pthread_cond_wait(&notifier->news, &notifier->lock);
	message = notifier->first;
	if (message) {
		notifier->first = message->next;
		if (!notifier->first)
			notifier->end = &notifier->first;
		notifier->count--;
	}
	pthread_mutex_unlock(&notifier->lock);
	return message;
}

static void *send_all(void *context)
{
	struct notifier *notifier = context;
	struct message *message;
	char sentence[80];
	size_t late = 0;

	while ((message = next_message(notifier))) {
		if (gives_up(notifier))
			late++;
		else
			send_message(notifier, message);
		free_message(message);
	}
	snprintf(sentence, sizeof(sentence), "%zu messages about alerts were not sent: pkbpf ends",
		 late);
	if (late)
		notifier->say(notifier->context, sentence);
	return NULL;
}

struct notifier *notifier_new(const struct notifier_options *options)
{
	struct notifier *notifier = calloc(1, sizeof(*notifier));

	if (!notifier)
		return NULL;
	notifier->options = *options;
	notifier->say = options->say;
	notifier->context = options->context;
	notifier->end = &notifier->first;
	pthread_mutex_init(&notifier->lock, NULL);
	timed_wait_init(&notifier->news);
	if (pthread_create(&notifier->thread, NULL, send_all, notifier) != 0) {
		pthread_cond_destroy(&notifier->news);
		pthread_mutex_destroy(&notifier->lock);
		free(notifier);
		return NULL;
	}
	return notifier;
}

/* ---- the telling thread ---- */

static void enqueue(struct notifier *notifier, struct message *message)
{
	const struct notify_target target = message->target;

	pthread_mutex_lock(&notifier->lock);
	if (notifier->count < QUEUE_MAX) {
		*notifier->end = message;
		notifier->end = &message->next;
		notifier->count++;
		message = NULL;
		pthread_cond_signal(&notifier->news);
	}
	pthread_mutex_unlock(&notifier->lock);
	if (!message)
		return;
	free_message(message);
	say(notifier, &target, "too many messages wait");
}

static void tell_target(struct notifier *notifier, size_t index, const struct alert_news *news,
			bool is_repeat)
{
	const struct notify_target *target = &notifier->options.targets.items[index];
	struct notify_context context = {.url = notifier->options.url,
					 .host = notifier->options.host,
					 .now_unix_ns = history_time_now()};
	struct notify_event event = {news->rule->name, target->name, news->state->who, news->fires};
	struct message *message;
	FILE *out;

	/* An Alertmanager has its own ways to be quiet. */
	if (target->way != NOTIFY_ALERTMANAGER &&
	    !notify_quota_take(&notifier->quotas, &event, clock_now_ns(), &context.suppressed))
		return;
	message = calloc(1, sizeof(*message));
	out = message ? open_memstream(&message->body, &message->size) : NULL;
	if (!out) {
		free(message);
		return;
	}
	message->target = *target;
	message->is_repeat = is_repeat;
	command_words_of(news, &message->words);
	if (target->way == NOTIFY_ALERTMANAGER)
		notify_write_alertmanager(news, &context, out);
	else
		notify_write_webhook(news, &context, out);
	if (fclose(out) == EOF)
		free_message(message);
	else
		enqueue(notifier, message);
}

/* "ops, journal" */
static bool is_in_list(const char *list, const char *name)
{
	size_t length = strlen(name);

	if (!*list)
		return true;
	for (const char *at = list; *at; at += strcspn(at, ", "), at += strspn(at, ", "))
		if (strcspn(at, ", ") == length && strncmp(at, name, length) == 0)
			return true;
	return false;
}

void notifier_configure(struct notifier *notifier, const struct notifier_options *options)
{
	notifier->options = *options;
}

void notifier_tell(struct notifier *notifier, const struct alert_news *news)
{
	for (size_t i = 0; i < notifier->options.targets.count; i++)
		if (is_in_list(news->rule->notify, notifier->options.targets.items[i].name))
			tell_target(notifier, i, news, false);
}

void notifier_repeat(struct notifier *notifier, const struct alert_news *news)
{
	for (size_t i = 0; i < notifier->options.targets.count; i++)
		if (notifier->options.targets.items[i].way == NOTIFY_ALERTMANAGER &&
		    is_in_list(news->rule->notify, notifier->options.targets.items[i].name))
			tell_target(notifier, i, news, true);
}

void notifier_free(struct notifier *notifier)
{
	if (!notifier)
		return;
	pthread_mutex_lock(&notifier->lock);
	notifier->stops = true;
	notifier->end_ns = clock_now_ns() + NOTIFIER_END_SECONDS * NS_PER_SECOND;
	pthread_cond_signal(&notifier->news);
	pthread_mutex_unlock(&notifier->lock);
	pthread_join(notifier->thread, NULL);
	http_client_free(notifier->client);
	notify_quotas_done(&notifier->quotas);
	pthread_cond_destroy(&notifier->news);
	pthread_mutex_destroy(&notifier->lock);
	free(notifier);
}

/* ---- configuration ---- */

static int set_key(struct notify_target *target, const struct ini_entry *entry, struct error *error)
{
	static const struct {
		const char *key;
		enum notify_way way;
	} ways[] = {{"webhook", NOTIFY_WEBHOOK},
		    {"alertmanager", NOTIFY_ALERTMANAGER},
		    {"command", NOTIFY_COMMAND}};
	struct error inner;
	size_t i = 0;

	while (i < ARRAY_SIZE(ways) && strcmp(entry->key, ways[i].key) != 0)
		i++;
	if (i == ARRAY_SIZE(ways))
		return error_set(error, EINVAL,
				 "line %u: unknown key '%.64s' of [notify]: expected webhook, "
				 "alertmanager or command",
				 entry->line, entry->key);
	if (target->way != NOTIFY_NOT)
		return error_set(error, EINVAL, "line %u: a [notify] has one way", entry->line);
	if (strlen(entry->value) >= sizeof(target->where))
		return error_set(error, EINVAL, "line %u: the value is too long", entry->line);
	if (ways[i].way == NOTIFY_COMMAND && entry->value[0] != '/')
		return error_set(error, EINVAL, "line %u: a command begins with its whole path",
				 entry->line);
	if ((ways[i].way == NOTIFY_COMMAND ? command_check(entry->value, &inner)
					   : http_url_check(entry->value, &inner)) < 0)
		return error_set(error, EINVAL, "line %u: %s", entry->line, inner.text);
	target->way = ways[i].way;
	snprintf(target->where, sizeof(target->where), "%s", entry->value);
	return 0;
}

int notify_targets_read(const struct ini *ini, struct notify_targets *ret_targets,
			struct error *error)
{
	struct notify_target *target = NULL;

	*ret_targets = (struct notify_targets){0};
	array_foreach(&ini->entries, entry) {
		if (strcmp(entry->kind, "notify") != 0)
			continue;
		if (entry->key) {
			if (set_key(target, entry, error) < 0)
				return -EINVAL;
			continue;
		}
		if (ret_targets->count == NOTIFY_TARGETS_MAX || !*entry->name ||
		    strlen(entry->name) >= sizeof(target->name) || strpbrk(entry->name, ", "))
			return error_set(error, EINVAL,
					 "line %u: [notify NAME] requires a name of one word, and "
					 "there are at most %d",
					 entry->line, NOTIFY_TARGETS_MAX);
		target = &ret_targets->items[ret_targets->count++];
		snprintf(target->name, sizeof(target->name), "%s", entry->name);
	}
	for (size_t i = 0; i < ret_targets->count; i++)
		if (ret_targets->items[i].way == NOTIFY_NOT)
			return error_set(
				error, EINVAL,
				"[notify %s] has neither webhook, alertmanager nor command",
				ret_targets->items[i].name);
	return 0;
}
