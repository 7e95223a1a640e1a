// SPDX-License-Identifier: BSD-2-Clause
/* Tests the summary for comments: what is in it, and that names cannot leave their cells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "account_scenario.h"
#include "base/array.h"

#define APP "/bin/app"

static void assert_says(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

static size_t count(const char *text, const char *part)
{
	size_t found = 0;

	for (; (text = strstr(text, part)); text++)
		found++;
	return found;
}

static void findings_and_rows_are_told(void **state)
{
	struct fake_profile fake;
	char *text;

	(void)state;
	account_scenario_init(&fake);
	text = fake_profile_write(&fake, "markdown", NULL);
	fake_profile_done(&fake);
	assert_ptr_equal(strstr(text, "## Profile of `"), text);
	assert_int_equal(count(text, "\n- "), 5);
	assert_says(text, "Next: ");
	assert_says(text, "| process | CPU | % of a CPU | run queue |");
	assert_says(text, "\n| `postgres` 812 | 900 ms |");
	assert_says(text, " 6.30 s |");
	free(text);
}

static void names_stay_in_their_cells(void **state)
{
	static const struct fake_symbol symbols[] = {
		FAKE_FUNCTION(APP, 0x1000, 0x1100, "a|b`<script>\n| c |"),
	};
	struct fake_machine *machine = fake_machine_new();
	struct fake_profile fake;
	char *text, *row;

	(void)state;
	fake_profile_init(&fake, NULL);
	profile_info(fake.profile)->kinds_mask = 1U << PKBPF_PROFILE_CPU;
	fake_process(machine, 100, 1, "x|`y");
	fake_map(machine, 100, 0x401000, 0x410000, 0x1000, APP);
	fake_sample(machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401010));
	fake_profile_run(&fake, machine, symbols, ARRAY_SIZE(symbols));
	fake_machine_free(machine);
	text = fake_profile_write(&fake, "markdown", NULL);
	fake_profile_done(&fake);
	assert_says(text, "No finding: no rule's threshold was exceeded.\n");
	row = strstr(text, "|---|--:|--:|\n");
	assert_non_null(row);
	row = strchr(row, '\n') + 1;
	*strchr(row, '\n') = '\0';
	/* Three cells; what a cell has of '|' is escaped. */
	assert_int_equal(count(row, "|") - count(row, "\\|"), 4);
	assert_says(row, "| 100.0% | 100.0% |");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(findings_and_rows_are_told),
		cmocka_unit_test(names_stay_in_their_cells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
