// SPDX-License-Identifier: BSD-2-Clause
// Tests what the text report promises whatever is in it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pkbpf/blockio.h>

#include "base/array.h"
#include "fake_profile.h"
#include "golden_scenario.h"
#include "report/report.h"
#include "report/text_table.h"

#define APP "/usr/bin/app"

static char *report_of(const struct golden_scenario *scenario, const struct format_options *options)
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

static size_t count_lines(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

static void assert_fits_in(const char *text, size_t width)
{
	char *copy = strdup(text), *save = NULL;

	assert_non_null(copy);
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (text_columns(line) > width)
			fail_msg("%zu columns: %s", text_columns(line), line);
		if (line[strlen(line) - 1] == ' ')
			fail_msg("ends in a space: %s", line);
		for (const char *c = line; *c; c++)
			if ((unsigned char)*c < ' ' || *c == 0x7f)
				fail_msg("control character: %s", line);
	}
	free(copy);
}

static void assert_fits(const char *text)
{
	assert_fits_in(text, REPORT_WIDTH_DEFAULT);
}

static const unsigned int widths[] = {80, 100, 200};

static void no_line_is_wider_than_a_terminal_or_moves_its_cursor(void **state)
{
	static const unsigned int tops[] = {0, 1, 3, 1000};
	const struct golden_scenario *scenario;

	for (size_t i = 0; (scenario = golden_scenario_at(i)); i++)
		for (size_t j = 0; j < ARRAY_SIZE(tops) * ARRAY_SIZE(widths); j++) {
			struct format_options options = {
				.top = tops[j % ARRAY_SIZE(tops)],
				.width = widths[j / ARRAY_SIZE(tops)],
				.lines = j == 1,
				.full = true,
			};
			char *text = report_of(scenario, &options);

			assert_fits_in(text, options.width);
			free(text);
		}
}

static void a_page_fits_a_terminal_and_is_not_longer_than_it_may_be(void **state)
{
	const struct golden_scenario *scenario;

	for (size_t i = 0; (scenario = golden_scenario_at(i)); i++)
		for (size_t j = 0; j < ARRAY_SIZE(widths) * ROW_ORDER_COUNT; j++) {
			struct format_options options = {
				.width = widths[j % ARRAY_SIZE(widths)],
				.order = (enum row_order)(j / ARRAY_SIZE(widths)),
			};
			char *text = report_of(scenario, &options);

			assert_fits_in(text, options.width);
			assert_true(count_lines(text) <= REPORT_LINES_OF_TARGETS);
			free(text);
		}
}

static void colour_only_adds_escapes(void **state)
{
	const struct golden_scenario *scenario = golden_scenario_at(0);
	char *plain = report_of(scenario, NULL), *kept;
	char *colored = report_of(scenario,
				  &(struct format_options){.top = 10, .full = true, .color = true});

	assert_true(strlen(colored) > strlen(plain));
	kept = colored;
	for (const char *c = colored; *c; c++) {
		if (*c == '\x1b')
			c = strchr(c, 'm');
		else
			*kept++ = *c;
	}
	*kept = '\0';
	assert_string_equal(colored, plain);
	free(plain);
	free(colored);
}

struct machine_fixture {
	struct fake_machine *machine;
	struct fake_profile fake;
};

static int setup(void **state)
{
	static struct machine_fixture fixture;

	fixture.machine = fake_machine_new();
	fake_profile_init(&fixture.fake, NULL);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct machine_fixture *fixture = *state;

	fake_machine_free(fixture->machine);
	fake_profile_done(&fixture->fake);
	return 0;
}

static void assert_reports(struct machine_fixture *fixture, const struct format_options *options,
			   const char *part)
{
	char *text;

	fake_profile_run(&fixture->fake, fixture->machine, NULL, 0);
	text = fake_profile_write(&fixture->fake, "text", options);
	if (!strstr(text, part))
		fail_msg("no \"%s\" in:\n%s", part, text);
	assert_fits(text);
	free(text);
}

static void the_account_adds_up_by_cause(void **state)
{
	struct machine_fixture *fixture = *state;
	uint64_t *counters = profile_info(fixture->fake.profile)->counters;

	fake_process(fixture->machine, 100, 1, "app");
	for (size_t i = 0; i < 1200; i++)
		fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401010));
	counters[PKBPF_COUNTER_CPU_EXPECTED] = 1234;
	counters[PKBPF_COUNTER_LOST_RING_FULL] = 30;
	counters[PKBPF_COUNTER_LOST_NO_SCRATCH] = 4;
	assert_reports(
		fixture, NULL,
		"\nsamples:    expected 1,234 = recorded 1,200 + lost 34 (ring buffer full: 30, no "
		"scratch memory in\n            the kernel: 4)\n");
}

static void what_is_missing_from_the_account_is_said(void **state)
{
	struct machine_fixture *fixture = *state;

	fake_process(fixture->machine, 100, 1, "app");
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401010));
	profile_info(fixture->fake.profile)->counters[PKBPF_COUNTER_CPU_EXPECTED] = 8;
	assert_reports(fixture, NULL, "expected 8 = recorded 1 + lost 0 + unaccounted 7\n");
}

static void more_than_expected_is_said_too(void **state)
{
	struct machine_fixture *fixture = *state;

	fake_process(fixture->machine, 100, 1, "app");
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401010));
	fake_lost(fixture->machine, PKBPF_COUNTER_LOST_RING_FULL, 2);
	profile_info(fixture->fake.profile)->counters[PKBPF_COUNTER_CPU_EXPECTED] = 2;
	assert_reports(fixture, NULL,
		       "expected 2 = recorded 1 + lost 2 (ring buffer full: 2) - unaccounted 1\n");
}

static void counters_that_are_no_losses_are_notes(void **state)
{
	struct machine_fixture *fixture = *state;

	profile_info(fixture->fake.profile)->counters[PKBPF_COUNTER_KERNEL_STACK_FAILED] = 1500;
	assert_reports(fixture, NULL,
		       "\nnotes:      kernel stacks that could not be read: 1,500\n");
}

static void processes_beyond_the_table_are_counted(void **state)
{
	struct machine_fixture *fixture = *state;
	struct format_options options = {.top = 2, .full = true};

	for (uint32_t pid = 100; pid < 105; pid++) {
		fake_process(fixture->machine, pid, 1, "app");
		fake_sample(fixture->machine, pid, pid, FAKE_IPS(), FAKE_IPS(0x401010));
	}
	assert_reports(fixture, &options, "\n ... and 3 more processes\n");
}

static void cpu_time_is_samples_by_frequency(void **state)
{
	struct machine_fixture *fixture = *state;
	struct profile_info *info = profile_info(fixture->fake.profile);

	info->frequency_hz = 99;
	info->start_ns = 1;
	info->end_ns = 4000000001;
	fake_process(fixture->machine, 100, 1, "app");
	for (size_t i = 0; i < 198; i++)
		fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401010));
	assert_reports(fixture, NULL,
		       "\n 100 app      198 100.0%  2.00 50.0%       1  100.0% [unknown]\n");
}

static void a_process_that_came_and_went_is_told_apart(void **state)
{
	struct machine_fixture *fixture = *state;

	fake_process(fixture->machine, 100, 1, "shell");
	fake_fork(fixture->machine, 100, 101);
	fake_exec(fixture->machine, 101, "brief");
	fake_sample(fixture->machine, 101, 101, FAKE_IPS(), FAKE_IPS(0x401010));
	fake_exit(fixture->machine, 101, 101);
	assert_reports(
		fixture, NULL,
		"\n 101 brief       1 100.0%     -    -       - short-lived  100.0% [unknown]\n");
}

static void other_kinds_are_shown_in_their_units(void **state)
{
	struct machine_fixture *fixture = *state;
	const uint64_t kernel[] = {0xffffffff81000010};
	struct sample_view sample = {
		.pid = 100,
		.tid = 100,
		.kind = PKBPF_PROFILE_OFFCPU,
		.count = 3,
		.weight = 12345678,
		.kernel_ips = kernel,
		.kernel_count = 1,
	};

	profile_info(fixture->fake.profile)->kinds_mask = 1U << PKBPF_PROFILE_OFFCPU;
	fake_process(fixture->machine, 100, 1, "app");
	fake_sample_view(fixture->machine, &sample);
	assert_reports(fixture, NULL, "\nrecorded:   3 waits\n");
	/* Played once more, so there are twice as many. */
	assert_reports(fixture, NULL, "\nOff-CPU by process: 6 waits, 24.7 ms in total\n");
}

static void what_stands_for_no_process_has_no_pid(void **state)
{
	struct machine_fixture *fixture = *state;
	const uint64_t kernel[] = {0xffffffff81000010};
	struct sample_view sample = {
		.pid = PKBPF_PID_WRITEBACK,
		.tid = PKBPF_PID_WRITEBACK,
		.kind = PKBPF_PROFILE_BLOCKIO,
		.state = PKBPF_BLOCKIO_WRITE,
		.count = 1,
		.weight = 1000000,
		.kernel_ips = kernel,
		.kernel_count = 1,
		.comm = PKBPF_WRITEBACK_COMM,
	};

	profile_info(fixture->fake.profile)->kinds_mask = 1U << PKBPF_PROFILE_BLOCKIO;
	fake_sample_view(fixture->machine, &sample);
	assert_reports(fixture, NULL, " 100.0% 1.00 ms [writeback]\n");
}

static void a_deep_stack_takes_a_few_lines_and_keeps_its_root(void **state)
{
	struct fake_symbol symbols[100];
	struct machine_fixture *fixture = *state;
	uint64_t ips[100];
	static char names[100][32];
	char *text, *stack, *end;
	size_t lines = 0;

	memset(symbols, 0, sizeof(symbols));
	for (size_t i = 0; i < 100; i++) {
		snprintf(names[i], sizeof(names[i]), "function_number_%zu", i);
		symbols[i].space = FRAME_FILE;
		symbols[i].path = APP;
		symbols[i].start = 0x1000 * (i + 1);
		symbols[i].end = symbols[i].start + 0x1000;
		symbols[i].lines[0].function = names[i];
		ips[i] = 0x400000 + symbols[i].start + 0x10;
	}
	fake_process(fixture->machine, 100, 1, "app");
	fake_map(fixture->machine, 100, 0x400000, 0x500000, 0, APP);
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), (struct fake_ips){ips, 100});
	fake_profile_run(&fixture->fake, fixture->machine, symbols, 100);
	text = fake_profile_write(&fixture->fake, "text", NULL);
	assert_fits(text);
	stack = strstr(text, "hottest stacks");
	assert_non_null(stack);
	stack = strstr(stack, "function_number_0 <- function_number_1 <-");
	assert_non_null(stack);
	end = strstr(stack, "function_number_98 <- function_number_99\n");
	assert_non_null(end);
	assert_non_null(strstr(stack, " frames ... <- function_number_98"));
	for (const char *c = stack; c < end; c++)
		lines += *c == '\n';
	assert_true(lines <= 3);
	free(text);
}

static bool tells_of_the_limit(uint64_t bpf_cpu_ns, uint32_t limit_permille, bool is_governed)
{
	struct fake_machine *machine = fake_machine_new();
	struct format_options options = {.top = 3, .full = true};
	struct fake_profile fake;
	struct profile_info *info;
	char *text;
	bool tells;

	fake_profile_init(&fake, NULL);
	golden_scenario_at(0)->describe(profile_info(fake.profile));
	info = profile_info(fake.profile);
	info->bpf_cpu_ns = bpf_cpu_ns;
	info->bpf_limit_permille = limit_permille;
	info->kinds_mask = 1U << (is_governed ? PKBPF_PROFILE_OFFCPU : PKBPF_PROFILE_CPU);
	fake_profile_run(&fake, machine, NULL, 0);
	text = fake_profile_write(&fake, "text", &options);
	assert_fits(text);
	tells = strstr(text, "exceeds --max-overhead (2.0%)");
	free(text);
	fake_profile_done(&fake);
	fake_machine_free(machine);
	return tells;
}

/* Of ten seconds. */
static void says_when_its_programs_need_more_than_they_may(void **state)
{
	assert_true(tells_of_the_limit(UINT64_C(201000000), 20, true));
	assert_false(tells_of_the_limit(UINT64_C(199000000), 20, true));
	/* Nobody asked for a limit, or it is about nothing that was recorded. */
	assert_false(tells_of_the_limit(UINT64_C(201000000), 0, true));
	assert_false(tells_of_the_limit(UINT64_C(201000000), 20, false));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_when_its_programs_need_more_than_they_may),
		cmocka_unit_test(no_line_is_wider_than_a_terminal_or_moves_its_cursor),
		cmocka_unit_test(a_page_fits_a_terminal_and_is_not_longer_than_it_may_be),
		cmocka_unit_test(colour_only_adds_escapes),
		TEST(the_account_adds_up_by_cause),
		TEST(what_is_missing_from_the_account_is_said),
		TEST(more_than_expected_is_said_too),
		TEST(counters_that_are_no_losses_are_notes),
		TEST(processes_beyond_the_table_are_counted),
		TEST(cpu_time_is_samples_by_frequency),
		TEST(a_process_that_came_and_went_is_told_apart),
		TEST(other_kinds_are_shown_in_their_units),
		TEST(what_stands_for_no_process_has_no_pid),
		TEST(a_deep_stack_takes_a_few_lines_and_keeps_its_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
