// SPDX-License-Identifier: BSD-2-Clause
/* Tests SARIF: lines at their files, relative ones below the working directory, and findings. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "account_scenario.h"
#include "base/array.h"

#define APP	"/bin/app"
#define PROGRAM "/usr/bin/program" /* of the account */

static char here[PATH_MAX + 16];

static json_t *parse(char *text)
{
	json_error_t error;
	json_t *root = json_loads(text, 0, &error);

	if (!root)
		fail_msg("line %d: %s", error.line, error.text);
	free(text);
	return root;
}

static const json_t *run_of(const json_t *root)
{
	assert_string_equal(json_string_value(json_object_get(root, "version")), "2.1.0");
	return json_array_get(json_object_get(root, "runs"), 0);
}

static const char *text_of(const json_t *result)
{
	return json_string_value(json_object_get(json_object_get(result, "message"), "text"));
}

static const char *rule_of(const json_t *result)
{
	return json_string_value(json_object_get(result, "ruleId"));
}

static void assert_place(const json_t *result, const char *uri, const char *base, int line)
{
	const json_t *place = json_object_get(
			     json_array_get(json_object_get(result, "locations"), 0),
			     "physicalLocation"),
		     *file = json_object_get(place, "artifactLocation"),
		     *id = json_object_get(file, "uriBaseId");

	assert_string_equal(json_string_value(json_object_get(file, "uri")), uri);
	if (base)
		assert_string_equal(json_string_value(id), base);
	else
		assert_null(id);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(place, "region"), "startLine")),
		line);
}

/* Each rule that a result names is described. */
static void assert_rules(const json_t *run, const json_t *results)
{
	const json_t *rules =
		json_object_get(json_object_get(json_object_get(run, "tool"), "driver"), "rules");
	size_t i, j;
	json_t *result, *rule;

	json_array_foreach(results, i, result)
	{
		bool found = false;

		json_array_foreach(rules, j, rule) found =
			found || strcmp(json_string_value(json_object_get(rule, "id")),
					rule_of(result)) == 0;
		assert_true(found);
	}
}

static void lines_are_at_their_files(void **state)
{
	const struct fake_symbol symbols[] = {
		{FRAME_FILE,
		 APP,
		 0x1000,
		 0x1100,
		 0,
		 0,
		 {{.function = "one", .file = here, .line = 7}}},
		{FRAME_FILE,
		 APP,
		 0x1100,
		 0x1200,
		 0,
		 0,
		 {{.function = "two", .file = "/src/a b%.c", .line = 9}}},
		{FRAME_FILE,
		 APP,
		 0x1200,
		 0x1300,
		 0,
		 0,
		 {{.function = "three", .file = "/src/rare.c", .line = 11}}},
		{FRAME_FILE,
		 APP,
		 0x1300,
		 0x1400,
		 0,
		 0,
		 {{.function = "four", .file = "<string>", .line = 1}}},
	};
	struct fake_machine *machine = fake_machine_new();
	struct fake_profile fake;
	const json_t *run, *results;
	char *folder;
	json_t *root;

	(void)state;
	folder = getcwd(NULL, 0);
	assert_non_null(folder);
	snprintf(here, sizeof(here), "%s/x.c", folder);
	free(folder);
	fake_profile_init(&fake, NULL);
	profile_info(fake.profile)->kinds_mask = 1U << PKBPF_PROFILE_CPU;
	fake_process(machine, 100, 1, "app");
	fake_map(machine, 100, 0x401000, 0x410000, 0x1000, APP);
	for (int i = 0; i < 90; i++)
		fake_sample(machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401010));
	for (int i = 0; i < 10; i++)
		fake_sample(machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401110));
	/* Too few to say anything, and a line of no file. */
	for (int i = 0; i < 4; i++)
		fake_sample(machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401210));
	for (int i = 0; i < 20; i++)
		fake_sample(machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401310));
	fake_profile_run(&fake, machine, symbols, ARRAY_SIZE(symbols));
	fake_machine_free(machine);
	root = parse(fake_profile_write(&fake, "sarif", NULL));
	fake_profile_done(&fake);
	run = run_of(root);
	results = json_object_get(run, "results");
	assert_int_equal(json_array_size(results), 2);
	assert_place(json_array_get(results, 0), "x.c", "%SRCROOT%", 7);
	assert_string_equal(text_of(json_array_get(results, 0)),
			    "one: 72.6% of CPU here (90 samples), 72.6% with what it calls");
	assert_place(json_array_get(results, 1), "file:///src/a%20b%25.c", NULL, 9);
	assert_string_equal(rule_of(json_array_get(results, 1)), "hot_line_cpu");
	assert_rules(run, results);
	json_decref(root);
}

static void findings_without_a_line_are_notifications(void **state)
{
	struct fake_profile fake;
	const json_t *run, *said;
	json_t *root, *report;
	size_t count;

	(void)state;
	account_scenario_init(&fake);
	report = parse(fake_profile_write(&fake, "json", NULL));
	count = json_array_size(json_object_get(report, "findings"));
	root = parse(fake_profile_write(&fake, "sarif", NULL));
	run = run_of(root);
	said = json_object_get(json_array_get(json_object_get(run, "invocations"), 0),
			       "toolExecutionNotifications");
	/* No line is known there. */
	assert_int_equal(json_array_size(json_object_get(run, "results")), 0);
	assert_int_equal(json_array_size(said), count);
	assert_true(count > 0);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(
			text_of(json_array_get(said, i)),
			json_string_value(json_object_get(
				json_array_get(json_object_get(report, "findings"), i), "text")));
	json_decref(report);
	json_decref(root);
	fake_profile_done(&fake);
}

static void a_finding_is_at_the_line_of_its_place(void **state)
{
	/* The innermost function of the place has no line: its caller's is taken. */
	static const struct fake_symbol symbols[] = {
		{FRAME_FILE,
		 PROGRAM,
		 0x1000,
		 0x1100,
		 0,
		 0,
		 {{.function = "main", .file = "/src/main.c", .line = 3}}},
		{FRAME_FILE,
		 PROGRAM,
		 0x1100,
		 0x1200,
		 0,
		 0,
		 {{.function = "crunch", .file = "/src/work.c", .line = 5}}},
		FAKE_FUNCTION(PROGRAM, 0x1200, 0x1300, "pack"),
	};
	struct fake_profile fake;
	const json_t *results;
	bool found = false;
	json_t *root, *result;
	size_t i;

	(void)state;
	account_begin(&fake, 1U << PKBPF_PROFILE_CPU, 10000000000, 10000000000);
	account_process(&fake,
			&(struct account_process){.pid = 100, .comm = "app", .run_ns = 9000000000});
	account_samples(&fake, 100, "app", 900,
			FAKE_IPS(ACCOUNT_FLUSH, ACCOUNT_QUERY, ACCOUNT_MAIN));
	fake_profile_name(&fake, symbols, ARRAY_SIZE(symbols));
	root = parse(fake_profile_write(&fake, "sarif", NULL));
	results = json_object_get(run_of(root), "results");
	json_array_foreach(results, i, result)
	{
		if (strcmp(rule_of(result), "cpu_bound") != 0)
			continue;
		found = true;
		assert_place(result, "file:///src/work.c", NULL, 5);
	}
	assert_true(found);
	json_decref(root);
	fake_profile_done(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_at_their_files),
		cmocka_unit_test(findings_without_a_line_are_notifications),
		cmocka_unit_test(a_finding_is_at_the_line_of_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
