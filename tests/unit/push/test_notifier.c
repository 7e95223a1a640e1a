// SPDX-License-Identifier: BSD-2-Clause
/* Tests for push/notifier: each message goes where it was to go, also over a change of targets, and
 * an end does not wait for long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file_io.h"
#include "paper_server.h"
#include "push/notifier.h"
#include "temp_tree.h"

static struct temp_tree tree;
static struct alert_rule rule;
static struct alert_state state_of;
static char said[512];

static void say(void *context, const char *sentence)
{
	(void)context;
	snprintf(said, sizeof(said), "%s", sentence);
}

static int setup(void **state)
{
	(void)state;
	temp_tree_init(&tree);
	rule = (struct alert_rule){.name = "busy", .severity = "page", .when = "cpu.share>20%"};
	said[0] = '\0';
	temp_tree_file(&tree, "tell",
		       "#!/bin/sh\necho $PKBPF_ALERT_STATUS $PKBPF_ALERT_WHO >> $1/told\n");
	temp_tree_file(&tree, "slow", "#!/bin/sh\nsleep 0.3\necho slow >> $1/told\n");
	temp_tree_file(&tree, "hangs", "#!/bin/sh\nsleep 30\n");
	assert_int_equal(chmod(temp_tree_path(&tree, "tell"), 0700), 0);
	assert_int_equal(chmod(temp_tree_path(&tree, "slow"), 0700), 0);
	assert_int_equal(chmod(temp_tree_path(&tree, "hangs"), 0700), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	temp_tree_done(&tree);
	return 0;
}

static struct notifier_options to(const char *name, const char *script)
{
	struct notifier_options options = {.say = say, .targets = {.count = 1}};
	struct notify_target *target = &options.targets.items[0];

	target->way = NOTIFY_COMMAND;
	snprintf(target->name, sizeof(target->name), "%s", name);
	snprintf(target->where, sizeof(target->where), "%s %s", temp_tree_path(&tree, script),
		 tree.root);
	return options;
}

static void tell(struct notifier *notifier, const char *who, bool fires)
{
	struct alert_news news = {.rule = &rule, .state = &state_of, .fires = fires};

	snprintf(state_of.who, sizeof(state_of.who), "%s", who);
	notifier_tell(notifier, &news);
}

static void assert_told(const char *expected)
{
	size_t size;
	char *text;

	assert_int_equal(file_read_all(-1, temp_tree_path(&tree, "told"), 4096, &text, &size), 0);
	assert_string_equal(text, expected);
	free(text);
}

static void messages_are_told_in_their_order(void **state)
{
	struct notifier_options options = to("log", "tell");
	struct notifier *notifier = notifier_new(&options);

	(void)state;
	tell(notifier, "a", true);
	tell(notifier, "b", true);
	tell(notifier, "a", false);
	notifier_free(notifier);
	assert_told("firing a\nfiring b\nresolved a\n");
	assert_string_equal(said, "");
}

static void other_targets_do_not_wait_for_those_before(void **state)
{
	struct notifier_options slow = to("slow", "slow"), log = to("log", "tell");
	struct notifier *notifier = notifier_new(&slow);
	uint64_t begin_ns = clock_now_ns();

	(void)state;
	tell(notifier, "a", true);
	notifier_configure(notifier, &log);
	tell(notifier, "b", true);
	assert_true(clock_now_ns() - begin_ns < 200 * NS_PER_MS);
	notifier_free(notifier);
	assert_told("slow\nfiring b\n");
}

static void an_end_gives_up_what_hangs_and_says_so(void **state)
{
	struct notifier_options options = to("hangs", "hangs");
	struct notifier *notifier = notifier_new(&options);
	uint64_t begin_ns = clock_now_ns();

	(void)state;
	for (int i = 0; i < 4; i++)
		tell(notifier, "a", i % 2 == 0);
	notifier_free(notifier);
	assert_in_range(clock_now_ns() - begin_ns, 0, (NOTIFIER_END_SECONDS + 2) * NS_PER_SECOND);
	assert_string_equal(said, "3 messages about alerts were not sent: pkbpf ends");
}

static void a_failure_names_target_and_reason(void **state)
{
	struct notifier_options options = to("ops", "missing");
	struct notifier *notifier = notifier_new(&options);

	(void)state;
	tell(notifier, "a", true);
	notifier_free(notifier);
	assert_non_null(strstr(said, "cannot tell ops of an alert: cannot start"));
	assert_non_null(strstr(said, "No such file"));
}

static void a_rule_may_name_its_targets(void **state)
{
	struct notifier_options options = to("log", "tell");
	struct notifier *notifier = notifier_new(&options);

	(void)state;
	snprintf(rule.notify, sizeof(rule.notify), "ops, logs");
	tell(notifier, "a", true);
	snprintf(rule.notify, sizeof(rule.notify), "ops, log");
	tell(notifier, "b", true);
	notifier_free(notifier);
	assert_told("firing b\n");
}

static void a_sentence_has_no_escapes_of_names(void **state)
{
	struct alert_news news = {.rule = &rule, .state = &state_of, .fires = true};
	char text[256];

	(void)state;
	snprintf(state_of.who, sizeof(state_of.who), "\x1b[2J");
	snprintf(state_of.text, sizeof(state_of.text), "cpu.share is 97 %%");
	notifier_sentence(&news, text, sizeof(text));
	assert_null(strchr(text, '\x1b'));
	assert_non_null(strstr(text, "alert busy fires: "));
	assert_non_null(strstr(text, ": cpu.share is 97 % (cpu.share>20%)"));
	news.fires = false;
	notifier_sentence(&news, text, sizeof(text));
	assert_non_null(strstr(text, "alert busy has ended: "));
	assert_non_null(strstr(text, "no longer holds"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static struct notifier_options to_server(enum notify_way way, const char *url)
{
	struct notifier_options options = {.say = say, .targets = {.count = 1}};
	struct notify_target *target = &options.targets.items[0];

	target->way = way;
	snprintf(target->name, sizeof(target->name), "ops");
	snprintf(target->where, sizeof(target->where), "%s", url);
	return options;
}

static void post_to(const struct paper_server *server, enum notify_way way, const char *path)
{
	struct notifier_options options;
	struct notifier *notifier;
	char url[128];

	snprintf(url, sizeof(url), "%s%s", server->url, path);
	options = to_server(way, url);
	notifier = notifier_new(&options);
	tell(notifier, "a", true);
	notifier_free(notifier);
}

static void a_server_is_asked_as_its_kind_wants_it(void **state)
{
	struct paper_server server;

	(void)state;
	paper_server_start(&server, 200);
	post_to(&server, NOTIFY_WEBHOOK, "/hook?x=1");
	assert_int_equal(strncmp(server.request, "POST /hook?x=1 HTTP", 19), 0);
	assert_non_null(strcasestr(server.request, "\r\nContent-Type: application/json\r\n"));
	assert_non_null(strstr(server.request, "\"busy\""));
	server.status = 299;
	post_to(&server, NOTIFY_ALERTMANAGER, "");
	assert_int_equal(strncmp(server.request, "POST /api/v2/alerts HTTP", 24), 0);
	post_to(&server, NOTIFY_ALERTMANAGER, "/x/");
	assert_int_equal(strncmp(server.request, "POST /x/api/v2/alerts HTTP", 26), 0);
	assert_int_equal(server.count, 3);
	assert_string_equal(said, "");
	paper_server_stop(&server);
}

static void what_a_server_refuses_is_told_once(void **state)
{
	struct paper_server server;

	(void)state;
	paper_server_start(&server, 400);
	post_to(&server, NOTIFY_WEBHOOK, "/hook");
	assert_int_equal(server.count, 1);
	assert_non_null(strstr(said, "cannot tell ops of an alert: "));
	assert_non_null(strstr(said, "/hook answered 400: said"));
	paper_server_stop(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(messages_are_told_in_their_order),
		TEST(a_server_is_asked_as_its_kind_wants_it),
		TEST(what_a_server_refuses_is_told_once),
		TEST(other_targets_do_not_wait_for_those_before),
		TEST(an_end_gives_up_what_hangs_and_says_so),
		TEST(a_failure_names_target_and_reason),
		TEST(a_rule_may_name_its_targets),
		TEST(a_sentence_has_no_escapes_of_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
