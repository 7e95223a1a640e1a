// SPDX-License-Identifier: BSD-2-Clause
/* Tests OTLP in protocol buffers: bytes as the wire format has them, and all that is written in
 * JSON has a number. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "account_machine.h"
#include "base/array.h"
#include "base/clock.h"
#include "push/otlp_metrics.h"
#include "push/otlp_profiles.h"
#include "push/otlp_proto.h"

static void assert_encoded(const char *json, enum otlp_request request, const char *bytes,
			   size_t size)
{
	char *body = NULL;
	size_t body_size = 0;

	assert_int_equal(otlp_proto_encode(json, request, &body, &body_size), 0);
	assert_int_equal(body_size, size);
	assert_memory_equal(body, bytes, size);
	free(body);
}

#define ASSERT_ENCODED(json, request, bytes) assert_encoded(json, request, bytes, sizeof(bytes) - 1)

static void fields_have_their_numbers_and_types(void **state)
{
	ASSERT_ENCODED("{\"resourceMetrics\":[{\"scopeMetrics\":[{\"metrics\":[{\"name\":\"a\","
		       "\"sum\":{\"dataPoints\":[{\"timeUnixNano\":\"258\",\"asDouble\":0}],"
		       "\"aggregationTemporality\":2,\"isMonotonic\":true}}]}]}]}",
		       OTLP_REQUEST_METRICS,
		       "\x0a\x21\x12\x1f\x12\x1d" /* resource, scope, metric */
		       "\x0a\x01"
		       "a"
		       "\x3a\x18"					      /* name, sum */
		       "\x0a\x12\x19\x02\x01\0\0\0\0\0\0\x21\0\0\0\0\0\0\0\0" /* point */
		       "\x10\x02\x18\x01");
	/* An index of 0 is left out, a value that was chosen is not; a row of nothing is a row. */
	ASSERT_ENCODED("{\"resourceProfiles\":[],\"dictionary\":{\"linkTable\":[{}],"
		       "\"stringTable\":[\"\",\"b\"],\"stackTable\":[{},"
		       "{\"locationIndices\":[0,300]}],\"attributeTable\":[{\"keyStrindex\":0,"
		       "\"value\":{\"intValue\":\"0\"}}]}}\n",
		       OTLP_REQUEST_PROFILES,
		       "\x12\x16\x22\0\x2a\0\x2a\x01"
		       "b"
		       "\x3a\0\x3a\x05\x0a\x03\0\xac\x02"
		       "\x32\x04\x12\x02\x18\0");
	ASSERT_ENCODED("{\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[{"
		       "\"profileId\":\"00ff10\"}]}]}]}",
		       OTLP_REQUEST_PROFILES, "\x0a\x09\x12\x07\x12\x05\x3a\x03\0\xff\x10");
}

static void texts_lose_their_escapes(void **state)
{
	ASSERT_ENCODED("{\"dictionary\":{\"stringTable\":[\"\\\"\\\\\\n\\u003c\\u00e9\\u202e"
		       "\\ud83d\\ude00\"]}}",
		       OTLP_REQUEST_PROFILES,
		       "\x12\x0f\x2a\x0d"
		       "\"\\\n<\xc3\xa9\xe2\x80\xae\xf0\x9f\x98\x80");
}

static void what_is_no_request_is_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		"[]",
		"{",
		"{\"other\":1}",
		"{\"dictionary\":{\"stringTable\":[\"a}}",
		"{\"dictionary\":{\"stringTable\":[\"\\",
		"{\"dictionary\":{\"stringTable\":[\"\\u12",
		"{\"resourceMetrics\":[]}",
		"{\"dictionary\":{\"stackTable\":[{\"locationIndices\":[x]}]}}",
	};
	char *body = NULL;
	size_t size;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(otlp_proto_encode(wrong[i], OTLP_REQUEST_PROFILES, &body, &size),
				 -EBADMSG);
}

/* A request with profiles; the caller frees it. */
static char *profiles_request(void)
{
	const struct store_window window = {.begin_unix_ns = 1000, .end_unix_ns = 3000};
	struct fake_profile machine;
	char *json = NULL;
	size_t size, profiles;
	FILE *out = open_memstream(&json, &size);

	account_begin(&machine, 1U << PKBPF_PROFILE_CPU, NS_PER_SECOND, 0);
	account_process(&machine,
			&(struct account_process){.pid = 5, .comm = "a\"b", .run_ns = 1000});
	account_samples(&machine, 5, "a\"b", 3, FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_end(&machine);
	assert_int_equal(
		otlp_profiles_write_one(machine.profile, &window, ~0U, "host", out, &profiles), 0);
	assert_int_equal(fclose(out), 0);
	fake_profile_done(&machine);
	assert_true(profiles > 0);
	return json;
}

static void all_that_is_written_has_a_number(void **state)
{
	char *json = profiles_request(), *body = NULL;
	size_t size;

	assert_int_equal(otlp_proto_encode(json, OTLP_REQUEST_PROFILES, &body, &size), 0);
	assert_true(size < strlen(json));
	free(body);
	free(json);
}

/* Each is a block of its own: a sanitizer sees a read beyond its end. */
static void each_beginning_is_refused(void **state)
{
	char *json = profiles_request(), *body = NULL;
	size_t size;

	for (size_t length = strlen(json) - 2; length-- > 0;) {
		char *beginning = strndup(json, length);

		assert_int_equal(otlp_proto_encode(beginning, OTLP_REQUEST_PROFILES, &body, &size),
				 -EBADMSG);
		free(beginning);
	}
	free(json);
}

static void metrics_have_numbers_too(void **state)
{
	char *json = NULL, *body = NULL;
	size_t size, body_size;
	FILE *out = open_memstream(&json, &size);

	otlp_metrics_write(
		"# TYPE a_total counter\na_total{c=\"x\\\"y\"} 1.5\n# TYPE g gauge\ng 3\n", "db",
		1000, 2000, out);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(otlp_proto_encode(json, OTLP_REQUEST_METRICS, &body, &body_size), 0);
	assert_non_null(memmem(body, body_size, "x\"y", 3));
	free(body);
	free(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_have_their_numbers_and_types),
		cmocka_unit_test(texts_lose_their_escapes),
		cmocka_unit_test(what_is_no_request_is_refused),
		cmocka_unit_test(all_that_is_written_has_a_number),
		cmocka_unit_test(each_beginning_is_refused),
		cmocka_unit_test(metrics_have_numbers_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
