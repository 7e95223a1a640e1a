// SPDX-License-Identifier: BSD-2-Clause
/* Tests the texts that are made from the tables: --help, and what doctor says. */
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
#include "capture/kernel/capability.h"
#include "cli/command_table.h"
#include "cli/doctor_json.h"
#include "cli/help.h"
#include "export/format.h"
#include "source/source.h"

#define WIDTH 100

static char *help_of(const struct command_row *command)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	help_print(command, out);
	fclose(out);
	return text;
}

static void each_line_of_each_help_fits_a_terminal(void **state)
{
	const struct command_row *command;

	for (size_t i = 0; (command = command_at(i)); i++) {
		char *text = help_of(command);

		for (const char *line = text; *line;) {
			size_t length = strcspn(line, "\n");

			if (length > WIDTH)
				fail_msg("%.*s", (int)length, line);
			assert_true(!length || line[length - 1] != ' ');
			line += length + (line[length] != '\0');
		}
		free(text);
	}
}

static void the_first_help_fits_one_screen(void **state)
{
	char *text = NULL;
	size_t size, lines = 0, examples = 0;
	FILE *out = open_memstream(&text, &size);

	help_print_first(out);
	fclose(out);
	for (const char *line = text; *line; lines++) {
		size_t length = strcspn(line, "\n");

		assert_true(length <= 85 && (!length || line[length - 1] != ' '));
		examples += strncmp(line, "  pkbpf ", strlen("  pkbpf ")) == 0;
		line += length + (line[length] != '\0');
	}
	assert_true(lines <= 40);
	assert_int_equal(examples, 5);
	assert_non_null(strstr(text, "pkbpf --help all"));
	/* Each option that it names exists. */
	assert_non_null(strstr(text, "--fail-if EXPR "));
	assert_non_null(strstr(text, "-p, --pid PID "));
	free(text);
}

static void a_command_speaks_of_what_it_prints(void **state)
{
	const struct command_row *command;

	for (size_t i = 0; (command = command_at(i)); i++) {
		char *text = help_of(command);

		assert_true(!command->name || !strstr(text, "(below)"));
		free(text);
	}
}

static void each_option_of_a_command_is_in_its_help_once(void **state)
{
	const struct command_row *command;
	const struct option_row *row;

	for (size_t i = 0; (command = command_at(i)); i++) {
		char *text = help_of(command);

		for (size_t j = 0; (row = command_option_at(command, j)); j++) {
			char name[80], *at;
			size_t times = 0;

			/* At the begin of a line, with its letter or room for one. */
			snprintf(name, sizeof(name), "\n  %s--%s%s", row->letter ? "-x, " : "    ",
				 row->name, row->argument ? " " : "");
			if (row->letter)
				name[4] = row->letter;
			for (at = text; (at = strstr(at, name)); at += strlen(name))
				times += row->argument || strchr(" \n", at[strlen(name)]);
			if (times != 1)
				fail_msg("%s: --%s %zu times", command->synopsis, row->name, times);
		}
		free(text);
	}
}

static void the_first_help_names_commands_kinds_and_formats(void **state)
{
	char *text = help_of(&command_profile);
	const struct command_row *command;
	const struct source_ops *source;
	const struct file_format *format;

	for (size_t i = 0; (command = command_at(i)); i++)
		assert_true(!command->name || strstr(text, command->name));
	for (size_t i = 0; (source = source_at(i)); i++)
		assert_non_null(strstr(text, source->name));
	for (size_t i = 0; (format = format_at(i)); i++)
		assert_non_null(strstr(text, format->suffix));
	free(text);
}

static void names_of_commands_are_distinct_and_have_a_summary(void **state)
{
	const struct command_row *a, *b;

	for (size_t i = 0; (a = command_at(i)); i++) {
		assert_true(a->summary[0]);
		assert_true(!a->name || strstr(a->synopsis, a->name) == a->synopsis);
		for (size_t j = 0; j < i && (b = command_at(j)); j++)
			assert_true(!a->name || !b->name || strcmp(a->name, b->name) != 0);
	}
}

/* ---- doctor ---- */

static void a_remedy_is_what_is_behind_the_last_semicolon(void **state)
{
	static const struct {
		const char *error, *reason, *remedy;
	} rows[] = {
		{"no BTF; use another kernel", "no BTF", "use another kernel"},
		{"one; two; three", "one; two", "three"},
		{"no remedy", "no remedy", ""},
		{"", "", ""},
		{"a;b", "a;b", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[64];
		const char *remedy;

		snprintf(text, sizeof(text), "%s", rows[i].error);
		remedy = doctor_split_remedy(text);
		assert_string_equal(text, rows[i].reason);
		assert_string_equal(remedy, rows[i].remedy);
	}
}

static char *doctor_of(bool required_is_present, bool other_is_present)
{
	static const struct capability_ops required = {.name = "kernel", .required = true},
					   other = {.name = "uprobes", .without = "no \"probes\""};
	struct doctor_check checks[] = {
		{.capability = &required, .is_present = required_is_present},
		{.capability = &other, .is_present = other_is_present},
	};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	error_set(&checks[0].error, EPERM, "too old; take Linux 5.8");
	error_set(&checks[1].error, EPERM, "not there");
	doctor_json_write(out, checks, ARRAY_SIZE(checks));
	fclose(out);
	return text;
}

static bool says(const char *text, const char *name, const char *value)
{
	const char *at = text;

	while ((at = strstr(at, name))) {
		at += strlen(name);
		at += strspn(at, "\": \n");
		if (!strncmp(at, value, strlen(value)))
			return true;
	}
	return false;
}

static void a_machine_can_profile_without_what_is_not_required(void **state)
{
	static const bool cases[4][2] = {
		{true, true}, {true, false}, {false, true}, {false, false}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = doctor_of(cases[i][0], cases[i][1]);

		assert_true(says(text, "\"can_profile\"", cases[i][0] ? "true" : "false"));
		assert_int_equal(says(text, "\"reason\"", "too old"), !cases[i][0]);
		assert_int_equal(says(text, "\"remedy\"", "take Linux 5.8"), !cases[i][0]);
		assert_int_equal(says(text, "\"reason\"", "not there"), !cases[i][1]);
		assert_int_equal(strstr(text, "no \\\"probes\\\"") != NULL, !cases[i][1]);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_line_of_each_help_fits_a_terminal),
		cmocka_unit_test(the_first_help_fits_one_screen),
		cmocka_unit_test(a_command_speaks_of_what_it_prints),
		cmocka_unit_test(each_option_of_a_command_is_in_its_help_once),
		cmocka_unit_test(the_first_help_names_commands_kinds_and_formats),
		cmocka_unit_test(names_of_commands_are_distinct_and_have_a_summary),
		cmocka_unit_test(a_remedy_is_what_is_behind_the_last_semicolon),
		cmocka_unit_test(a_machine_can_profile_without_what_is_not_required),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
