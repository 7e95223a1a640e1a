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
	{&command_diff, "--baseline b a", NULL},
	{&command_diff, "--baseline b", "--baseline requires one profile"},
	{&command_diff, "--baseline b a c", "--baseline requires one profile"},
	{&command_diff, "a b c", "diff requires two profiles"},
	{&command_diff, "--save-baseline b a", NULL},
	{&command_diff, "--save-baseline b a c", NULL},
	{&command_diff, "--save-baseline b", "--save-baseline requires a recording"},
	{&command_diff, "--save-baseline b --baseline c a", "--save-baseline takes recordings"},
	{&command_diff, "--save-baseline b -o x.json a", "--save-baseline takes recordings"},
	{&command_diff, "--save-baseline b --base c a", "--save-baseline takes recordings"},
	{&command_diff, "--save-baseline b --new c a", "--save-baseline takes recordings"},
	{&command_diff, "--per second a b", NULL},
	{&command_diff, "--per requests=10:20 a b", NULL},
	{&command_diff, "--per requests=10 a b", "invalid value 'requests=10' for --per"},
	{&command_diff, "--per requests=10:20x a b", "for --per"},
	{&command_diff, "--per requests=0:20 a b", "for --per"},
	{&command_diff, "--per requests=10:0 a b", "for --per"},
	{&command_diff, "--per day a b", "for --per"},
	{&command_query, "", NULL},
	{&command_query, "report", NULL},
	{&command_query, "reprot", "unknown question 'reprot'; did you mean report?"},
	{&command_query, "report series", "unexpected argument 'series'"},
	{&command_query, "series --capacity", "unexpected argument 'series'"},
	{&command_query, "--capacity", NULL},
	{&command_query, "series --figure blockio.p99", NULL},
	{&command_query, "series --figure blockio.p98", "unknown figure 'blockio.p98'"},
	{&command_query, "--from -90m --to -30m", NULL},
	{&command_query, "--from -30m --to -90m", "--from must be less than --to"},
	{&command_query, "--from -30m --to -30m", "--from must be less than --to"},
	{&command_query, "--from sometime", "sometime"},
	/* The default begin of a report is five minutes before its end. */
	{&command_query, "--from -6m --to -5m", NULL},
	{&command_query, "diff --base-from -2h", "--base-from and --base-to belong together"},
	{&command_query, "diff --base-to -2h", "--base-from and --base-to belong together"},
	{&command_query, "diff --base-from -2h --base-to -1h", NULL},
	{&command_query, "diff --base-from -1h --base-to -2h", "--base-from must be less"},
	{&command_query, "diff --base hour --base-from -2h --base-to -1h", "mutually exclusive"},
	{&command_query, "diff --base century", "century"},
	{&command_query, "diff -f markdown", NULL},
	{&command_query, "diff -f csv", "unknown format of a diff"},
	{&command_query, "series -f csv", NULL},
	{&command_query, "windows -f csv", "expected text or json"},
	{&command_query, "series -f pdf", "expected text or json or csv"},
	{&command_query, "objectives", "query objectives requires --config or --when"},
	{&command_query, "objectives --when cpu.share<50%", NULL},
	{&command_query, "objectives --when a --config b", "requires --config or --when"},
	{&command_query, "series --fail-if cpu.share>5%", "--fail-if requires query report"},
	{&command_query, "report --fail-if cpu.share>5%", NULL},
	{&command_bench, "-- true", NULL},
	{&command_bench, "", "bench"},
	{&command_bench, "--unit run -- true", NULL},
	{&command_bench, "--unit region:step -- true", NULL},
	{&command_bench, "--unit region: -- true", "invalid value 'region:' for --unit"},
	{&command_bench, "--unit step -- true", "invalid value 'step' for --unit"},
	{&command_bench, "--pin 0 -- true", NULL},
	{&command_bench, "--pin 0,2-3,7 -- true", NULL},
	{&command_bench, "--pin 3,1 -- true", NULL},
	{&command_bench, "--pin 0- -- true", "for --pin"},
	{&command_bench, "--pin 0,3- -- true", "for --pin"},
	{&command_bench, "--pin 0,3-2 -- true", "for --pin"},
	{&command_bench, "--pin 0, -- true", "for --pin"},
	{&command_bench, "--pin ,0 -- true", "for --pin"},
	{&command_bench, "--pin 0,+1 -- true", "for --pin"},
	{&command_bench, "--pin 0,-1 -- true", "for --pin"},
	{&command_bench, "--pin 0x1 -- true", "for --pin"},
	{&command_bench, "--pin 0,1024 -- true", "for --pin"},
	{&command_bench, "--pin 1023 -- true", NULL},
	{&command_bench, "--pin 0,18446744073709551617 -- true", "for --pin"},
	{&command_bench, "--column loss:lower=cat -- true", NULL},
	{&command_bench, "--column loss=cat --column acc=cat -- true", NULL},
	{&command_bench, "--column loss -- true", "invalid value 'loss' for --column"},
	{&command_bench, "--column wall=cat -- true", "invalid name 'wall' for --column"},
	{&command_bench, "--column acc=cat --show-output -- true",
	 "--column and --show-output are mutually exclusive"},
	{&command_bench, "--fail-if wall>1ms -- true", NULL},
	{&command_bench, "--fail-if acc<1 -- true", "invalid value 'acc<1' for --fail-if"},
	/* In any order. */
	{&command_bench, "--fail-if acc<1 --column acc=cat -- true", NULL},
	{&command_bench, "--column acc=cat --fail-if acc.p99<1 -- true", NULL},
	{&command_bench, "--column acc=cat --fail-if acc.p98<1 -- true", "for --fail-if"},
	{&command_bench, "--column acc=cat --fail-if acc<1ms -- true", "for --fail-if"},
	{&command_bench, "--fail-if-slower 5% -- true", "requires something to compare with"},
	{&command_bench, "--fail-if-slower 5% true false", NULL},
	{&command_bench, "--precision 5% --runs 5 -- true", "mutually exclusive"},
	{&command_bench, "--time 5s --order blocks -- true", "mutually exclusive"},
	{&command_bench, "--strict-environment -- true", "requires --baseline"},
	{&command_bench, "--explain --profile 3 -- true", NULL},
	{&command_bench, "-f svg -- true", "svg requires --explain"},
	{&command_bench, "-f junit -- true", "requires --fail-if-slower or --fail-if"},
	{&command_bench, "--unit region:x --bare -- true", "mutually exclusive"},
	{&command_bench, "--precision 5% --order blocks -- true", "mutually exclusive"},
	{&command_bench, "--matrix n -- true", "invalid value 'n' for --matrix"},
	{&command_bench, "true -- false", "'true' and -- COMMAND are mutually exclusive"},
	{&command_serve, "", NULL},
	{&command_serve, "-s 1s", NULL},
	{&command_serve, "-s 1m", NULL},
	{&command_serve, "-s 999ms", "invalid value for --interval: expected 1s to 1m"},
	{&command_serve, "-s 61s", "invalid value for --interval: expected 1s to 1m"},
	{&command_serve, "--max-cpu off", NULL},
	{&command_serve, "--max-cpu 2%", NULL},
	{&command_serve, "--max-cpu 0.01%", NULL},
	{&command_serve, "--max-cpu 2", "invalid value '2' for --max-cpu"},
	{&command_serve, "--max-cpu 100%", NULL},
	{&command_serve, "--max-cpu 0.001%", "invalid value '0.001%' for --max-cpu"},
	{&command_serve, "--max-cpu 101%", "invalid value '101%' for --max-cpu"},
	{&command_serve, "--max-cpu some", "invalid value 'some' for --max-cpu"},
	{&command_serve, "-e cpu,offcpu", NULL},
	{&command_serve, "-e alloc", "serve cannot record alloc"},
	{&command_serve, "-e live", "serve cannot record"},
	{&command_serve, "--check-config", "--check-config requires --config"},
	{&command_serve, "--config /nonexistent/pkbpf.conf", "cannot read --config"},
	{&command_serve, "--listen 127.0.0.1:0x", "for the port of --listen"},
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

static void commands_have_their_options(void **state)
{
	const struct command_row *command;
	size_t count = 0;

	for (; (command = command_at(count)); count++) {
		const struct option_row *row, *other;

		/* The default command, which is the first, has no name. */
		if (command->name)
			assert_ptr_equal(command_find(command->name), command);
		assert_true(!command->name == (count == 0));
		for (size_t i = 0; (row = command_option_at(command, i)); i++)
			for (size_t j = 0; j < i && (other = command_option_at(command, j)); j++)
				assert_string_not_equal(row->name, other->name);
		for (row = command->own_options; row && row->name; row++)
			assert_true(command_owns(command, row));
	}
	assert_true(count >= 9);
	assert_null(command_find("no-such-command"));
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
		cmocka_unit_test(commands_have_their_options),
		cmocka_unit_test(every_sentence_is_one_line_without_the_name_of_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
