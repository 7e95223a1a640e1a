// SPDX-License-Identifier: BSD-2-Clause
/* Tests which limits of regions a configuration asks for. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "cli/serve_limits.h"

static struct error error;
static struct region_limits limits;

static int choose(const char *text)
{
	struct serve_config config;
	int err;

	assert_int_equal(serve_config_read(text, &config, &error), 0);
	err = serve_limits_choose(&config, &limits, &error);
	serve_config_done(&config);
	return err;
}

static void assert_limit(size_t at, const char *name, uint64_t ns)
{
	assert_true(at < limits.count);
	assert_int_equal(strncmp(limits.items[at].name, name, sizeof(limits.items[at].name)), 0);
	assert_int_equal(limits.items[at].ns, ns);
}

static void without_regions_there_is_none(void **state)
{
	assert_int_equal(choose(""), 0);
	assert_int_equal(limits.count, 0);
	assert_int_equal(choose("[alert a]\nwhen = cpu.share > 5%\n"), 0);
	assert_int_equal(limits.count, 0);
	/* A count has no limit. */
	assert_int_equal(choose("[alert a]\nwhen = region[x].count > 5\n"), 0);
	assert_int_equal(limits.count, 0);
}

static void a_percentile_gives_its_bound(void **state)
{
	assert_int_equal(choose("[objective a]\nwhen = region[x].p99 < 100ms\n"), 0);
	assert_int_equal(limits.count, 1);
	assert_limit(0, "x", 100 * NS_PER_MS);
	assert_int_equal(choose("[alert a]\nwhen = region[y].p50 > 2s\n"), 0);
	assert_int_equal(limits.count, 1);
	assert_limit(0, "y", 2 * NS_PER_SECOND);
}

static void what_cannot_do_without_comes_first(void **state)
{
	assert_int_equal(choose("[objective a]\nwhen = region[x].p99 < 100ms\n"
				"[alert b]\nwhen = region[x].over(30ms) > 1%\n"),
			 0);
	assert_int_equal(limits.count, 1);
	assert_limit(0, "x", 30 * NS_PER_MS);
	/* Then objectives before alerts. */
	assert_int_equal(choose("[alert b]\nwhen = region[x].p99 > 30ms\n"
				"[objective a]\nwhen = region[x].p99 < 100ms\n"),
			 0);
	assert_int_equal(limits.count, 1);
	assert_limit(0, "x", 100 * NS_PER_MS);
}

static void each_name_has_a_limit_of_its_own(void **state)
{
	assert_int_equal(choose("[objective a]\nwhen = region[x].over(1s) < 1%\n"
				"[objective b]\nwhen = region[y].over(2s) < 1%\n"
				"[objective c]\nwhen = region[x].over(1s) < 2%\n"),
			 0);
	assert_int_equal(limits.count, 2);
	assert_limit(0, "x", NS_PER_SECOND);
	assert_limit(1, "y", 2 * NS_PER_SECOND);
}

static void two_limits_of_a_name_are_refused(void **state)
{
	assert_int_equal(choose("[objective a]\nwhen = region[x].over(1s) < 1%\n"
				"[alert b]\nwhen = region[x].over(2s) > 1%\n"),
			 -EINVAL);
	assert_string_equal(error.text, "region[x].over() has two limits: regions of one name are "
					"counted from one on");
}

static void there_is_room_for_so_many(void **state)
{
	char text[64 * (PKBPF_SPAN_LIMITS + 1)] = "";
	size_t size = 0;

	for (int i = 0; i < PKBPF_SPAN_LIMITS; i++)
		size += (size_t)snprintf(text + size, sizeof(text) - size,
					 "[objective o%d]\nwhen = region[r%d].over(1s) < 1%%\n", i,
					 i);
	assert_int_equal(choose(text), 0);
	assert_int_equal(limits.count, PKBPF_SPAN_LIMITS);
	snprintf(text + size, sizeof(text) - size,
		 "[objective p]\nwhen = region[more].over(1s) < 1%%\n");
	assert_int_equal(choose(text), -EINVAL);
	assert_non_null(strstr(error.text, "region[more].over(): "));
	/* One that is only useful is left out. */
	snprintf(text + size, sizeof(text) - size, "[objective p]\nwhen = region[more].p99 < 1s\n");
	assert_int_equal(choose(text), 0);
	assert_int_equal(limits.count, PKBPF_SPAN_LIMITS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_regions_there_is_none),
		cmocka_unit_test(a_percentile_gives_its_bound),
		cmocka_unit_test(what_cannot_do_without_comes_first),
		cmocka_unit_test(each_name_has_a_limit_of_its_own),
		cmocka_unit_test(two_limits_of_a_name_are_refused),
		cmocka_unit_test(there_is_room_for_so_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
