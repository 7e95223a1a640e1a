// SPDX-License-Identifier: BSD-2-Clause
/* Tests the JSON report with another parser, and its schema against the figures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include <pkbpf/blockio.h>

#include "account_scenario.h"
#include "golden_scenario.h"
#include "profile/kind_table.h"
#include "rows/figure_table.h"

static json_t *parse(char *text)
{
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	if (!root)
		fail_msg("line %d: %s", error.line, error.text);
	free(text);
	return root;
}

static json_t *report(enum rows_by by)
{
	struct fake_profile fake;
	json_t *root;

	account_scenario_init(&fake);
	root = parse(fake_profile_write_by(&fake, "json", by, NULL));
	fake_profile_done(&fake);
	return root;
}

static json_t *row_of(json_t *root, int pid)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(root, "rows"), i,
			   row) if (json_integer_value(json_object_get(row, "pid")) ==
				    pid) return row;
	return NULL;
}

static json_int_t number(json_t *object, const char *group, const char *key)
{
	json_t *value = json_object_get(json_object_get(object, group), key);

	if (!json_is_integer(value))
		fail_msg("%s.%s is no integer", group, key);
	return json_integer_value(value);
}

static void numbers_are_read_back(void **state)
{
	json_t *root = report(ROWS_BY_PROCESS), *row = row_of(root, 812), *stacks, *frames;

	assert_int_equal(json_integer_value(json_object_get(root, "schema_version")), 2);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(root, "time"), "start")),
		"2023-11-14T22:13:20.123456789Z");
	assert_int_equal(number(root, "time", "duration_ns"), ACCOUNT_INTERVAL_NS);
	assert_int_equal(number(row, "cpu", "total_ns"), 900000000);
	assert_int_equal(number(row, "offcpu", "disk_ns"), 6300000000);
	assert_int_equal(number(row, "blockio", "written_bytes"), 450 * 8192);
	assert_int_equal(number(row, "memory", "rss_growth_bytes"), 1 << 20);
	assert_string_equal(json_string_value(json_object_get(row, "container")),
			    "postgresql@15-main.service");
	stacks = json_object_get(row, "hottest_stacks");
	frames = json_object_get(json_object_get(stacks, "offcpu"), "frames");
	assert_string_equal(json_string_value(json_object_get(json_array_get(frames, 1), "name")),
			    "XLogFlush");
	assert_null(json_object_get(stacks, "faults"));
	assert_int_equal(json_array_size(json_object_get(root, "findings")), 5);
	assert_int_equal(json_array_size(json_object_get(root, "devices")), 1);
	json_decref(root);
}

static void an_empty_comm_is_told_and_a_container_has_none(void **state)
{
	struct fake_profile fake;
	json_t *root, *comm;

	account_begin(&fake, 1U << PKBPF_PROFILE_CPU, 1, 1);
	account_process(&fake, &(struct account_process){.pid = 5, .comm = "", .run_ns = 100});
	account_end(&fake);
	for (unsigned int by = 0; by < ROWS_BY_COUNT; by++) {
		root = parse(fake_profile_write_by(&fake, "json", by, NULL));
		comm = json_object_get(json_array_get(json_object_get(root, "rows"), 0), "comm");
		if (by == ROWS_BY_CONTAINER || rows_are_of_regions(by))
			assert_null(comm);
		else
			assert_string_equal(json_string_value(comm), "");
		json_decref(root);
	}
	fake_profile_done(&fake);
}

static void slow_requests_are_listed_with_all_that_is_known(void **state)
{
	json_t *root = report(ROWS_BY_PROCESS), *list = json_object_get(root, "slow_requests");
	json_t *request = json_array_get(list, 0), *flags = json_object_get(request, "flags");
	static const struct {
		const char *key;
		json_int_t value;
	} numbers[] = {
		{"at_ns", 3210000000},	{"pid", 812},	     {"tid", 812},
		{"major", 254},		{"minor", 0},	     {"bytes", 8192},
		{"sector", 123456},	{"queue_ns", 40000}, {"device_ns", 13000000},
		{"total_ns", 13040000},
	};
	json_t *frames = json_object_get(request, "frames");

	assert_int_equal(json_array_size(list), 1);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		assert_int_equal(json_integer_value(json_object_get(request, numbers[i].key)),
				 numbers[i].value);
	assert_string_equal(json_string_value(json_object_get(request, "comm")), "postgres");
	assert_string_equal(json_string_value(json_object_get(request, "device")), "vda");
	assert_string_equal(json_string_value(json_object_get(request, "operation")), "write");
	assert_non_null(strstr(json_string_value(json_object_get(request, "cgroup")),
			       "postgresql@15-main.service"));
	assert_int_equal(json_array_size(flags), 2);
	assert_string_equal(json_string_value(json_array_get(flags, 0)), "sync");
	assert_string_equal(json_string_value(json_array_get(flags, 1)), "fua");
	assert_string_equal(json_string_value(json_object_get(json_array_get(frames, 0), "name")),
			    "io_schedule");
	assert_string_equal(json_string_value(json_object_get(json_array_get(frames, 1), "name")),
			    "XLogFlush");
	json_decref(root);
}

static void what_a_slow_request_lacks_is_not_there(void **state)
{
	struct fake_profile fake;
	json_t *root, *list, *request;

	account_begin(&fake, 1U << PKBPF_PROFILE_BLOCKIO, 1, 1);
	account_process(&fake, &(struct account_process){.pid = 5, .comm = "app", .run_ns = 100});
	account_slow_io(&fake, &(struct account_slow_io){.pid = PKBPF_PID_WRITEBACK,
							 .tid = PKBPF_PID_WRITEBACK,
							 .comm = PKBPF_WRITEBACK_COMM,
							 .operation = PKBPF_BLOCKIO_FLUSH,
							 .device_ns = 20,
							 .sector = PKBPF_NO_SECTOR,
							 .open = true});
	account_end(&fake);
	root = parse(fake_profile_write(&fake, "json", NULL));
	fake_profile_done(&fake);
	list = json_object_get(root, "slow_requests");
	request = json_array_get(list, 0);
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(json_string_value(json_object_get(request, "comm")),
			    PKBPF_WRITEBACK_COMM);
	assert_string_equal(json_string_value(json_array_get(json_object_get(request, "flags"), 0)),
			    "unfinished");
	assert_null(json_object_get(request, "pid"));
	assert_null(json_object_get(request, "tid"));
	assert_null(json_object_get(request, "sector"));
	assert_null(json_object_get(request, "cgroup"));
	assert_int_equal(json_array_size(json_object_get(request, "frames")), 0);
	json_decref(root);
}

static void limits_of_cpu_time_are_told_with_what_was_met_of_them(void **state)
{
	struct fake_profile fake;
	json_t *root, *list, *limit;

	account_begin(&fake, 1U << PKBPF_PROFILE_CPU, 1, 1);
	account_process(&fake, &(struct account_process){.pid = 5, .comm = "app", .run_ns = 100});
	account_cpu_limit(&fake, 7, "/a\x1b\"b", 50, 80, 60);
	account_memory_limit(&fake, 7, "/a\x1b\"b", 4096, 1024, 3);
	account_memory_limit(&fake, 8, "/b", 8192, 2048, 0);
	account_end(&fake);
	root = parse(fake_profile_write(&fake, "json", NULL));
	fake_profile_done(&fake);
	list = json_object_get(root, "cpu_limits");
	limit = json_array_get(list, 0);
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(json_string_value(json_object_get(limit, "cgroup")), "/a\x1b\"b");
	assert_int_equal(json_integer_value(json_object_get(limit, "quota_ns")), 50000000);
	assert_int_equal(json_integer_value(json_object_get(limit, "period_ns")), 100000000);
	assert_int_equal(json_integer_value(json_object_get(limit, "periods")), 80);
	assert_int_equal(json_integer_value(json_object_get(limit, "throttled_periods")), 60);
	assert_int_equal(json_integer_value(json_object_get(limit, "throttled_ns")), 3000000000);
	list = json_object_get(root, "memory_limits");
	assert_int_equal(json_array_size(list), 2);
	limit = json_array_get(list, 0);
	assert_string_equal(json_string_value(json_object_get(limit, "cgroup")), "/a\x1b\"b");
	assert_int_equal(json_integer_value(json_object_get(limit, "limit_bytes")), 4096);
	assert_int_equal(json_integer_value(json_object_get(limit, "used_bytes")), 1024);
	assert_int_equal(json_integer_value(json_object_get(limit, "reached")), 3);
	assert_null(json_object_get(limit, "high_bytes"));
	json_decref(root);
}

static void hostile_names_are_only_strings(void **state)
{
	json_t *root = report(ROWS_BY_PROCESS), *row = row_of(root, 77);

	assert_string_equal(json_string_value(json_object_get(row, "comm")), ACCOUNT_HOSTILE);
	json_decref(root);
}

static void what_was_not_recorded_is_not_there(void **state)
{
	struct fake_profile fake;
	json_t *root, *row;

	account_begin(&fake, 1U << PKBPF_PROFILE_CPU, 1, 1);
	account_process(&fake, &(struct account_process){.pid = 5, .comm = "app", .run_ns = 100});
	account_end(&fake);
	root = parse(fake_profile_write(&fake, "json", NULL));
	fake_profile_done(&fake);
	row = row_of(root, 5);
	assert_non_null(json_object_get(row, "cpu"));
	assert_null(json_object_get(row, "offcpu"));
	assert_null(json_object_get(row, "blockio"));
	assert_null(json_object_get(json_object_get(row, "memory"), "rss_bytes"));
	assert_null(json_object_get(root, "devices"));
	assert_null(json_object_get(root, "slow_requests"));
	json_decref(root);
}

static void old_recordings_give_documents_too(void **state)
{
	const struct golden_scenario *scenario;

	for (size_t i = 0; (scenario = golden_scenario_at(i)); i++) {
		struct fake_machine *machine = fake_machine_new();
		struct fake_profile fake;

		fake_profile_init(&fake, NULL);
		scenario->describe(profile_info(fake.profile));
		scenario->play(machine);
		fake_profile_run(&fake, machine, scenario->symbols, scenario->symbol_count);
		json_decref(parse(fake_profile_write(&fake, "json", NULL)));
		fake_profile_done(&fake);
		fake_machine_free(machine);
	}
}

/* {"type": "integer", "minimum": 0, "description": "CPU samples"} */
static json_t *describe(const struct figure *figure)
{
	json_t *value = json_object();

	json_object_set_new(value, "type",
			    json_string(figure->unit == FIGURE_PERCENT ? "number" : "integer"));
	if (figure->unit != FIGURE_SIGNED_BYTES)
		json_object_set_new(value, "minimum", json_integer(0));
	json_object_set_new(value, "description", json_string(figure->summary));
	return value;
}

/* The groups of figures of rows, as the schema defines them. */
static json_t *describe_groups(void)
{
	json_t *groups = json_object();
	const struct figure *figure;

	for (size_t i = 0; (figure = figure_at(i)); i++) {
		json_t *group = json_object_get(groups, figure->group);
		char key[128];

		if (figure->scope != FIGURE_OF_ROW)
			continue;
		if (!group) {
			group = json_pack("{s:s, s:{}, s:b}", "type", "object", "properties",
					  "additionalProperties", 0);
			json_object_set_new(groups, figure->group, group);
		}
		snprintf(key, sizeof(key), "%s%s", figure->name, figure_unit_suffix(figure->unit));
		json_object_set_new(json_object_get(group, "properties"), key, describe(figure));
	}
	return groups;
}

/* Puts the groups where they are defined, and where rows and their sum refer to them. */
static void set_groups(json_t *defs, json_t *groups)
{
	static const char *const users[] = {"row", "total"};
	json_t *group;
	const char *name;

	json_object_foreach(groups, name, group)
	{
		char reference[128];

		snprintf(reference, sizeof(reference), "#/$defs/%s", name);
		json_object_set(defs, name, group);
		for (size_t i = 0; i < sizeof(users) / sizeof(*users); i++)
			json_object_set_new(
				json_object_get(json_object_get(defs, users[i]), "properties"),
				name, json_pack("{s:s}", "$ref", reference));
	}
}

/* The names of the kinds of events, and a stack of each. */
static void set_kinds(json_t *schema)
{
	json_t *events = json_object_get(
		json_object_get(json_object_get(schema, "properties"), "events"), "items");
	json_t *stack = json_object_get(json_object_get(schema, "$defs"), "stacks");
	json_t *names = json_array(), *stacks = json_object();

	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++) {
		const char *name = kind_ops_of(kind)->name;

		json_array_append_new(names, json_string(name));
		json_object_set_new(stacks, name, json_pack("{s:s}", "$ref", "#/$defs/stack"));
	}
	assert_non_null(events);
	assert_non_null(stack);
	json_object_set_new(events, "enum", names);
	json_object_set_new(stack, "properties", stacks);
}

static void write_schema(const json_t *schema)
{
	FILE *file = fopen(SCHEMA_PATH, "w");

	assert_non_null(file);
	assert_int_equal(json_dumpf(schema, file, JSON_INDENT(2)), 0);
	fputc('\n', file);
	assert_int_equal(fclose(file), 0);
}

/* UPDATE_GOLDEN=1 writes them into it. */
static void the_schema_describes_every_kind_and_figure_as_the_tables_do(void **state)
{
	const char *update = getenv("UPDATE_GOLDEN");
	json_error_t error;
	json_t *schema = json_load_file(SCHEMA_PATH, 0, &error), *expected, *groups;

	if (!schema)
		fail_msg("%s:%d: %s", SCHEMA_PATH, error.line, error.text);
	expected = json_deep_copy(schema);
	groups = describe_groups();
	set_groups(json_object_get(expected, "$defs"), groups);
	set_kinds(expected);
	if (!json_equal(schema, expected)) {
		if (!update || strcmp(update, "1") != 0)
			fail_msg("%s differs from the tables: run with UPDATE_GOLDEN=1",
				 SCHEMA_PATH);
		write_schema(expected);
	}
	json_decref(groups);
	json_decref(expected);
	json_decref(schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_read_back),
		cmocka_unit_test(an_empty_comm_is_told_and_a_container_has_none),
		cmocka_unit_test(slow_requests_are_listed_with_all_that_is_known),
		cmocka_unit_test(what_a_slow_request_lacks_is_not_there),
		cmocka_unit_test(limits_of_cpu_time_are_told_with_what_was_met_of_them),
		cmocka_unit_test(hostile_names_are_only_strings),
		cmocka_unit_test(what_was_not_recorded_is_not_there),
		cmocka_unit_test(old_recordings_give_documents_too),
		cmocka_unit_test(the_schema_describes_every_kind_and_figure_as_the_tables_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
