// SPDX-License-Identifier: BSD-2-Clause
/* Tests for cli/serve_watch: the thread that stores slices never waits for alert rules, and what
 * they do not look at is counted. */
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "cli/serve_watch.h"
#include "profile/slice/slice.h"

static sem_t begun, may_go_on;
static char log_of[512]; /* what was called, by the watch's thread */
static unsigned int said;
static struct serve_watch *watch;

static void add_word(const char *word, uint64_t number)
{
	size_t used = strlen(log_of);

	snprintf(log_of + used, sizeof(log_of) - used, "%s%s%llu", used ? " " : "", word,
		 (unsigned long long)number);
}

static void note(void *context, const struct resource_rows *rows)
{
	(void)context;
	add_word("note", profile_info_read(rows->profile)->sequence);
}

static void look(void *context, const struct resource_rows *rows)
{
	(void)context;
	add_word("look", profile_info_read(rows->profile)->sequence);
	sem_post(&begun);
	sem_wait(&may_go_on);
}

static void tick(void *context)
{
	(void)context;
}

static void configure(void *context, const char *text)
{
	(void)context;
	add_word("config", strlen(text));
}

static void end(void *context)
{
	(void)context;
	add_word("end", 0);
}

static void say(void *context, const char *sentence)
{
	(void)context;
	assert_non_null(strstr(sentence, "pkbpf_watch_skipped_total"));
	said++;
}

static int setup(void **state)
{
	const struct serve_watch_ops ops = {note, look, tick, configure, end, say, NULL};

	(void)state;
	sem_init(&begun, 0, 0);
	sem_init(&may_go_on, 0, 0);
	log_of[0] = '\0';
	said = 0;
	watch = serve_watch_start(&ops);
	assert_non_null(watch);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	serve_watch_free(watch);
	sem_destroy(&begun);
	sem_destroy(&may_go_on);
	return 0;
}

static void add(uint64_t number)
{
	struct profile *slice = slice_new();

	assert_non_null(slice);
	profile_info(slice)->sequence = number;
	profile_info(slice)->end_ns = NS_PER_SECOND;
	serve_watch_add(watch, slice);
}

static void assert_metrics(unsigned int waiting, unsigned int skipped)
{
	char *text, expected[64];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	serve_watch_write_metrics(watch, out);
	fclose(out);
	snprintf(expected, sizeof(expected), "\npkbpf_watch_waiting_slices %u\n", waiting);
	assert_non_null(strstr(text, expected));
	snprintf(expected, sizeof(expected), "\npkbpf_watch_skipped_total %u\n", skipped);
	assert_non_null(strstr(text, expected));
	free(text);
}

static void a_slice_is_looked_at(void **state)
{
	(void)state;
	add(1);
	sem_wait(&begun);
	assert_metrics(0, 0);
	sem_post(&may_go_on);
	serve_watch_end(watch);
	assert_string_equal(log_of, "look1 end0");
	assert_int_equal(said, 0);
}

static void behind_a_slow_rule_only_the_newest_slice_is_looked_at(void **state)
{
	(void)state;
	add(1);
	sem_wait(&begun);
	for (uint64_t i = 2; i <= 4; i++)
		add(i);
	assert_metrics(3, 0);
	sem_post(&may_go_on);
	sem_post(&may_go_on);
	serve_watch_end(watch);
	assert_string_equal(log_of, "look1 note2 note3 look4 end0");
	assert_metrics(0, 2);
	assert_int_equal(said, 0);
}

static void a_rule_that_hangs_costs_slices_and_is_told_once(void **state)
{
	uint64_t begin_ns = clock_now_ns();

	(void)state;
	add(1);
	sem_wait(&begun);
	for (uint64_t i = 2; i <= 20; i++)
		add(i);
	/* It never waited. */
	assert_true(clock_now_ns() - begin_ns < 5 * NS_PER_SECOND);
	assert_metrics(SERVE_WATCH_MAX, 19 - SERVE_WATCH_MAX);
	assert_int_equal(said, 1);
	sem_post(&may_go_on);
	sem_post(&may_go_on);
	serve_watch_end(watch);
	assert_string_equal(log_of, "look1 note13 note14 note15 note16 note17 note18 note19 "
				    "look20 end0");
	assert_metrics(0, 18);
}

static void a_configuration_is_never_skipped_and_keeps_its_place(void **state)
{
	(void)state;
	add(1);
	sem_wait(&begun);
	add(2);
	serve_watch_configure(watch, strdup("12345"));
	for (uint64_t i = 3; i <= 12; i++)
		add(i);
	sem_post(&may_go_on);
	sem_post(&may_go_on);
	serve_watch_end(watch);
	assert_string_equal(log_of, "look1 config5 note5 note6 note7 note8 note9 note10 note11 "
				    "look12 end0");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_slice_is_looked_at),
		TEST(behind_a_slow_rule_only_the_newest_slice_is_looked_at),
		TEST(a_rule_that_hangs_costs_slices_and_is_told_once),
		TEST(a_configuration_is_never_skipped_and_keeps_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
