// SPDX-License-Identifier: BSD-2-Clause
#include "push/notify_message.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/escape.h"

#define SECOND ((int64_t)NS_PER_SECOND)

static void write_time(int64_t unix_ns, FILE *out)
{
	time_t seconds = (time_t)(unix_ns / SECOND);
	struct tm calendar;
	char text[32] = "";

	if (gmtime_r(&seconds, &calendar))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &calendar);
	fprintf(out, "\"%s.%03dZ\"", text, (int)(unix_ns % SECOND / 1000000));
}

static void write_text(const char *key, const char *text, FILE *out)
{
	fprintf(out, ",\"%s\":", key);
	escape_json(out, text);
}

void notify_link(const struct alert_news *news, const char *url, char *text, size_t size)
{
	int64_t from = news->from_unix_ns / SECOND, to = news->to_unix_ns / SECOND + 1;
	bool is_change = !news->rule->term_count;

	snprintf(text, size,
		 "%s#figure=cpu.share&by=comm&range=3600&end=%lld&from=%lld&to=%lld%s%s", url,
		 (long long)to, (long long)from, (long long)to, is_change ? "&base=" : "",
		 is_change ? news->rule->base : "");
}

void notify_write_webhook(const struct alert_news *news, const struct notify_context *context,
			  FILE *out)
{
	char link[512], sentence[512];

	notify_link(news, context->url, link, sizeof(link));
	notifier_sentence(news, sentence, sizeof(sentence));
	fprintf(out, "{\"version\":1,\"status\":\"%s\"", news->fires ? "firing" : "resolved");
	write_text("rule", news->rule->name, out);
	write_text("who", news->state->who, out);
	write_text("severity", news->rule->severity, out);
	write_text("when", news->rule->when, out);
	write_text("text", sentence, out);
	write_text("host", context->host, out);
	write_text("url", link, out);
	fprintf(out, ",\"fired\":");
	write_time(news->state->fired_unix_ns, out);
	if (!news->fires) {
		fprintf(out, ",\"ended\":");
		write_time(news->state->ended.unix_ns, out);
	}
	fprintf(out, ",\"suppressed\":%llu}\n", (unsigned long long)context->suppressed);
}

void notify_write_alertmanager(const struct alert_news *news, const struct notify_context *context,
			       FILE *out)
{
	char link[512];

	notify_link(news, context->url, link, sizeof(link));
	fprintf(out, "[{\"labels\":{\"alertname\":");
	escape_json(out, news->rule->name);
	write_text("host", context->host, out);
	/* A label without a value is no label. */
	if (news->state->who[0])
		write_text("who", news->state->who, out);
	write_text("severity", news->rule->severity, out);
	write_text("source", "pkbpf", out);
	fprintf(out, "},\"annotations\":{\"summary\":");
	escape_json(out, news->state->text);
	write_text("when", news->rule->when, out);
	fprintf(out, "},\"startsAt\":");
	write_time(news->state->fired_unix_ns, out);
	fprintf(out, ",\"endsAt\":");
	write_time(news->fires ? context->now_unix_ns + ALERTMANAGER_LIFE_SECONDS * SECOND
			       : news->state->ended.unix_ns,
		   out);
	write_text("generatorURL", link, out);
	fprintf(out, "}]\n");
}
