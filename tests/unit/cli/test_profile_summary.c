// SPDX-License-Identifier: BSD-2-Clause
/* How a capture went, in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "cli/profile_summary.h"

struct fixture {
	struct mapped_file_table *files;
	struct process_table *processes;
	struct profile *profile;
	struct live_targets targets;
	enum run_end end;
};

static void open_fixture(struct fixture *fixture)
{
	struct profile_info *info;

	*fixture = (struct fixture){.end = RUN_TIME_IS_UP};
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
}

static void expect_reason(struct fixture *fixture, const char *part)
{
	char text[512];

	assert_true(profile_summary_explain_nothing(fixture->profile, &fixture->targets,
						    fixture->end, text, sizeof(text)));
	assert_non_null(strstr(text, part));
}

static void calls_of_gpus_are_something(void **state)
{
	const struct gpu_call call = {.group = PKBPF_GPU_WAIT, .count = 1};
	struct fixture fixture;
	char text[512];

	open_fixture(&fixture);
	assert_int_equal(gpu_call_list_add(profile_gpu_calls(fixture.profile), &call), 0);
	assert_false(profile_summary_explain_nothing(fixture.profile, &fixture.targets, fixture.end,
						     text, sizeof(text)));
	close_fixture(&fixture);
	(void)state;
}

static void the_lack_of_samples_has_a_reason(void **state)
{
	struct profile_info *info;
	struct fixture fixture;

	open_fixture(&fixture);
	info = profile_info(fixture.profile);
	expect_reason(&fixture, "no samples: no process used the CPU in 10 s at 99 Hz");
	fixture.end = RUN_TARGETS_ENDED;
	info->end_ns = info->start_ns + 20 * NS_PER_MS;
	expect_reason(&fixture, "whole host exited after 0.02 s, before the first sample at 99 Hz");
	info->counters[PKBPF_COUNTER_CPU_EXPECTED] = 5;
	info->counters[PKBPF_COUNTER_LOST_RING_FULL] = 5;
	expect_reason(&fixture, "all lost: ring buffer full: 5");
	info->counters[PKBPF_COUNTER_LOST_RING_FULL] = 0;
	expect_reason(&fixture, "5 expected and none recorded");
	info->counters[PKBPF_COUNTER_CPU_EXPECTED] = 0;
	info->kinds_mask = 1U << PKBPF_PROFILE_FAULTS;
	expect_reason(&fixture, "no events: whole host caused no such event in 0.02 s");
	info->counters[PKBPF_COUNTER_FAULTS_RING_FULL] = 7;
	expect_reason(&fixture, "all lost: page faults (ring buffer full): 7");
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
	assert_false(profile_summary_explain_nothing(fixture.profile, &fixture.targets, fixture.end,
						     text, sizeof(text)));
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
	profile_summary_write(fixture.profile, text, sizeof(text));
	assert_string_equal(text, "93 of 100 samples (lost: ring buffer full: 5, no scratch memory "
				  "in the kernel: 2)");
	close_fixture(&fixture);
}

static void the_summary_counts_what_is_added_up_in_the_kernel(void **state)
{
	struct fixture fixture;
	char text[512];

	open_fixture(&fixture);
	profile_info(fixture.profile)->kinds_mask = 1U << PKBPF_PROFILE_OFFCPU;
	profile_summary_write(fixture.profile, text, sizeof(text));
	assert_string_equal(text, "0 waits, 0 lost");
	profile_info(fixture.profile)->counters[PKBPF_COUNTER_BLOCKIO_UNFINISHED] = 3;
	text[0] = '\0';
	profile_summary_write(fixture.profile, text, sizeof(text));
	assert_string_equal(text, "0 waits; lost: block requests without a completion event: 3");
	close_fixture(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_lack_of_samples_has_a_reason),
		cmocka_unit_test(calls_of_gpus_are_something),
		cmocka_unit_test(a_profile_with_rows_needs_no_reason),
		cmocka_unit_test(the_summary_names_every_cause_of_loss),
		cmocka_unit_test(the_summary_counts_what_is_added_up_in_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
