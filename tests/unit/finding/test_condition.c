// SPDX-License-Identifier: BSD-2-Clause
/* Tests what limits say and whom they hit. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "finding/condition.h"

static void expressions_mean_what_they_say(void **state)
{
	static const struct {
		const char *text, *group, *name;
		enum condition_comparison comparison;
		double value;
		bool any;
		uint32_t pid;
		const char *who;
	} rows[] = {
		{"blockio.p99>10ms", "blockio", "p99", CONDITION_ABOVE, 10e6, false, 0, ""},
		{"offcpu.total>2s", "offcpu", "total", CONDITION_ABOVE, 2e9, false, 0, ""},
		{"cpu.share>80%", "cpu", "share", CONDITION_ABOVE, 80, false, 0, ""},
		{"cpu.share >= 80.5", "cpu", "share", CONDITION_AT_LEAST, 80.5, false, 0, ""},
		{"lost>0", "lost", "total", CONDITION_ABOVE, 0, false, 0, ""},
		{"  memory.rss<64MiB ", "memory", "rss", CONDITION_BELOW, 64 * 1048576.0, false, 0,
		 ""},
		{"memory.rss_growth<=-1K", "memory", "rss_growth", CONDITION_AT_MOST, -1024, false,
		 0, ""},
		{"*:cpu.total>1.5m", "cpu", "total", CONDITION_ABOVE, 90e9, true, 0, ""},
		{"812:blockio.reads>2k", "blockio", "reads", CONDITION_ABOVE, 2000, false, 812, ""},
		{"postgres:cpu.share>1", "cpu", "share", CONDITION_ABOVE, 1, false, 0, "postgres"},
		{"a:b>c:cpu.share>1", "cpu", "share", CONDITION_ABOVE, 1, false, 0, "a:b>c"},
		{"0:cpu.share>1", "cpu", "share", CONDITION_ABOVE, 1, false, 0, "0"},
		{"docker:0123456789ab:cpu.share>1", "cpu", "share", CONDITION_ABOVE, 1, false, 0,
		 "docker:0123456789ab"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct condition condition;
		struct error error = {""};

		if (condition_parse(rows[i].text, &condition, &error))
			fail_msg("%s: %s", rows[i].text, error.text);
		assert_string_equal(condition.figure->group, rows[i].group);
		assert_string_equal(condition.figure->name, rows[i].name);
		assert_int_equal(condition.comparison, rows[i].comparison);
		assert_true(condition.value >= rows[i].value - 0.01 &&
			    condition.value <= rows[i].value + 0.01);
		assert_int_equal(condition.any_row, rows[i].any);
		assert_int_equal(condition.pid, rows[i].pid);
		assert_string_equal(condition.name, rows[i].who);
	}
}

static void wrong_expressions_are_refused_with_a_reason(void **state)
{
	static const struct {
		const char *text, *part;
	} rows[] = {
		{"", "expected a condition"},
		{">1", "expected a condition"},
		{"cpu.share", "expected a condition"},
		{"cpu.nothing>1", "cpu.nothing"},
		{"nothing>1", "nothing"},
		{"cpu.share>", "like 80%"},
		{"cpu.share>x", "like 80%"},
		{"cpu.share>1ms", "like 80%"},
		{"cpu.total>10", "like 10ms"},
		{"cpu.total>10 ms x", "like 10ms"},
		{"cpu.total>-1s", "like 10ms"},
		{"cpu.total>0x10s", "like 10ms"},
		{"cpu.total>.5s", "like 10ms"},
		{"memory.rss>1%", "like 64MiB"},
		{"lost>1s", "like 1000"},
		{":cpu.share>1", "before the colon"},
		{"812:lost>0", "whole profile"},
		{"cpu.share>1e3", "like 80%"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct condition condition;
		struct error error = {""};

		assert_int_equal(condition_parse(rows[i].text, &condition, &error), -EINVAL);
		if (!strstr(error.text, rows[i].part))
			fail_msg("%s: %s", rows[i].text, error.text);
	}
}

static void every_figure_is_found_by_its_name_alone(void **state)
{
	const struct figure *figure;
	char name[128];

	for (size_t i = 0; (figure = figure_at(i)); i++) {
		snprintf(name, sizeof(name), "%s.%s", figure->group, figure->name);
		assert_ptr_equal(figure_find(name), figure);
		/* A colon or an comparison in a name could not be typed. */
		assert_null(strpbrk(name, ":<>= "));
		assert_true(figure->summary[0] != '\0');
	}
}

static char told[1024];

static void tell(void *context, const char *sentence)
{
	strcat(told, sentence);
	strcat(told, "\n");
}

static int check(const char *text, const struct resource_rows *rows)
{
	struct condition condition;
	struct error error;

	told[0] = '\0';
	assert_int_equal(condition_parse(text, &condition, &error), 0);
	return condition_check(&condition, rows, tell, NULL);
}

static void limits_hit_those_they_name(void **state)
{
	struct resource_row items[] = {
		{.pid = 812,
		 .name = "postgres",
		 .known = ROW_HAS_INTERVAL | ROW_HAS_BLOCKIO,
		 .cpu.share = 60,
		 .blockio.device = {.p99_ns = 14000000, .max_ns = 20000000}},
		{.pid = 813,
		 .name = "postgres",
		 .known = ROW_HAS_INTERVAL | ROW_HAS_BLOCKIO,
		 .cpu.share = 30},
		{.name = "",
		 .container = "docker:abc",
		 .known = ROW_HAS_INTERVAL | ROW_HAS_BLOCKIO,
		 .cpu.share = 1},
	};
	struct resource_rows rows = {
		.items = items,
		.count = ARRAY_SIZE(items),
		.all_count = ARRAY_SIZE(items),
		.total = {.known = ROW_HAS_INTERVAL | ROW_HAS_BLOCKIO, .cpu.share = 91},
	};

	assert_int_equal(check("cpu.share>90", &rows), 1);
	assert_string_equal(told, "cpu.share is 91.00%\n");
	assert_int_equal(check("cpu.share>91", &rows), 0);
	assert_int_equal(check("cpu.share>=91", &rows), 1);
	assert_int_equal(check("*:cpu.share>20", &rows), 2);
	assert_string_equal(
		told, "postgres 812: cpu.share is 60.00%\npostgres 813: cpu.share is 30.00%\n");
	assert_int_equal(check("813:cpu.share>20", &rows), 1);
	assert_int_equal(check("postgres:cpu.share<50", &rows), 1);
	assert_int_equal(check("docker:abc:cpu.share<50", &rows), 1);
	assert_string_equal(told, "docker:abc: cpu.share is 1.00%\n");
	assert_int_equal(check("nginx:cpu.share>0", &rows), -ESRCH);
	assert_int_equal(check("7:cpu.share>0", &rows), -ESRCH);
	assert_int_equal(check("*:blockio.p99>10ms", &rows), 1);
	assert_string_equal(told, "postgres 812: blockio.p99 is 14.0 ms\n");
	/* No request at all: no length that could be short. */
	assert_int_equal(check("813:blockio.p99<1s", &rows), 0);
	assert_int_equal(check("offcpu.total>0s", &rows), -ENODATA);
}

static void what_many_have_together_is_no_figure_of_one(void **state)
{
	struct resource_row items[] = {
		{.pid = 812,
		 .name = "cc1",
		 .known = ROW_HAS_INTERVAL | ROW_HAS_WAIT_LENGTHS,
		 .cpu.share = 5,
		 .processes = 1,
		 .waits.lengths = {.p99_ns = 1000, .max_ns = 1000}},
		{.name = "cc1",
		 .known = ROW_HAS_INTERVAL | ROW_HAS_WAIT_LENGTHS,
		 .cpu.share = 150,
		 .processes = 4000,
		 .waits.lengths = {.p99_ns = 30000000, .max_ns = 30000000}},
		{.name = "[writeback]", .known = ROW_HAS_INTERVAL, .cpu.share = 90, .processes = 1},
	};
	struct resource_rows rows = {.items = items,
				     .count = ARRAY_SIZE(items),
				     .all_count = ARRAY_SIZE(items),
				     .by = ROWS_BY_PROCESS};

	rows.total.known = ROW_HAS_INTERVAL | ROW_HAS_WAIT_LENGTHS;
	assert_int_equal(check("cc1:cpu.share>80", &rows), 0);
	assert_int_equal(check("*:cpu.share>80", &rows), 1);
	assert_string_equal(told, "[writeback]: cpu.share is 90.00%\n");
	/* How long single waits were, it is. */
	assert_int_equal(check("cc1:offcpu.p99>10ms", &rows), 1);
	assert_string_equal(told, "cc1: offcpu.p99 is 30.0 ms\n");
	/* Who asks for all of a name wants the sum. */
	rows.by = ROWS_BY_COMM;
	assert_int_equal(check("cc1:cpu.share>80", &rows), 1);
}

static void limits_hit_those_that_tables_leave_out_too(void **state)
{
	struct resource_row items[] = {
		{.pid = 812, .name = "postgres", .known = ROW_HAS_RSS, .memory.rss_bytes = 1 << 20},
		{.pid = 7,
		 .name = "cache",
		 .known = ROW_HAS_RSS,
		 .memory.rss_bytes = 2ULL << 30,
		 .is_quiet = true},
	};
	struct resource_rows rows = {
		.items = items, .count = 1, .all_count = 2, .total = {.known = ROW_HAS_RSS}};

	assert_int_equal(check("*:memory.rss>1G", &rows), 1);
	assert_string_equal(told, "cache 7: memory.rss is 2.00 GiB\n");
	assert_int_equal(check("7:memory.rss<1G", &rows), 0);
	assert_int_equal(check("8:memory.rss<1G", &rows), -ESRCH);
}

static void what_it_costs_to_begin_is_no_part_of_the_interval(void **state)
{
	struct profile *profile = profile_new(NULL);
	struct resource_rows rows = {.profile = profile, .interval_ns = 1000000000};

	profile_info(profile)->own_cpu_ns = 650000000;
	profile_info(profile)->own_start_cpu_ns = 600000000;
	profile_info(profile)->bpf_cpu_ns = 10000000;
	assert_int_equal(check("cost.share>5.9%", &rows), 1);
	assert_int_equal(check("cost.share>6.1%", &rows), 0);
	/* A recording that does not say what it was. */
	profile_info(profile)->own_start_cpu_ns = 0;
	assert_int_equal(check("cost.share>65%", &rows), 1);
	profile_free(profile);
}

static void what_nobody_knows_of_the_run_holds_no_condition_and_is_said(void **state)
{
	struct profile *profile = profile_new(NULL);
	struct resource_rows rows = {.profile = profile, .busy_percent = -1};

	assert_int_equal(check("machine.busy<50%", &rows), -ENODATA);
	assert_int_equal(check("machine.memory_available<1T", &rows), -ENODATA);
	/* No sample was expected. */
	assert_int_equal(check("lost.share>1%", &rows), -ENODATA);
	assert_int_equal(check("lost>0", &rows), 0);
	rows.busy_percent = 40;
	assert_int_equal(check("machine.busy<50%", &rows), 1);
	profile_free(profile);
}

static void a_figure_needs_its_events_and_rows_that_have_it(void **state)
{
	const uint32_t cpu = 1U << PKBPF_PROFILE_CPU, offcpu = 1U << PKBPF_PROFILE_OFFCPU;
	const struct {
		const char *text;
		uint32_t kinds_mask;
		enum rows_by by;
		const char *reason; /* NULL: possible */
	} rows[] = {
		{"blockio.p99>10ms", cpu | offcpu, ROWS_BY_PROCESS, "add blockio to --events"},
		{"blockio.p99>10ms", 1U << PKBPF_PROFILE_BLOCKIO, ROWS_BY_PROCESS, NULL},
		{"offcpu.p99>10ms", cpu, ROWS_BY_PROCESS, "add offcpu to --events"},
		{"offcpu.p99>10ms", offcpu, ROWS_BY_THREAD, "no wait-time distributions by thread"},
		{"offcpu.p99>10ms", offcpu, ROWS_BY_COMM, NULL},
		{"*:memory.rss>1G", cpu, ROWS_BY_THREAD, "no RSS by thread"},
		{"memory.rss>1G", cpu, ROWS_BY_THREAD, NULL},
		{"*:memory.rss>1G", cpu, ROWS_BY_PROCESS, NULL},
		{"lost>0", 0, ROWS_BY_PROCESS, NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct condition condition;
		struct error error = {0};
		int err;

		assert_int_equal(condition_parse(rows[i].text, &condition, &error), 0);
		err = condition_check_possible(&condition, rows[i].kinds_mask, rows[i].by, &error);
		assert_int_equal(err, rows[i].reason ? -EINVAL : 0);
		if (rows[i].reason)
			assert_non_null(strstr(error.text, rows[i].reason));
	}
}

#define SECOND_NS 1000000000ULL

static void a_rate_is_one_over_the_life_of_a_process(void **state)
{
	struct resource_row items[] = {
		{.pid = 5,
		 .name = "job",
		 .known = ROW_HAS_INTERVAL,
		 .lifetime_ns = 2 * SECOND_NS,
		 .cpu.share = 9},
		{.pid = 6,
		 .name = "all",
		 .known = ROW_HAS_INTERVAL,
		 .lifetime_ns = 20 * SECOND_NS,
		 .cpu.share = 9},
		/* 9 ms, of which it used each */
		{.pid = 7,
		 .name = "moment",
		 .known = ROW_HAS_INTERVAL,
		 .lifetime_ns = SECOND_NS * 9 / 1000,
		 .cpu.share = 0.045},
		/* one after the other, none longer than a second */
		{.name = "many",
		 .known = ROW_HAS_INTERVAL,
		 .lifetime_ns = SECOND_NS,
		 .processes = 20,
		 .cpu.share = 9},
	};
	struct resource_rows rows = {
		.items = items,
		.count = 4,
		.all_count = 4,
		.interval_ns = 20 * SECOND_NS,
		.total = {.known = ROW_HAS_INTERVAL, .cpu.share = 18},
	};

	assert_int_equal(check("job:cpu.share>80%", &rows), 1);
	assert_string_equal(told, "job 5: cpu.share is 90.00%\n");
	assert_int_equal(check("all:cpu.share>80%", &rows), 0);
	assert_int_equal(check("moment:cpu.share>1%", &rows), 0);
	assert_int_equal(check("many:cpu.share>80%", &rows), 0);
	assert_int_equal(check("cpu.share>80%", &rows), 0);
}

static void a_container_goes_by_its_name_with_or_without_its_runtime(void **state)
{
	struct resource_row items[] = {
		{.name = "a", .container = "docker:web", .known = ROW_HAS_INTERVAL, .cpu.share = 9},
		{.name = "b", .container = "db.service", .known = ROW_HAS_INTERVAL, .cpu.share = 9},
	};
	struct resource_rows rows = {
		.items = items,
		.count = 2,
		.all_count = 2,
		.total = {.known = ROW_HAS_INTERVAL},
	};

	assert_int_equal(check("docker:web:cpu.share>5", &rows), 1);
	assert_int_equal(check("web:cpu.share>5", &rows), 1);
	assert_int_equal(check("db:cpu.share>5", &rows), 1);
	assert_int_equal(check("db.service:cpu.share>5", &rows), 1);
	assert_int_equal(check("we:cpu.share>5", &rows), -ESRCH);
}

static void a_question_mark_allows_absence_of_somebody_with_a_name(void **state)
{
	struct condition condition;
	struct error error;

	assert_int_equal(condition_parse("?nginx:cpu.share>5", &condition, &error), 0);
	assert_true(condition.may_be_absent);
	assert_string_equal(condition.name, "nginx");
	assert_int_equal(condition_parse("nginx:cpu.share>5", &condition, &error), 0);
	assert_false(condition.may_be_absent);
	assert_int_equal(condition_parse("?cpu.share>5", &condition, &error), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rate_is_one_over_the_life_of_a_process),
		cmocka_unit_test(a_container_goes_by_its_name_with_or_without_its_runtime),
		cmocka_unit_test(a_question_mark_allows_absence_of_somebody_with_a_name),
		cmocka_unit_test(expressions_mean_what_they_say),
		cmocka_unit_test(wrong_expressions_are_refused_with_a_reason),
		cmocka_unit_test(every_figure_is_found_by_its_name_alone),
		cmocka_unit_test(limits_hit_those_they_name),
		cmocka_unit_test(what_it_costs_to_begin_is_no_part_of_the_interval),
		cmocka_unit_test(what_nobody_knows_of_the_run_holds_no_condition_and_is_said),
		cmocka_unit_test(what_many_have_together_is_no_figure_of_one),
		cmocka_unit_test(limits_hit_those_that_tables_leave_out_too),
		cmocka_unit_test(a_figure_needs_its_events_and_rows_that_have_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
