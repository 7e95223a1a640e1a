// SPDX-License-Identifier: BSD-2-Clause
/* Tests that a function that became slower is named soon, and that chance alone is not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "account_machine.h"
#include "alert/alerts.h"
#include "finding/results.h"
#include "temp_store.h"
#include "temp_tree.h"
#include "trials.h"

#define SECOND	  1000000000LL
#define SLICE	  (10 * SECOND)
#define BEGIN	  (1700002800LL * SECOND)
#define MINUTE	  6 /* slices */
#define HZ	  99
#define HISTORIES 6
#define TOLD_NS	  (300 * SECOND)

static struct temp_tree tree;
static struct store *store;
static struct alerts *alerts;
static uint64_t seed;
static uint64_t history = 1; /* the seed it begins with */
static int64_t now_slice;
/* Of the first alert. */
static int64_t fired_unix_ns, from_unix_ns, to_unix_ns;
static char who[ALERT_WHO_SIZE];
static size_t told;

static void tell(void *context, const struct alert_news *news)
{
	if (!news->fires)
		return;
	if (!told++) {
		fired_unix_ns = news->state->fired_unix_ns;
		from_unix_ns = news->from_unix_ns;
		to_unix_ns = news->to_unix_ns;
		snprintf(who, sizeof(who), "%s", news->state->who);
	}
}

static int setup(void **state)
{
	char text[] = "[alert slower]\nwhen = cpu.function[*].self > +5%\nover = 2m\nfor = "
		      "50s\nbase = hour\nclear-for = "
		      "1h\n";
	struct alert_rules rules;
	struct error error;
	struct ini ini;

	store = temp_store_open(&tree);
	if (ini_parse(text, &ini, &error) < 0 || alert_rules_read(&ini, false, &rules, &error) < 0)
		fail_msg("%s", error.text);
	alerts = alerts_new(&rules, store);
	assert_non_null(alerts);
	alert_rules_done(&rules);
	ini_done(&ini);
	seed = history * 7919 + 1;
	now_slice = 0;
	told = 0;
	return 0;
}

static int teardown(void **state)
{
	alerts_free(alerts);
	store_close(store);
	temp_tree_done(&tree);
	return 0;
}

/* Between 0 and 1, without either. */
static double chance(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

/* So many samples a timer finds on average, with the scatter of a Poisson distribution, which is
 * more than that of a timer. */
static uint64_t samples(double mean)
{
	double normal = sqrt(-2 * log(chance())) * cos(2 * M_PI * chance());
	double count = mean + sqrt(mean) * normal;

	return count > 0 ? (uint64_t)(count + 0.5) : 0;
}

/* A server of 1.5 CPUs, half of whose time is in one function. */
static void run(int64_t slices, double slower)
{
	for (int64_t end = now_slice + slices; now_slice < end; now_slice++) {
		const struct resource_rows *rows;
		struct fake_profile machine;
		struct profile_info *info;
		struct results results;

		account_begin(&machine, 1U << PKBPF_PROFILE_CPU, 15 * (uint64_t)SECOND, 0);
		account_process(&machine, &(struct account_process){
						  .pid = 812,
						  .comm = "server",
						  .run_ns = (uint64_t)((7.5 * slower + 7.5) *
								       (double)SECOND)});
		account_samples(&machine, 812, "server", samples(0.75 * HZ * 10 * slower),
				FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
		account_samples(&machine, 812, "server", samples(0.45 * HZ * 10),
				FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_MAIN));
		account_samples(&machine, 812, "server", samples(0.3 * HZ * 10),
				FAKE_IPS(ACCOUNT_SPIN, ACCOUNT_MAIN));
		account_end(&machine);
		info = profile_info(machine.profile);
		info->start_unix_ns = BEGIN + now_slice * SLICE;
		info->start_ns = (uint64_t)(1000 * SECOND + now_slice * SLICE);
		info->end_ns = info->start_ns + SLICE;
		assert_int_equal(store_add(store, machine.profile, NULL), 0);
		results_init(&results, machine.profile, ROWS_BY_CONTAINER);
		assert_int_equal(results_rows(&results, &rows), 0);
		assert_int_equal(alerts_add(alerts, rows, tell, NULL), 0);
		results_done(&results);
		fake_profile_done(&machine);
	}
}

static void slow_down(void)
{
	int64_t slower_unix_ns;

	run(66 * MINUTE, 1);
	assert_int_equal(told, 0);
	slower_unix_ns = BEGIN + now_slice * SLICE;
	run(5 * MINUTE, 1.1);
	assert_int_equal(told, 1);
	assert_non_null(strstr(who, "quer"));
	assert_true(fired_unix_ns - slower_unix_ns <= TOLD_NS);
	/* What the link shows begins before and ends behind the change. */
	assert_true(from_unix_ns <= slower_unix_ns + 120 * SECOND);
	assert_true(to_unix_ns > slower_unix_ns);
}

/* Half of 1.5 CPUs at 99 Hz: two minutes of it scatter by 1 %. */
static void ten_percent_in_one_function_are_named_within_five_minutes(void **state)
{
	for (history = 1; history <= trials(HISTORIES); history++) {
		setup(state);
		slow_down();
		teardown(state);
	}
}

static void an_hour_of_the_same_load_is_quiet(void **state)
{
	for (history = 101; history < 101 + trials(HISTORIES); history++) {
		setup(state);
		run(122 * MINUTE, 1);
		assert_int_equal(told, 0);
		teardown(state);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ten_percent_in_one_function_are_named_within_five_minutes),
		cmocka_unit_test(an_hour_of_the_same_load_is_quiet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
