// SPDX-License-Identifier: BSD-2-Clause
/* Tests for push/notify_message: the bytes that a webhook, an Alertmanager and a browser get. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "push/notify_message.h"

#define SECOND 1000000000LL
/* 2023-11-14T22:13:20Z */
#define FIRED (1700000000LL * SECOND)

static struct alert_rule rule;
static struct alert_state state_of;
static struct alert_news news;
static struct notify_context context;
static char *text;

static int setup(void **state)
{
	(void)state;
	rule = (struct alert_rule){.name = "slow",
				   .when = "blockio.p99>20ms",
				   .severity = "page",
				   .base = "before",
				   .term_count = 1};
	state_of = (struct alert_state){.who = "db\"1",
					.text = "blockio.p99 is 31 ms",
					.fired_unix_ns = FIRED + 250000000,
					.ended = {FIRED + 90 * SECOND, 0}};
	news = (struct alert_news){&rule, &state_of, true, FIRED - 60 * SECOND, FIRED};
	context = (struct notify_context){
		.url = "http://h:7747/", .host = "db1", .suppressed = 3, .now_unix_ns = FIRED};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(text);
	text = NULL;
	return 0;
}

static void write_as(void (*write)(const struct alert_news *, const struct notify_context *,
				   FILE *))
{
	size_t size;
	FILE *out;

	free(text);
	out = open_memstream(&text, &size);
	write(&news, &context, out);
	fclose(out);
}

static void assert_has(const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in: %s", part, text);
}

static void a_webhook_gets_one_object(void **state)
{
	(void)state;
	write_as(notify_write_webhook);
	assert_int_equal(
		strncmp(text, "{\"version\":1,\"status\":\"firing\",\"rule\":\"slow\"", 44), 0);
	assert_has("\"who\":\"db\\\"1\"");
	assert_has("\"severity\":\"page\"");
	assert_has("\"host\":\"db1\"");
	assert_has("\"fired\":\"2023-11-14T22:13:20.250Z\"");
	assert_has("\"suppressed\":3}\n");
	assert_null(strstr(text, "\"ended\""));
	news.fires = false;
	write_as(notify_write_webhook);
	assert_has("\"status\":\"resolved\"");
	assert_has("\"ended\":\"2023-11-14T22:14:50.000Z\"");
}

static void an_alertmanager_believes_for_four_minutes_or_until_the_end(void **state)
{
	(void)state;
	write_as(notify_write_alertmanager);
	assert_int_equal(strncmp(text, "[{\"labels\":{\"alertname\":\"slow\"", 30), 0);
	assert_has("\"startsAt\":\"2023-11-14T22:13:20.250Z\"");
	assert_has("\"endsAt\":\"2023-11-14T22:17:20.000Z\"");
	assert_has("\"summary\":\"blockio.p99 is 31 ms\"");
	news.fires = false;
	write_as(notify_write_alertmanager);
	assert_has("\"endsAt\":\"2023-11-14T22:14:50.000Z\"");
	/* A label without a value is none. */
	state_of.who[0] = '\0';
	write_as(notify_write_alertmanager);
	assert_null(strstr(text, "\"who\""));
}

static void a_link_shows_the_interval_and_its_base(void **state)
{
	char link[512];

	(void)state;
	notify_link(&news, context.url, link, sizeof(link));
	assert_string_equal(link, "http://h:7747/#figure=cpu.share&by=comm&range=3600&"
				  "end=1700000001&from=1699999940&to=1700000001");
	rule.term_count = 0;
	notify_link(&news, context.url, link, sizeof(link));
	assert_non_null(strstr(link, "&to=1700000001&base=before"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_webhook_gets_one_object),
		TEST(an_alertmanager_believes_for_four_minutes_or_until_the_end),
		TEST(a_link_shows_the_interval_and_its_base),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
