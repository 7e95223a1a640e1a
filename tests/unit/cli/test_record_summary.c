// SPDX-License-Identifier: BSD-2-Clause
/* What a run was about and how it went, in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "cli/record_summary.h"

struct fixture {
	struct mapped_file_table *files;
	struct process_table *processes;
	struct profile *profile;
	struct cli_options options;
	struct run_description run;
};

static void open_fixture(struct fixture *fixture)
{
	struct profile_info *info;

	*fixture = (struct fixture){.run.options = &fixture->options, .run.end = RUN_TIME_IS_UP};
	cli_options_init(&fixture->options);
	fixture->files = mapped_file_table_new("");
	fixture->processes = process_table_new(fixture->files);
	fixture->profile = profile_new(fixture->processes);
	assert_non_null(fixture->profile);
	info = profile_info(fixture->profile);
	info->start_ns = NS_PER_SECOND;
	info->end_ns = 11 * NS_PER_SECOND;
	info->frequency_hz = 99;
	info->kinds_mask = 1U << PKBPF_PROFILE_CPU;
}

static void close_fixture(struct fixture *fixture)
{
	profile_free(fixture->profile);
	process_table_free(fixture->processes);
	mapped_file_table_free(fixture->files);
	cli_options_done(&fixture->options);
}

static void targets_are_described_as_they_were_chosen(void **state)
{
	char *command[] = {(char *)"make", (char *)"-j2", NULL};
	struct fixture fixture;
	struct error error;
	char text[64], cut[12];

	open_fixture(&fixture);
	record_describe_targets(&fixture.run, text, sizeof(text));
	assert_string_equal(text, "whole host");
	fixture.options.comm = "postgres";
	record_describe_targets(&fixture.run, text, sizeof(text));
	assert_string_equal(text, "whole host, comm postgres");
	fixture.options.comm = NULL;
	fixture.options.command = command;
	record_describe_targets(&fixture.run, text, sizeof(text));
	assert_string_equal(text, "command make -j2");
	record_describe_targets(&fixture.run, cut, sizeof(cut));
	assert_string_equal(cut, "command mak");
	fixture.options.command = NULL;
	assert_int_equal(parse_u32_list("812,813", "--tid", 9999, &fixture.options.tids, &error),
			 0);
	record_describe_targets(&fixture.run, text, sizeof(text));
	assert_string_equal(text, "tid 812,813");
	close_fixture(&fixture);
}

static void many_targets_are_counted_and_not_cut_in_mid_number(void **state)
{
	struct fixture fixture;
	char text[128];

	open_fixture(&fixture);
	for (uint32_t pid = 1000; pid < 1400; pid++)
		*(uint32_t *)array_add(&fixture.options.pids) = pid;
	record_describe_targets(&fixture.run, text, sizeof(text));
	assert_string_equal(text, "pid "
				  "1000,1001,1002,1003,1004,1005,1006,1007,1008,1009,1010,1011,"
				  "1012,1013,1014,1015,1016,1017 "
				  "... and 382 more and workers");
	close_fixture(&fixture);
}

static void expect_reason(struct fixture *fixture, const char *part)
{
	char text[512];

	assert_true(record_explain_nothing(&fixture->run, fixture->profile, text, sizeof(text)));
	assert_non_null(strstr(text, part));
}

static void the_lack_of_samples_has_a_reason(void **state)
{
	struct profile_info *info;
	struct fixture fixture;

	open_fixture(&fixture);
	info = profile_info(fixture.profile);
	expect_reason(&fixture, "no samples: no process used the CPU in 10 s at 99 Hz");
	fixture.run.end = RUN_TARGETS_ENDED;
	info->end_ns = info->start_ns + 20 * NS_PER_MS;
	expect_reason(&fixture, "whole host exited after 0.02 s, before the first sample at 99 Hz");
	info->counters[PKBPF_COUNTER_CPU_EXPECTED] = 5;
	info->counters[PKBPF_COUNTER_LOST_RING_FULL] = 5;
	expect_reason(&fixture, "all lost: 5 ring buffer full");
	info->counters[PKBPF_COUNTER_LOST_RING_FULL] = 0;
	expect_reason(&fixture, "5 expected and none recorded");
	info->counters[PKBPF_COUNTER_CPU_EXPECTED] = 0;
	info->kinds_mask = 1U << PKBPF_PROFILE_FAULTS;
	expect_reason(&fixture, "no events: whole host caused no such event in 0.02 s");
	info->counters[PKBPF_COUNTER_FAULTS_RING_FULL] = 7;
	expect_reason(&fixture, "all lost: 7 page faults (ring buffer full)");
	close_fixture(&fixture);
}

static void add_samples(struct fixture *fixture, uint64_t count)
{
	struct profile_row row = {.kind = PKBPF_PROFILE_CPU, .count = count, .weight = count};

	row.stack = profile_intern_stack(fixture->profile, NULL, 0);
	row.comm = profile_intern_string(fixture->profile, "a");
	row.process = process_table_get(fixture->processes, 1, "a")->id;
	assert_int_equal(profile_add(fixture->profile, &row), 0);
}

static void a_profile_with_rows_needs_no_reason(void **state)
{
	struct fixture fixture;
	char text[512];

	open_fixture(&fixture);
	add_samples(&fixture, 1);
	assert_false(record_explain_nothing(&fixture.run, fixture.profile, text, sizeof(text)));
	close_fixture(&fixture);
}

static void the_summary_names_every_cause_of_loss(void **state)
{
	struct fixture fixture;
	struct profile_info *info;
	char text[512];

	open_fixture(&fixture);
	info = profile_info(fixture.profile);
	info->counters[PKBPF_COUNTER_CPU_EXPECTED] = 100;
	info->counters[PKBPF_COUNTER_CPU_RECORDED] = 93;
	add_samples(&fixture, 93);
	info->counters[PKBPF_COUNTER_LOST_RING_FULL] = 5;
	info->counters[PKBPF_COUNTER_LOST_NO_SCRATCH] = 2;
	record_summarize(fixture.profile, text, sizeof(text));
	assert_string_equal(
		text,
		"93 of 100 samples (lost: 5 ring buffer full, 2 no scratch memory in the kernel)");
	close_fixture(&fixture);
}

static void the_summary_counts_what_is_added_up_in_the_kernel(void **state)
{
	struct fixture fixture;
	char text[512];

	open_fixture(&fixture);
	profile_info(fixture.profile)->kinds_mask = 1U << PKBPF_PROFILE_OFFCPU;
	record_summarize(fixture.profile, text, sizeof(text));
	assert_string_equal(text, "0 waits, 0 lost");
	profile_info(fixture.profile)->counters[PKBPF_COUNTER_BLOCKIO_UNFINISHED] = 3;
	text[0] = '\0';
	record_summarize(fixture.profile, text, sizeof(text));
	assert_string_equal(text, "0 waits; lost: 3 block requests without a completion event");
	close_fixture(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets_are_described_as_they_were_chosen),
		cmocka_unit_test(many_targets_are_counted_and_not_cut_in_mid_number),
		cmocka_unit_test(the_lack_of_samples_has_a_reason),
		cmocka_unit_test(a_profile_with_rows_needs_no_reason),
		cmocka_unit_test(the_summary_names_every_cause_of_loss),
		cmocka_unit_test(the_summary_counts_what_is_added_up_in_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
