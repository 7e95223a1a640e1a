// SPDX-License-Identifier: BSD-2-Clause
/* Tests metrics as OTLP: counters and gauges with their labels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "push/otlp_metrics.h"

static char *convert(const char *text)
{
	char *json = NULL;
	size_t size;
	FILE *out = open_memstream(&json, &size);

	otlp_metrics_write(text, "db\"1", 1000, 2000, out);
	assert_int_equal(fclose(out), 0);
	return json;
}

static void counters_are_sums_since_the_start(void **state)
{
	char *json = convert("# HELP a_total what\n# TYPE a_total counter\n"
			     "a_total{container=\"x\\\"y\",cause=\"z\"} 1.5\na_total 2\n");

	assert_non_null(strstr(
		json, "{\"name\":\"a_total\",\"sum\":{\"dataPoints\":[{\"attributes\":["
		      "{\"key\":\"container\",\"value\":{\"stringValue\":\"x\\\"y\"}},"
		      "{\"key\":\"cause\",\"value\":{\"stringValue\":\"z\"}}],"
		      "\"startTimeUnixNano\":\"1000\",\"timeUnixNano\":\"2000\",\"asDouble\":1.5},"
		      "{\"startTimeUnixNano\":\"1000\",\"timeUnixNano\":\"2000\",\"asDouble\":2}],"
		      "\"aggregationTemporality\":2,\"isMonotonic\":true}}"));
	assert_non_null(strstr(json, "{\"stringValue\":\"db\\\"1\"}"));
	free(json);
}

/* A group that was forgotten counts from 0 again. */
static void a_counter_may_have_a_begin_of_its_own(void **state)
{
	char *json = convert("# TYPE a_total counter\n# BEGIN 1500\na_total{g=\"x\"} 1\n"
			     "a_total{g=\"y\"} 2\n");

	(void)state;
	assert_non_null(strstr(json, "\"startTimeUnixNano\":\"1500\",\"timeUnixNano\":\"2000\","
				     "\"asDouble\":1}"));
	assert_non_null(strstr(json, "\"startTimeUnixNano\":\"1000\",\"timeUnixNano\":\"2000\","
				     "\"asDouble\":2}"));
	free(json);
}

static void gauges_are_of_now(void **state)
{
	char *json = convert("# TYPE g gauge\ng 3\n# TYPE h gauge\nh{a=\"b\"} 4\n");

	assert_non_null(strstr(json, "{\"name\":\"g\",\"gauge\":{\"dataPoints\":[{"
				     "\"timeUnixNano\":\"2000\",\"asDouble\":3}]}},"
				     "{\"name\":\"h\",\"gauge\":"));
	free(json);
}

static void nothing_is_a_request_without_metrics(void **state)
{
	char *json = convert("");

	assert_non_null(strstr(json, "\"metrics\":[]"));
	free(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_are_sums_since_the_start),
		cmocka_unit_test(a_counter_may_have_a_begin_of_its_own),
		cmocka_unit_test(gauges_are_of_now),
		cmocka_unit_test(nothing_is_a_request_without_metrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
