// SPDX-License-Identifier: BSD-2-Clause
/* Tests which options exclude or need each other, and what follows from them. */
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
#include "cli/option_check.h"
#include "cli/option_parser.h"
#include "source/source.h"

#define MAX_WORDS 32

/* Parses a line whose words are divided by spaces, and checks it. */
static int check(const char *line, struct cli_options *options, struct error *error)
{
	static char words[512], *argv[MAX_WORDS + 1];
	char *rest = words, *word;
	int argc = 0, err;

	assert_true(strlen(line) < sizeof(words));
	strcpy(words, line);
	memset(argv, 0, sizeof(argv));
	while (*line && (word = strsep(&rest, " "))) {
		assert_true(argc < MAX_WORDS);
		argv[argc++] = word;
	}
	cli_options_init(options);
	memset(error, 0, sizeof(*error));
	err = options_parse(&command_profile, argc, argv, options, error);
	return err;
}

static void what_cannot_be_together_is_said(void **state)
{
	static const struct {
		const char *line, *sentence;
	} rows[] = {
		{"-p 1 --tid 2", "--pid and --tid are mutually exclusive"},
		{"-p 1 --cgroup /x", "--pid and --cgroup are mutually exclusive"},
		{"--container x --cgroup /x", "--cgroup and --container are mutually exclusive"},
		{"-p 1 -- true", "--pid and -- COMMAND are mutually exclusive"},
		{"--children --no-children -p 1",
		 "--children and --no-children are mutually exclusive"},
		{"--children", "--children requires --pid"},
		{"--no-children", "--no-children requires --pid or a command"},
		{"--user --kernel", "--user and --kernel are mutually exclusive"},
		{"--user --wakers", "--wakers and --user are mutually exclusive"},
		{"--keep 3", "--keep requires --every"},
		{"--every 1s -o a-%t.txt", "invalid value for --every: expected 2s or more"},
		{"--every 5s -o a.txt", "--every requires %t in the name of each --output"},
		{"--every 5s -o a-%t.txt -o b.txt", "--every requires %t"},
		{"--slice 50ms -o a.pkbpf", "invalid value for --slice: expected 100ms or more"},
		{"--slice 1s -o a.txt", "--slice requires an output that is written in slices"},
		{"--debuginfod-limit 5s", "--debuginfod-limit requires --debuginfod"},
		{"-e live", "--events live requires alloc: -e alloc,live"},
		{"-e cpu,live", "--events live requires alloc: -e alloc,live"},
		{"-f text -o a.txt -f folded",
		 "--format folded belongs to no --output: a.txt has one"},
		{"--python-calls", "--python-calls requires a command: calls are counted inside"},
		{"--python-calls -p 1", "--python-calls requires a command"},
		{"--python-lines --cgroup /x", "--python-lines requires a command"},
		{"--python-lines --every 5s -o a-%t.txt -- true",
		 "--python-lines and --every are mutually exclusive"},
		{"--python off --python-calls -- true",
		 "--python-calls and --python off are mutually exclusive: times of functions"},
		{"--python-lines --python off -- true",
		 "--python-lines and --python off are mutually exclusive"},
		{"--trace-min 5ms", "--trace-min requires --trace"},
		{"--trace -o a.txt", "--trace requires an output that holds times"},
		{"--slow-function 5ms", "--slow-function requires --function"},
		{"--callers", "--callers requires --function"},
		{"--by label", "--by label requires a key: --by label:KEY"},
		{"--by label:a --region-frames",
		 "--by label:KEY and --region-frames are mutually exclusive"},
		{"-e all", "name the kinds that you need, of cpu,offcpu,"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cli_options options;
		struct error error;

		assert_int_equal(check(rows[i].line, &options, &error), -EINVAL);
		if (!strstr(error.text, rows[i].sentence))
			fail_msg("%s: %s", rows[i].line, error.text);
		cli_options_done(&options);
	}
}

static void what_goes_together_is_accepted(void **state)
{
	static const char *const lines[] = {
		"",
		"-p 1,2,3 --children",
		"-p 1 --no-children",
		"--no-children -- true",
		"--container x",
		"--user -e cpu",
		"--every 2s -o a-%t.txt --keep 3",
		"--python-calls --python-lines -o a.pstats -- true",
		"--python full --python-calls -- true",
		"--python off -- true",
		"--slice 100ms -o a.pkbpf",
		"--slice 1s -o a.html",
		"-e alloc,live -p 1",
		"-f folded -o a.txt -o b.txt",
		"-f folded",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct cli_options options;
		struct error error;

		if (check(lines[i], &options, &error))
			fail_msg("%s: %s", lines[i], error.text);
		cli_options_done(&options);
	}
}

static void without_an_output_it_is_stdout(void **state)
{
	struct cli_options options;
	struct error error;

	assert_int_equal(check("", &options, &error), 0);
	assert_int_equal(options.outputs.count, 1);
	assert_string_equal(options.outputs.items[0].path, "-");
	assert_null(options.outputs.items[0].format);
	cli_options_done(&options);
	assert_int_equal(check("-f folded", &options, &error), 0);
	assert_int_equal(options.outputs.count, 1);
	assert_string_equal(options.outputs.items[0].format, "folded");
	cli_options_done(&options);
	assert_int_equal(check("-f folded -o a -o b.txt", &options, &error), 0);
	assert_int_equal(options.outputs.count, 2);
	assert_string_equal(options.outputs.items[0].format, "folded");
	assert_null(options.outputs.items[1].format);
	cli_options_done(&options);
}

static void options_say_what_follows_from_them(void **state)
{
	struct cli_options options;
	struct error error;

	assert_int_equal(check("--by thread", &options, &error), 0);
	assert_true(options.live.per_thread);
	cli_options_done(&options);
	assert_int_equal(check("--top 7", &options, &error), 0);
	assert_false(options.live.per_thread);
	assert_int_equal(options.live.sources.blockio.slow_count, 7);
	assert_int_equal(options.live.sources.regions.slow_count, 7);
	cli_options_done(&options);
}

static void an_option_of_a_kind_needs_the_kind(void **state)
{
	const uint32_t cpu = 1U << PKBPF_PROFILE_CPU, waits = 1U << PKBPF_PROFILE_OFFCPU;
	struct cli_options options;
	struct error error;

	assert_int_equal(check("--wakers", &options, &error), 0);
	assert_int_equal(options_check_events(&options, cpu | waits, &error), 0);
	assert_int_equal(options_check_events(&options, cpu, &error), -EINVAL);
	assert_string_equal(error.text, "--wakers requires offcpu in --events");
	cli_options_done(&options);
	assert_int_equal(check("-e cpu", &options, &error), 0);
	assert_int_equal(options_check_events(&options, cpu, &error), 0);
	cli_options_done(&options);
}

static void an_option_is_given_when_it_stands_on_the_line(void **state)
{
	struct cli_options options;
	struct error error;

	assert_int_equal(check("-p 1 --frequency 99", &options, &error), 0);
	assert_true(option_name_is_given("pid", &options));
	assert_true(option_name_is_given("frequency", &options));
	assert_false(option_name_is_given("events", &options));
	assert_false(option_name_is_given("no such option", &options));
	cli_options_done(&options);
}

static void what_is_counted_in_python_programs_stands_on_the_line(void **state)
{
	static const struct {
		const char *line;
		bool calls, lines;
	} rows[] = {
		{"-- true", false, false},
		{"--python-calls -- true", true, false},
		{"--python-lines -- true", false, true},
		{"--python-calls --python-lines --duration 1 -- true", true, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cli_options options;
		struct error error;

		assert_int_equal(check(rows[i].line, &options, &error), 0);
		assert_int_equal(options.live.python_calls, rows[i].calls);
		assert_int_equal(options.live.python_lines, rows[i].lines);
		cli_options_done(&options);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_together_is_said),
		cmocka_unit_test(what_goes_together_is_accepted),
		cmocka_unit_test(without_an_output_it_is_stdout),
		cmocka_unit_test(options_say_what_follows_from_them),
		cmocka_unit_test(an_option_of_a_kind_needs_the_kind),
		cmocka_unit_test(an_option_is_given_when_it_stands_on_the_line),
		cmocka_unit_test(what_is_counted_in_python_programs_stands_on_the_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
