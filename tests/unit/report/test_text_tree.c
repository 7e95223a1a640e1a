/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests the call trees of the text report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "fake_profile.h"
#include "golden_scenario.h"
#include "report/report.h"
#include "report/text_table.h"

static char *tree_of(const struct golden_scenario *scenario, const struct format_options *options)
{
	struct fake_machine *machine = fake_machine_new();
	struct fake_profile fake;
	char *text;

	fake_profile_init(&fake, NULL);
	scenario->describe(profile_info(fake.profile));
	scenario->play(machine);
	fake_profile_run(&fake, machine, scenario->symbols, scenario->symbol_count);
	text = fake_profile_write(&fake, "text", options);
	fake_profile_done(&fake);
	fake_machine_free(machine);
	return text;
}

static const struct golden_scenario *scenario_named(const char *name)
{
	const struct golden_scenario *scenario;

	for (size_t i = 0; (scenario = golden_scenario_at(i)); i++)
		if (!strcmp(scenario->name, name))
			return scenario;
	fail_msg("no scenario %s", name);
	return NULL;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in:\n%s", part, text);
}

static void a_path_stands_on_one_line_as_long_as_one_callee_has_nearly_all(void **state)
{
	char *text = tree_of(scenario_named("postgres"), &(struct format_options){.tree = true});

	assert_has(text, "CPU: call tree of 105 samples\n"
			 "  total   samples   self  path (caller > callee)\n");
	assert_has(text, "  68.6%        72");
	assert_has(text, "standard_ExecutorRun > ExecSeqScan > heap_getnextslot\n");
	assert_null(strstr(text, "schedule"));
	free(text);
}

/* Shares of the lines of this depth, in tenths of a percent. */
static unsigned int sum_of_depth(const char *text, size_t columns)
{
	unsigned int sum = 0;

	for (const char *line = strstr(text, "path (caller"); (line = strchr(line, '\n'));) {
		unsigned int whole, tenths;

		line++;
		if (sscanf(line, " %u.%u%%", &whole, &tenths) == 2 &&
		    strspn(line + 26, " ") == columns)
			sum += whole * 10 + tenths;
	}
	return sum;
}

static void the_whole_tree_has_every_frame_and_all_of_the_weight(void **state)
{
	char *text = tree_of(scenario_named("postgres"),
			     &(struct format_options){.tree = true, .full = true});
	unsigned int sum = sum_of_depth(text, 0);

	if (sum < 990 || sum > 1010)
		fail_msg("roots have %u of 1000:\n%s", sum, text);
	assert_has(text, "main > ");
	assert_null(strstr(text, "each below"));
	free(text);
}

static void no_line_of_a_tree_is_wider_than_a_terminal_or_moves_its_cursor(void **state)
{
	const unsigned int widths[] = {80, 100, 200};
	const struct golden_scenario *scenario;

	for (size_t i = 0; (scenario = golden_scenario_at(i)); i++)
		for (size_t j = 0; j < 2 * ARRAY_SIZE(widths); j++) {
			struct format_options options = {
				.tree = true, .width = widths[j / 2], .full = j % 2};
			char *text = tree_of(scenario, &options), *save = NULL;

			for (char *line = strtok_r(text, "\n", &save); line;
			     line = strtok_r(NULL, "\n", &save)) {
				assert_true(text_columns(line) <= options.width);
				for (const char *c = line; *c; c++)
					assert_true((unsigned char)*c >= ' ' && *c != 0x7f);
			}
			free(text);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_stands_on_one_line_as_long_as_one_callee_has_nearly_all),
		cmocka_unit_test(the_whole_tree_has_every_frame_and_all_of_the_weight),
		cmocka_unit_test(no_line_of_a_tree_is_wider_than_a_terminal_or_moves_its_cursor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
