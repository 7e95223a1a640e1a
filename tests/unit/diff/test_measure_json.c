// SPDX-License-Identifier: BSD-2-Clause
/* Tests what a JSON report is as values to compare, and which are refused. */
#include <errno.h>
#include <string.h>

#include "diff/measure_json.h"
#include "side_fixture.h"

#define REPORT(version, events, more)                                                              \
	"{\"schema_version\":" version                                                             \
	",\"tool\":{\"name\":\"pkbpf\"},\"host\":{\"name\":\"vm\"},"                               \
	"\"targets\":\"command ./a\",\"time\":{\"duration_ns\":2000000000,\"start_unix_ns\":7},"   \
	"\"events\":[" events "],\"samples\":{\"lost\":2,\"lost_other\":3}," more "}"
#define ROWS                                                                                       \
	"\"total\":{\"cpu\":{\"total_ns\":900,\"samples\":9}},\"rows\":[{\"comm\":\"a\","          \
	"\"container\":\"web\",\"cpu\":{\"total_ns\":600,\"user_ns\":1,\"samples\":6},"            \
	"\"offcpu\":{\"total_ns\":50},\"memory\":{\"minor_faults\":30,\"major_faults\":4}},"       \
	"{\"comm\":\"a\",\"cpu\":{\"total_ns\":300,\"samples\":3}}]"

static struct sides sides;
static struct measurement *side;

static int setup(void **state)
{
	(void)state;
	sides_init(&sides, 0);
	side = &sides.items[DIFF_BASE];
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sides_done(&sides);
	return 0;
}

static int measure(const char *text, struct error *error)
{
	return measure_json(side, text, strlen(text), error);
}

/* Of the first slice; -1: there is none. */
static double value_of(uint32_t kind, enum diff_level level, const char *name, double *ret_count)
{
	struct diff_key key = sides_key(&sides, kind, level, name);
	const struct diff_series *series = measurement_find(side, &key);

	*ret_count = series ? series->values.items[0].count : -1;
	return series ? series->values.items[0].value : -1;
}

static void figures_of_rows_are_values(void **state)
{
	struct error error;
	double count;

	(void)state;
	assert_int_equal(measure(REPORT("1", "\"cpu\",\"faults\"", ROWS), &error), 0);
	/* Rows of one name add up. Samples stand for time that the kernel has not counted. */
	assert_float_equal(value_of(PKBPF_PROFILE_CPU, DIFF_PROCESS, "a", &count), 900, 0);
	assert_float_equal(count, 3, 0);
	assert_float_equal(value_of(PKBPF_PROFILE_CPU, DIFF_ALL, "", &count), 900, 0);
	assert_float_equal(count, 9, 0);
	assert_float_equal(value_of(PKBPF_PROFILE_CPU, DIFF_CONTAINER, "web", &count), 600, 0);
	assert_float_equal(value_of(PKBPF_PROFILE_FAULTS, DIFF_PROCESS, "a", &count), 34, 0);
	/* Not recorded. */
	assert_float_equal(value_of(PKBPF_PROFILE_OFFCPU, DIFF_PROCESS, "a", &count), -1, 0);
	assert_int_equal(side->lost, 5);
	assert_string_equal(side->host, "vm");
	assert_true(side->is_command);
	assert_int_equal(side->start_unix_ns, 7);
	assert_int_equal(measurement_length_ns(side), 2 * NS_PER_SECOND);
}

static void what_is_no_report_is_refused(void **state)
{
	static const struct {
		const char *text, *says;
		int err;
	} cases[] = {
		{REPORT("3", "\"cpu\"", ROWS), "another version", -ENOTSUP},
		{REPORT("0", "\"cpu\"", ROWS), "another version", -ENOTSUP},
		{REPORT("1", "\"cpu\"", "\"rows\":[]"), "no report of pkbpf", -EBADMSG},
		{REPORT("1", "\"cpu\"", "\"total\":{}"), "no report of pkbpf", -EBADMSG},
		{"{\"tool\":{\"name\":\"perf\"}}", "no report of pkbpf", -EBADMSG},
		{"{", "line 1", -EBADMSG},
	};
	struct error error;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(measure(cases[i].text, &error), cases[i].err);
		if (!strstr(error.text, cases[i].says))
			fail_msg("%s", error.text);
	}
	assert_int_equal(measure(REPORT("2", "\"cpu\"", ROWS), &error), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(figures_of_rows_are_values, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_report_is_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
