// SPDX-License-Identifier: BSD-2-Clause
/* Tests what `pkbpf doctor --json` writes of checks with known results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/doctor_json.h"

static const struct capability_ops needed = {.name = "needed", .required = true};
static const struct capability_ops useful = {.name = "use\"ful", .without = "the rest"};

static void a_remedy_is_what_comes_last(void **state)
{
	char both[] = "reason; with more; remedy", none[] = "reason;remedy", empty[] = "",
	     end[] = "reason; ";

	assert_string_equal(doctor_split_remedy(both), "remedy");
	assert_string_equal(both, "reason; with more");
	assert_string_equal(doctor_split_remedy(none), "");
	assert_string_equal(none, "reason;remedy");
	assert_string_equal(doctor_split_remedy(empty), "");
	assert_string_equal(doctor_split_remedy(end), "");
	assert_string_equal(end, "reason");
}

/* The caller frees it. */
static char *written(struct doctor_check *checks, size_t count)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	doctor_json_write(out, checks, count);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no %s in %s", part, text);
}

static void what_is_there_has_no_reason(void **state)
{
	struct doctor_check checks[] = {{.capability = &needed, .is_present = true},
					{.capability = &useful, .is_present = true}};
	char *text = written(checks, 2);

	assert_has(text, "\"schema_version\": 1");
	assert_has(text, "\"name\": \"pkbpf\"");
	assert_has(text, "\"system\": \"Linux\"");
	assert_has(text, "\"can_profile\": true");
	assert_has(text, "\"name\": \"use\\\"ful\"");
	assert_null(strstr(text, "\"reason\""));
	assert_null(strstr(text, "\"works_without\""));
	free(text);
}

static void what_is_missing_has_reason_and_remedy(void **state)
{
	struct doctor_check checks[] = {
		{.capability = &needed, .is_present = true},
		{.capability = &useful, .error = {.text = "it is off; switch it on"}}};
	char *text = written(checks, 2);

	/* It is not required. */
	assert_has(text, "\"can_profile\": true");
	assert_has(text, "\"present\": false");
	assert_has(text, "\"reason\": \"it is off\"");
	assert_has(text, "\"remedy\": \"switch it on\"");
	assert_has(text, "\"works_without\": \"the rest\"");
	free(text);
}

static void without_what_is_required_nothing_can_be_profiled(void **state)
{
	struct doctor_check checks[] = {{.capability = &needed, .error = {.text = "no rights"}},
					{.capability = &useful, .is_present = true}};
	char *text = written(checks, 2);

	assert_has(text, "\"can_profile\": false");
	assert_has(text, "\"required\": true");
	assert_has(text, "\"remedy\": \"\"");
	free(text);
	text = written(checks, 0);
	assert_has(text, "\"can_profile\": true");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_remedy_is_what_comes_last),
		cmocka_unit_test(what_is_there_has_no_reason),
		cmocka_unit_test(what_is_missing_has_reason_and_remedy),
		cmocka_unit_test(without_what_is_required_nothing_can_be_profiled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
