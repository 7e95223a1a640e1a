// SPDX-License-Identifier: BSD-2-Clause
/* Tests conditions on regions. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "finding/region_condition.h"

#define MS 1000000ULL

static struct region_line lines[] = {
	{.name = "predict",
	 .comm = "",
	 .parent = REGION_ROOT,
	 .sums = {.count = 100,
		  .total_ns = 5000 * MS,
		  .max_ns = 120 * MS,
		  .items = 3200,
		  .limit_ns = 100 * MS,
		  .over = 2,
		  .rss_readings = 100,
		  .rss_sum_kib = 100 << 10,
		  .rss_max_kib = 3 << 10,
		  .rss_growth_kib = -(32 << 10),
		  .part_ns = {[PKBPF_WAIT_NONE] = 4000 * MS, [PKBPF_WAIT_SLEEP] = 1000 * MS}},
	 .p50_ns = 40 * MS,
	 .p99_ns = 110 * MS,
	 .items_per_second = 640},
	{.name = "by_id", .comm = "", .parent = REGION_ROOT, .sums = {.count = 4, .total_ns = MS}},
	{.name = "unwatched", .comm = "", .parent = REGION_ROOT, .missed_ns = MS},
	{.name = "unleft", .comm = "", .parent = REGION_ROOT, .sums = {.lost_end = 3}},
};
static const struct region_list list = {lines, ARRAY_SIZE(lines)};

static int check(const char *text, char *sentence)
{
	struct region_condition condition;
	struct error error = {""};

	assert_true(region_condition_is(text));
	if (region_condition_parse(text, &condition, &error))
		fail_msg("%s: %s", text, error.text);
	return region_condition_check(&condition, &list, sentence, 256);
}

static void figures_are_those_of_the_region(void **state)
{
	static const struct {
		const char *text;
		int holds;
		const char *sentence;
	} rows[] = {
		{"region[predict].p99>100ms", 1, "region[predict].p99 is 110 ms"},
		{"region[predict].p99>200ms", 0, ""},
		{" region[predict].p50 <= 40ms ", 1, "region[predict].p50 is 40.0 ms"},
		{"region[predict].throughput<1000/s", 1, "region[predict].throughput is 640/s"},
		{"region[predict].throughput<600", 0, ""},
		{"region[predict].count>=100", 1, "region[predict].count is 100"},
		{"region[predict].mean>49ms", 1, "region[predict].mean is 50.0 ms"},
		{"region[predict].sleep>0.9s", 1, "region[predict].sleep is 1.00 s"},
		/* Without items: regions per second of their own time. */
		{"region[by_id].throughput<5k/s", 1, "region[by_id].throughput is 4,000/s"},
		{"region[by_id].sleep>0ns", -ENODATA, ""},
		{"region[predict].over(100ms)>1.5%", 1, "region[predict].over is 2.00%"},
		{"region[predict].over(100ms)>2%", 0, ""},
		{"region[predict].over(99ms)>0%", -ENODATA, ""},
		{"region[predict].rss_mean>=1M", 1, "region[predict].rss_mean is 1.00 MiB"},
		{"region[predict].rss_max>3M", 0, ""},
		{"region[predict].rss_growth<-31M", 1, "region[predict].rss_growth is -32.0 MiB"},
		{"region[predict].rss_growth_per_item<-1K", 1,
		 "region[predict].rss_growth_per_item is -10.2 KiB"},
		{"region[by_id].rss_max>0", -ENODATA, ""},
		/* Nothing was counted, or nothing has a length. */
		{"region[unwatched].count<1", -ENODATA, ""},
		{"region[unwatched].p99<1ms", -ENODATA, ""},
		{"region[unleft].p99<1ms", -ENODATA, ""},
		{"region[unleft].count<1", 1, "region[unleft].count is 0"},
		{"region[unleft].not_left>2", 1, "region[unleft].not_left is 3"},
		{"region[none].p99>1ms", -ESRCH, ""},
		{"?region[none].p99>1ms", -ESRCH, ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char sentence[256] = "";

		assert_int_equal(check(rows[i].text, sentence), rows[i].holds);
		assert_string_equal(sentence, rows[i].sentence);
	}
}

static void names_may_hold_any_character(void **state)
{
	struct region_condition condition;

	assert_int_equal(region_condition_parse("?region[a].b>c].count>1", &condition, NULL), 0);
	assert_string_equal(condition.name, "a].b>c");
	assert_true(condition.may_be_absent);
}

static void what_cannot_be_meant_is_refused(void **state)
{
	static const char *const texts[] = {
		"region[predict]",
		"region[predict].p99",
		"region[].p99>1ms",
		"region[predict]p99>1ms",
		"region[predict].p98>1ms",
		"region[predict].over>1%",
		"region[predict].over(>1%",
		"region[predict].over(0)>1%",
		"region[predict].over(1ms)x>1%",
		"region[predict].p99(1ms)>1%",
		"region[predict].violations>1",
		"region[predict].p99>1",
		"region[predict].count>1/s",
		"region[predict].p99>1ms/s",
		"region[predict].>1ms",
		"region[",
		"region[0123456789012345678901234567890123456789012345678901234567890123].p99>1s",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct region_condition condition;
		struct error error = {""};

		assert_int_equal(region_condition_parse(texts[i], &condition, &error), -EINVAL);
		assert_string_not_equal(error.text, "");
	}
	assert_false(region_condition_is("cpu.share>80%"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_are_those_of_the_region),
		cmocka_unit_test(names_may_hold_any_character),
		cmocka_unit_test(what_cannot_be_meant_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
