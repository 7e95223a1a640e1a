// SPDX-License-Identifier: BSD-2-Clause
/* Tests which recordings are one run. */
#include "diff/measure_recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "fake_profile.h"

/* A recording of a second by the pkbpf of this pid; its path is the caller's to free. */
static char *record(uint64_t start_ns, uint32_t own_pid)
{
	static const struct format_options options = {.kind = PKBPF_PROFILE_CPU};
	char *path = strdup("/tmp/pkbpf-test-XXXXXX");
	struct fake_profile fake;
	struct profile_info *info;
	struct results results;
	FILE *out = fdopen(mkstemp(path), "w");

	assert_non_null(out);
	fake_profile_init(&fake, NULL);
	info = profile_info(fake.profile);
	snprintf(info->host, sizeof(info->host), "vm");
	info->kinds_mask = 1U << PKBPF_PROFILE_CPU;
	info->start_ns = start_ns;
	info->end_ns = start_ns + NS_PER_SECOND;
	info->own_pid = own_pid;
	results_init(&results, fake.profile, ROWS_BY_PROCESS);
	assert_int_equal(format_write_slices(format_by_name("recording"), &results, &options, out),
			 0);
	results_done(&results);
	fake_profile_done(&fake);
	assert_int_equal(fclose(out), 0);
	return path;
}

/* The runs of two recordings, the second of which begins so much after the end of the first. */
static uint32_t runs_of(uint64_t gap_ns, uint32_t first_pid, uint32_t second_pid)
{
	char *paths[] = {record(NS_PER_SECOND, first_pid),
			 record(2 * NS_PER_SECOND + gap_ns, second_pid)};
	struct measurement measurement;
	struct diff_names names;
	uint32_t runs;

	assert_true(diff_names_init(&names));
	measurement_init(&measurement, &names);
	for (int i = 0; i < 2; i++) {
		size_t damaged = 0;
		struct error error;

		assert_int_equal(measure_recording(&measurement, paths[i], NULL, &damaged, &error),
				 0);
		assert_int_equal(damaged, 0);
		unlink(paths[i]);
		free(paths[i]);
	}
	runs = measurement.run_count;
	measurement_done(&measurement);
	diff_names_done(&names);
	return runs;
}

static void files_of_one_capture_are_one_run(void **state)
{
	(void)state;
	assert_int_equal(runs_of(NS_PER_SECOND / 10, 7, 7), 1);
	/* Recordings of before have no pid. */
	assert_int_equal(runs_of(NS_PER_SECOND / 10, 0, 0), 1);
}

static void captures_are_runs_however_soon_they_follow(void **state)
{
	(void)state;
	assert_int_equal(runs_of(NS_PER_SECOND / 10, 7, 8), 2);
	assert_int_equal(runs_of(NS_PER_SECOND, 7, 7), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_of_one_capture_are_one_run),
		cmocka_unit_test(captures_are_runs_however_soon_they_follow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
