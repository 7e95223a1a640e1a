// SPDX-License-Identifier: BSD-2-Clause
/* Tests the tables of source lines of the text report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"
#include "fake_profile.h"
#include "report/report.h"
#include "symbol/source_text.h"
#include "temp_tree.h"

#define APP "/usr/bin/app"

static const struct fake_symbol symbols[] = {
	{.space = FRAME_FILE,
	 .path = APP,
	 .start = 0x1000,
	 .end = 0x1100,
	 .lines = {{.function = "main", .file = "/src/app.c", .line = 2}}},
	FAKE_FUNCTION(APP, 0x1200, 0x1300, "without_lines"),
};

/* The report of one sample at this address. */
static char *report_at(uint64_t address)
{
	struct report_options options = {.by_line = true, .top = 10};
	struct fake_machine *machine = fake_machine_new();
	struct fake_profile fake;
	struct temp_tree tree;
	struct results results;
	char *text = NULL, status[128];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	temp_tree_init(&tree);
	snprintf(status, sizeof(status), "Name:\tapp\nUid:\t%u\t%u\t%u\t%u\nGid:\t0\t0\t0\t0\n",
		 geteuid(), geteuid(), geteuid(), geteuid());
	temp_tree_file(&tree, "proc/100/status", status);
	temp_tree_file(&tree, "proc/100/root/src/app.c", "int main(void)\n\treturn\x1b[31m 0;\n");
	fake_profile_init(&fake, NULL);
	fake_process(machine, 100, 1, "app");
	fake_map(machine, 100, 0x401000, 0x410000, 0x1000, APP);
	fake_sample(machine, 100, 100, FAKE_IPS(), FAKE_IPS(address));
	fake_profile_run(&fake, machine, symbols, ARRAY_SIZE(symbols));
	profile_info(fake.profile)->start_unix_ns =
		(int64_t)(time(NULL) + 60) * (int64_t)NS_PER_SECOND;
	results_init(&results, fake.profile, ROWS_BY_PROCESS);
	results.sources = source_text_new(tree.root, fake.processes, true);
	assert_int_equal(report_write(&results, &options, out), 0);
	fclose(out);
	results_done(&results);
	source_text_free(results.sources);
	fake_profile_done(&fake);
	fake_machine_free(machine);
	temp_tree_done(&tree);
	return text;
}

static void lines_stand_with_their_shares_and_harmless_text(void **state)
{
	char *text = report_at(0x401010);

	(void)state;
	assert_non_null(strstr(text, "CPU: hottest lines"));
	if (!strstr(text, "app.c:2 main     return?[31m 0;\n"))
		fail_msg("%s", text);
	free(text);
}

static void says_why_there_are_no_lines(void **state)
{
	char *text = report_at(0x401210);

	(void)state;
	assert_null(strstr(text, "hottest lines"));
	assert_non_null(strstr(text, "No source line is known"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_stand_with_their_shares_and_harmless_text),
		cmocka_unit_test(says_why_there_are_no_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
