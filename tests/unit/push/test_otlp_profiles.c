// SPDX-License-Identifier: BSD-2-Clause
/* Tests profiles as OTLP: every index leads to what it names, and values are times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "account_machine.h"
#include "base/clock.h"
#include "push/otlp_profiles.h"

#define HZ 19

static json_t *table(json_t *body, const char *name)
{
	return json_object_get(json_object_get(body, "dictionary"), name);
}

static json_t *row(json_t *body, const char *name, json_t *owner, const char *index)
{
	return json_array_get(table(body, name),
			      (size_t)json_integer_value(json_object_get(owner, index)));
}

static const char *text(json_t *body, json_t *owner, const char *index)
{
	return json_string_value(row(body, "stringTable", owner, index));
}

static json_t *convert(const struct profile *profile, uint32_t kinds_mask, size_t *ret_profiles)
{
	const struct store_window window = {.begin_unix_ns = 1000, .end_unix_ns = 3000};
	char *bytes = NULL;
	size_t size;
	FILE *out = open_memstream(&bytes, &size);
	json_t *body;

	assert_int_equal(
		otlp_profiles_write_one(profile, &window, kinds_mask, "db\"1", out, ret_profiles),
		0);
	assert_int_equal(fclose(out), 0);
	body = json_loads(bytes, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(body);
	free(bytes);
	return body;
}

static json_t *first_profile(json_t *body)
{
	json_t *resource = json_array_get(json_object_get(body, "resourceProfiles"), 0);
	json_t *scope = json_array_get(json_object_get(resource, "scopeProfiles"), 0);

	return json_array_get(json_object_get(scope, "profiles"), 0);
}

/* Of the leaf of a sample. */
static const char *leaf(json_t *body, json_t *sample)
{
	json_t *stack = row(body, "stackTable", sample, "stackIndex"), *location, *line;

	location = json_array_get(table(body, "locationTable"),
				  (size_t)json_integer_value(json_array_get(
					  json_object_get(stack, "locationIndices"), 0)));
	line = json_array_get(json_object_get(location, "lines"), 0);
	return text(body, row(body, "functionTable", line, "functionIndex"), "nameStrindex");
}

static void samples_have_their_functions_and_times(void **state)
{
	struct fake_profile machine;
	json_t *body, *profile, *samples, *sample;
	size_t profiles, i;
	uint64_t time_ns = 0;

	account_begin(&machine, 1U << PKBPF_PROFILE_CPU, NS_PER_SECOND, 0);
	account_process(&machine, &(struct account_process){.pid = 812, .comm = "server"});
	account_samples(&machine, 812, "server", 3, FAKE_IPS(0x1000, 0x1100));
	account_samples(&machine, 812, "server", 4, FAKE_IPS(0x1100));
	account_end(&machine);
	profile_info(machine.profile)->frequency_hz = HZ;
	body = convert(machine.profile, 1U << PKBPF_PROFILE_CPU, &profiles);
	assert_int_equal(profiles, 1);
	profile = first_profile(body);
	assert_string_equal(text(body, json_object_get(profile, "sampleType"), "typeStrindex"),
			    "cpu");
	assert_string_equal(text(body, json_object_get(profile, "sampleType"), "unitStrindex"),
			    "nanoseconds");
	assert_string_equal(json_string_value(json_object_get(profile, "timeUnixNano")), "1000");
	assert_string_equal(json_string_value(json_object_get(profile, "durationNano")), "2000");
	samples = json_object_get(profile, "samples");
	assert_int_equal(json_array_size(samples), 2);
	json_array_foreach(samples, i, sample)
	{
		assert_non_null(leaf(body, sample));
		time_ns += strtoull(
			json_string_value(json_array_get(json_object_get(sample, "values"), 0)),
			NULL, 10);
	}
	assert_string_not_equal(leaf(body, json_array_get(samples, 0)),
				leaf(body, json_array_get(samples, 1)));
	assert_true(time_ns == 7 * (NS_PER_SECOND / HZ));
	/* Index 0 of each table is none. */
	assert_int_equal(json_object_size(json_array_get(table(body, "stackTable"), 0)), 0);
	assert_string_equal(json_string_value(json_array_get(table(body, "stringTable"), 0)), "");
	json_decref(body);
	fake_profile_done(&machine);
}

static void nothing_is_no_profile(void **state)
{
	struct fake_profile machine;
	size_t profiles = 1;

	account_begin(&machine, 1U << PKBPF_PROFILE_CPU, NS_PER_SECOND, 0);
	account_end(&machine);
	json_decref(convert(machine.profile, 1U << PKBPF_PROFILE_CPU, &profiles));
	assert_int_equal(profiles, 0);
	fake_profile_done(&machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_have_their_functions_and_times),
		cmocka_unit_test(nothing_is_no_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
