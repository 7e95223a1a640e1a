// SPDX-License-Identifier: BSD-2-Clause
/* Tests what commands with options of their own refuse before they do anything. */
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
#include "cli/command_table.h"
#include "cli/option_parser.h"

#define MAX_WORDS 32

static int check(const struct command_row *command, const char *line, struct error *error)
{
	static char words[512], *argv[MAX_WORDS + 1];
	struct cli_options options;
	char *rest = words, *word;
	int argc = 0, err;

	assert_true(strlen(line) < sizeof(words));
	strcpy(words, line);
	memset(argv, 0, sizeof(argv));
	while (*line && (word = strsep(&rest, " "))) {
		assert_true(argc < MAX_WORDS);
		argv[argc++] = word;
	}
	cli_options_init(&options);
	memset(error, 0, sizeof(*error));
	err = options_parse(command, argc, argv, &options, error);
	cli_options_done(&options);
	return err;
}

static const struct {
	const struct command_row *command;
	const char *line;
	const char *sentence; /* a part of it; NULL: it is accepted */
} rows[] = {
	{&command_top, "", NULL},
	{&command_top, "-b -n 3 -s 500ms", NULL},
	{&command_top, "-s 1h", NULL},
	{&command_top, "-s 499ms", "invalid value for --interval: expected 500ms to 1h"},
	{&command_top, "-s 2h", "invalid value for --interval: expected 500ms to 1h"},
	{&command_top, "-n 0", "--iterations"},
	{&command_top, "--sort cpu%", NULL},
	{&command_top, "--sort rss --by comm", NULL},
	{&command_top, "--sort nothing", "invalid value for --sort: 'nothing'"},
	/* A column of another grouping sorts nothing that is shown. */
	{&command_top, "--sort pid --by comm", "invalid value for --sort: 'pid'"},
	{&command_top, "--sort container --by container", NULL},
	{&command_top, "--sort container --by comm", "invalid value for --sort: 'container'"},
	{&command_top, "--token-file x", "--token-file requires --connect"},
	{&command_top, "--connect x --interval 2s", "omit --interval"},
	{&command_top, "--connect x -F 99", "--frequency"},
	{&command_top, "--connect x --comm app", NULL},
	{&command_top, "-e live", "--events live requires alloc"},
	{&command_report, "a.pkbpf", NULL},
	{&command_report, "", "report requires a recording: pkbpf report FILE.pkbpf"},
	{&command_report, "a.pkbpf --from 10s --to 20s", NULL},
	{&command_report, "a.pkbpf --from 20s --to 20s", "--from must be less than --to"},
	{&command_report, "a.pkbpf --from 20s --to 10s", "--from must be less than --to"},
	{&command_report, "a.pkbpf --from 2026-11-27T13:45:00 --to 2026-11-27T13:44:00",
	 "--from must be less than --to"},
	{&command_report, "a.pkbpf --from 2026-11-27T13:45:00 --to 2026-11-27T13:46:00", NULL},
	/* Which is earlier is known with the recording. */
	{&command_report, "a.pkbpf --from 30s --to 2026-11-27T13:46:00", NULL},
	{&command_report, "a.pkbpf --from yesterday", "--from"},
	{&command_report, "a.pkbpf -f text -o a.txt -f folded", "--format folded belongs to no"},
	{&command_diff, "a b", NULL},
	{&command_diff, "a", "diff"},
	{&command_diff, "", "diff"},
	{&command_doctor, "--json", NULL},
	{&command_unpack, "", NULL},
	/* Only the program itself has files. */
	{&command_unpack, "pkbpf.h", "no file 'pkbpf.h' is in this program"},
	{&command_doctor, "--frequency 99", "--frequency does not apply to this command"},
};

static void each_line_is_accepted_or_refused_with_its_sentence(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error error;
		int err = check(rows[i].command, rows[i].line, &error);

		if (!rows[i].sentence && err)
			fail_msg("%s: %s", rows[i].line, error.text);
		if (rows[i].sentence && !err)
			fail_msg("%s is accepted", rows[i].line);
		if (rows[i].sentence && !strstr(error.text, rows[i].sentence))
			fail_msg("%s: %s", rows[i].line, error.text);
	}
}

static void every_sentence_is_one_line_without_the_name_of_the_program(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error error;

		if (!check(rows[i].command, rows[i].line, &error))
			continue;
		assert_null(strchr(error.text, '\n'));
		assert_int_not_equal(strncmp(error.text, "pkbpf:", 6), 0);
		assert_int_not_equal(error.text[strlen(error.text) - 1], '.');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_line_is_accepted_or_refused_with_its_sentence),
		cmocka_unit_test(every_sentence_is_one_line_without_the_name_of_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
