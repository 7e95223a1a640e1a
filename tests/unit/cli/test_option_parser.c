// SPDX-License-Identifier: BSD-2-Clause
/* Words of a command line to options, and the sentence for each way to get them wrong. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/option_check.h"
#include "cli/option_parser.h"
#include "source/source.h"

#define MAX_WORDS 32

/* Splits line at spaces and parses it; '_' stands for an empty word. */
static int parse(const struct command_row *command, const char *line, char *words, size_t size,
		 struct cli_options *options, struct error *error)
{
	/* Outlives the call: options borrow the words of a command from it. */
	static char *argv[MAX_WORDS + 1];
	static char empty[] = "";
	char *rest = words, *word;
	int argc = 0;

	memset(argv, 0, sizeof(argv));
	assert_true(strlen(line) < size);
	strcpy(words, line);
	while (*line && (word = strsep(&rest, " "))) {
		assert_true(argc < MAX_WORDS);
		argv[argc++] = strcmp(word, "_") == 0 ? empty : word;
	}
	cli_options_init(options);
	memset(error, 0, sizeof(*error));
	return options_parse(command, argc, argv, options, error);
}

static const struct {
	const struct command_row *command;
	const char *line, *sentence;
} wrong_usages[] = {
	{&command_profile, "--frequncy 99", "unknown option --frequncy; did you mean --frequency?"},
	{&command_profile, "--freq 99", "unknown option --freq; did you mean --frequency?"},
	{&command_profile, "--pdi=1", "unknown option --pdi; did you mean --pid?"},
	{&command_profile, "--zzzzzzzz", "unknown option --zzzzzzzz; see pkbpf --help all"},
	{&command_profile, "-x", "unknown option -x; see pkbpf --help all"},
	{&command_profile, "-qx", "unknown option -x; see pkbpf --help all"},
	{&command_profile, "-children", "unknown option -children; did you mean --children?"},
	{&command_profile, "--pid", "--pid requires a value: --pid PID[,PID...]"},
	{&command_profile, "-p", "--pid requires a value: --pid PID[,PID...]"},
	{&command_profile, "--pid --children", "--pid requires a value: --pid PID[,PID...]"},
	{&command_profile, "--children=yes", "--children takes no value"},
	{&command_profile, "sleep 5", "unexpected argument 'sleep'; did you mean pkbpf -- sleep?"},
	{&command_profile, "1234", "unexpected argument '1234'; did you mean --pid 1234?"},
	{&command_profile, "--", "-- requires a command"},
	{&command_profile, "-p 1 -t 2", "--pid and --tid are mutually exclusive"},
	{&command_profile, "-p 1 -G /x", "--pid and --cgroup are mutually exclusive"},
	{&command_profile, "-G /x -- true", "--cgroup and -- COMMAND are mutually exclusive"},
	{&command_profile, "--children", "--children requires --pid"},
	{&command_profile, "-p 1 --children --no-children",
	 "--children and --no-children are mutually exclusive"},
	{&command_profile, "-G /x --no-children", "--no-children requires --pid or a command"},
	{&command_profile, "-U -K",
	 "--user and --kernel are mutually exclusive; the default is both"},
	{&command_profile, "-U --wakers",
	 "--wakers and --user are mutually exclusive: kernel frames tell an interrupt from "
	 "the thread it interrupted"},
	{&command_profile, "--comm _", "--comm requires the name of a process"},
	{&command_profile, "--comm 0123456789abcdef",
	 "invalid value '0123456789abcdef' for --comm: the kernel keeps 15 bytes of a "
	 "name; use '0123456789abcde'"},
	{&command_profile, "--comm cc1 --comm as",
	 "--comm cc1 and --comm as are mutually exclusive; use --pid or --cgroup for "
	 "several processes"},
	{&command_profile, "-e cpux", "invalid value 'cpux' for --events; did you mean cpu?"},
	{&command_profile, "-e cpu,",
	 "invalid value '' for --events: expected some of cpu,offcpu,blockio,faults,network,"
	 "alloc,live,memory,calls,locks"},
	{&command_profile, "--unwind magic",
	 "invalid value 'magic' for --unwind: expected auto, dwarf or fp"},
	{&command_profile, "-o _", "--output requires the name of a file, or - for stdout"},
	{&command_profile, "-f folded -f text",
	 "--format folded and --format text: each requires an --output of its own"},
	{&command_profile, "-f text -o x.txt -f folded",
	 "--format folded belongs to no --output: x.txt has one"},
	{&command_profile, "-f foldet",
	 "invalid value 'foldet' for --format; did you mean folded?"},
	{&command_profile, "--progress always",
	 "invalid value 'always' for --progress: expected auto or never"},
	{&command_profile, "--color red",
	 "invalid value 'red' for --color: expected auto, always or never"},
	{&command_doctor, "--tid 1", "--tid does not apply to this command"},
	{&command_doctor, "-t 1", "--tid does not apply to this command"},
	{&command_doctor, "now", "unexpected argument 'now'"},
	{&command_doctor, "-- true", "-- COMMAND does not apply to this command"},
	{&command_unpack, "--pid 1", "--pid does not apply to this command"},
};

static void wrong_usage_is_told_in_one_specific_sentence(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(wrong_usages); i++) {
		struct cli_options options;
		struct error error;
		char words[256];

		assert_int_equal(parse(wrong_usages[i].command, wrong_usages[i].line, words,
				       sizeof(words), &options, &error),
				 -EINVAL);
		assert_string_equal(error.text, wrong_usages[i].sentence);
		cli_options_done(&options);
	}
}

static void numbers_out_of_range_are_refused_with_the_option_named(void **state)
{
	static const char *const lines[] = {
		"--pid 0",	 "--pid 4194305",      "--tid 1,x",
		"--frequency 0", "--frequency 100001", "--top 0",
		"--duration 0",	 "--duration soon",    "--slow-io ",
		"--slow-io 0s",	 "--slow-io slow",     "--slow-io -1ms"};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		char words[256], name[32];
		struct cli_options options;
		struct error error;

		assert_true(parse(&command_profile, lines[i], words, sizeof(words), &options,
				  &error) < 0);
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(lines[i], " "), lines[i]);
		assert_non_null(strstr(error.text, name));
		cli_options_done(&options);
	}
}

static void events_add_up_and_a_name_may_be_repeated(void **state)
{
	struct cli_options options;
	struct error error;
	char words[64];

	assert_int_equal(parse(&command_profile, "-e cpu -e offcpu,cpu --comm cc1 --comm cc1",
			       words, sizeof(words), &options, &error),
			 0);
	assert_int_equal(options.source_count, 2);
	assert_string_equal(options.sources[0]->name, "cpu");
	assert_string_equal(options.sources[1]->name, "offcpu");
	assert_string_equal(options.live.targets.comm, "cc1");
	cli_options_done(&options);
}

static void options_about_events_that_are_not_recorded_are_refused(void **state)
{
	static const char *const names[] = {"--wakers", "--wait-states", "--kernel-threads",
					    "--min-block 1us"};
	const uint32_t cpu = 1U << PKBPF_PROFILE_CPU, offcpu = 1U << PKBPF_PROFILE_OFFCPU;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char line[64], sentence[128], words[64];
		struct cli_options options;
		struct error error;

		snprintf(line, sizeof(line), "-e cpu,offcpu %s", names[i]);
		snprintf(sentence, sizeof(sentence), "%.*s requires offcpu in --events",
			 (int)strcspn(names[i], " "), names[i]);
		assert_int_equal(
			parse(&command_profile, line, words, sizeof(words), &options, &error), 0);
		assert_int_equal(options_check_events(&options, cpu | offcpu, &error), 0);
		assert_int_equal(options_check_events(&options, cpu, &error), -EINVAL);
		assert_string_equal(error.text, sentence);
		cli_options_done(&options);
	}
}

static void no_words_mean_the_whole_host_and_the_text_report(void **state)
{
	struct cli_options options;
	struct error error;
	char words[8];

	assert_int_equal(parse(&command_profile, "", words, sizeof(words), &options, &error), 0);
	assert_int_equal(options.live.targets.pids.count, 0);
	assert_null(options.live.targets.command);
	assert_int_equal(options.live.frequency_hz, 99);
	assert_int_equal(options.top, 10);
	assert_int_equal(options.outputs.count, 1);
	assert_string_equal(options.outputs.items[0].path, "-");
	assert_null(options.outputs.items[0].format);
	cli_options_done(&options);
}

static void every_spelling_of_an_option_means_the_same(void **state)
{
	static const char *const lines[] = {"-p 1,22",	  "-p1,22",  "--pid 1,22",     "--pid=1,22",
					    "-p 1 -p 22", "-qp1,22", "-p 1 --pid=22,1"};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct cli_options options;
		struct error error;
		char words[64];

		assert_int_equal(
			parse(&command_profile, lines[i], words, sizeof(words), &options, &error),
			0);
		assert_int_equal(options.live.targets.pids.count, 2);
		assert_int_equal(options.live.targets.pids.items[0], 1);
		assert_int_equal(options.live.targets.pids.items[1], 22);
		cli_options_done(&options);
	}
}

static void values_reach_their_fields(void **state)
{
	struct cli_options options;
	struct error error;
	char words[256];

	assert_int_equal(
		parse(&command_profile,
		      "-t 7 -e cpu -F 999 -d 1.5s -U --unwind fp --comm cc1 --top 3 --per-thread "
		      "-vv -q --color=never",
		      words, sizeof(words), &options, &error),
		0);
	assert_int_equal(options.live.targets.tids.items[0], 7);
	assert_int_equal(options.source_count, 1);
	assert_string_equal(options.sources[0]->name, "cpu");
	assert_int_equal(options.live.frequency_hz, 999);
	assert_int_equal(options.live.duration_ns, 1500000000);
	assert_true(options.live.user_only);
	assert_int_equal(options.live.unwind_mode, PKBPF_UNWIND_FP);
	assert_string_equal(options.live.targets.comm, "cc1");
	assert_int_equal(options.top, 3);
	assert_true(options.live.per_thread);
	assert_int_equal(options.verbosity, 2);
	assert_true(options.quiet);
	assert_int_equal(options.color, COLOR_NEVER);
	cli_options_done(&options);

	assert_int_equal(parse(&command_profile,
			       "-p 1 --children -K --unwind=dwarf --pid-frame --no-inline --lines "
			       "--progress never --color always",
			       words, sizeof(words), &options, &error),
			 0);
	assert_int_equal(options.live.targets.follow, PKBPF_FOLLOW_DESCENDANTS);
	assert_true(options.live.kernel_only);
	assert_int_equal(options.live.unwind_mode, PKBPF_UNWIND_DWARF);
	assert_true(options.pid_frame && options.live.no_inline && options.lines);
	assert_true(options.no_progress);
	assert_int_equal(options.color, COLOR_ALWAYS);
	cli_options_done(&options);
}

static void what_is_slow_may_be_everything_or_nothing(void **state)
{
	static const struct {
		const char *line;
		uint64_t slow_ns;
	} rows[] = {
		{"", 10000000},
		{"--slow-io 2.5ms", 2500000},
		{"--slow-io=1", 1000000000},
		{"--slow-io 0", 0},
		{"--slow-io none", UINT64_MAX},
		{"--slow-io none --slow-io 20us", 20000},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cli_options options;
		struct error error;
		char words[64];

		assert_int_equal(parse(&command_profile, rows[i].line, words, sizeof(words),
				       &options, &error),
				 0);
		assert_true(options.live.sources.blockio.slow_ns == rows[i].slow_ns);
		cli_options_done(&options);
	}
}

static void a_format_belongs_to_the_output_behind_it(void **state)
{
	struct cli_options options;
	struct error error;
	char words[256];

	assert_int_equal(parse(&command_profile, "-o a.txt -f folded -o b -o -", words,
			       sizeof(words), &options, &error),
			 0);
	assert_int_equal(options.outputs.count, 3);
	assert_null(options.outputs.items[0].format);
	assert_string_equal(options.outputs.items[1].format, "folded");
	assert_string_equal(options.outputs.items[1].path, "b");
	assert_null(options.outputs.items[2].format);
	assert_string_equal(options.outputs.items[2].path, "-");
	cli_options_done(&options);

	assert_int_equal(
		parse(&command_profile, "-f folded", words, sizeof(words), &options, &error), 0);
	assert_int_equal(options.outputs.count, 1);
	assert_string_equal(options.outputs.items[0].path, "-");
	assert_string_equal(options.outputs.items[0].format, "folded");
	cli_options_done(&options);
}

static void words_behind_two_dashes_are_the_command(void **state)
{
	struct cli_options options;
	struct error error;
	char words[256];

	assert_int_equal(parse(&command_profile, "-F 49 -- ls --help -p x", words, sizeof(words),
			       &options, &error),
			 0);
	assert_non_null(options.live.targets.command);
	assert_string_equal(options.live.targets.command[0], "ls");
	assert_string_equal(options.live.targets.command[1], "--help");
	assert_string_equal(options.live.targets.command[3], "x");
	assert_null(options.live.targets.command[4]);
	assert_false(options.show_help);
	cli_options_done(&options);
}

static void help_and_version_win_over_what_follows(void **state)
{
	struct cli_options options;
	struct error error;
	char words[64];

	assert_int_equal(
		parse(&command_profile, "-h --nonsense", words, sizeof(words), &options, &error),
		0);
	assert_true(options.show_help);
	assert_false(options.show_all_help);
	cli_options_done(&options);
	assert_int_equal(
		parse(&command_profile, "--help all", words, sizeof(words), &options, &error), 0);
	assert_true(options.show_all_help);
	cli_options_done(&options);
	assert_int_equal(parse(&command_doctor, "--version --nonsense", words, sizeof(words),
			       &options, &error),
			 0);
	assert_true(options.show_version);
	cli_options_done(&options);
}

struct own_options {
	uint64_t interval_ns;
	bool once;
};

static void a_command_has_options_of_its_own_beside_those_it_shares(void **state)
{
	static const struct option_row own[] = {
		{'i', "interval", "TIME", "time between looks", .form = OPTION_DURATION,
		 OPTION_AT(struct own_options, interval_ns)},
		{0, "once", NULL, "look once", .form = OPTION_FLAG,
		 OPTION_AT(struct own_options, once)},
		{.name = NULL},
	};
	static const char *const shared[] = {"pid", NULL};
	static const struct command_row command = {
		.name = "look",
		.options = shared,
		.own_options = own,
		.own_size = sizeof(struct own_options),
	};
	const struct own_options *values;
	struct cli_options options;
	struct error error;
	char words[64];

	assert_int_equal(
		parse(&command, "-i 2s --once -p 7", words, sizeof(words), &options, &error), 0);
	values = options.own;
	assert_int_equal(values->interval_ns, 2000000000);
	assert_true(values->once);
	assert_int_equal(options.live.targets.pids.items[0], 7);
	cli_options_done(&options);
	assert_int_equal(parse(&command, "--intervall 2s", words, sizeof(words), &options, &error),
			 -EINVAL);
	assert_string_equal(error.text, "unknown option --intervall; did you mean --interval?");
	cli_options_done(&options);
	assert_int_equal(parse(&command_profile, "--once", words, sizeof(words), &options, &error),
			 -EINVAL);
	assert_string_equal(error.text, "unknown option --once; see pkbpf --help all");
	cli_options_done(&options);
}

static void rows_do_not_share_a_name_or_letter(void **state)
{
	const struct option_row *a, *b;

	for (size_t i = 0; (a = option_at(i)); i++) {
		assert_true(a->form != OPTION_PARSED || a->parse);
		assert_true(a->form != OPTION_CHOICE || a->choices);
		assert_true(a->form == OPTION_PARSED || a->size > 0);
		assert_true(a->form != OPTION_FLAG || !a->argument);
		assert_true(strlen(a->summary) > 0);
		assert_true(!a->needs || source_by_name(a->needs));
		for (size_t j = i + 1; (b = option_at(j)); j++) {
			assert_string_not_equal(a->name, b->name);
			assert_true(!a->letter || a->letter != b->letter);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_usage_is_told_in_one_specific_sentence),
		cmocka_unit_test(numbers_out_of_range_are_refused_with_the_option_named),
		cmocka_unit_test(events_add_up_and_a_name_may_be_repeated),
		cmocka_unit_test(options_about_events_that_are_not_recorded_are_refused),
		cmocka_unit_test(no_words_mean_the_whole_host_and_the_text_report),
		cmocka_unit_test(every_spelling_of_an_option_means_the_same),
		cmocka_unit_test(values_reach_their_fields),
		cmocka_unit_test(what_is_slow_may_be_everything_or_nothing),
		cmocka_unit_test(a_format_belongs_to_the_output_behind_it),
		cmocka_unit_test(words_behind_two_dashes_are_the_command),
		cmocka_unit_test(help_and_version_win_over_what_follows),
		cmocka_unit_test(a_command_has_options_of_its_own_beside_those_it_shares),
		cmocka_unit_test(rows_do_not_share_a_name_or_letter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
