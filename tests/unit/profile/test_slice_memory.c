// SPDX-License-Identifier: BSD-2-Clause
/* Tests what is known of memory at the end of slices that are merged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "profile/account/resource_usage.h"
#include "profile/profile.h"
#include "profile/slice/slice.h"

#define SECOND 1000000000ULL

/* A slice of a second, with these processes of 1 MiB each at its end. */
static void merge_slice(struct profile *into, uint64_t second, const uint32_t *pids, size_t count,
			bool has_targets)
{
	struct profile *slice = slice_new();
	struct profile_info *info;

	assert_non_null(slice);
	info = profile_info(slice);
	info->start_ns = second * SECOND;
	info->end_ns = (second + 1) * SECOND;
	info->start_unix_ns = (int64_t)info->start_ns;
	info->has_targets = has_targets;
	for (size_t i = 0; i < count; i++) {
		const struct resource_process process = {
			.pid = pids[i],
			.processes = 1,
			.threads = 1,
			.rss_known = true,
			.rss_bytes = 1 << 20,
			.peak_rss_bytes = 1 << 20,
		};

		assert_int_not_equal(resource_usage_put_process(profile_resources(slice), &process),
				     UINT32_MAX);
	}
	assert_int_equal(slice_merge(into, slice), 0);
	profile_free(slice);
}

static uint64_t rss_at_end(const struct profile *profile)
{
	const struct resource_usage *usage = profile_resources(profile);
	uint64_t bytes = 0;

	for (size_t i = 0; i < resource_usage_process_count(usage); i++) {
		struct resource_process process = resource_usage_raw_process(usage, i);

		if (process.rss_known)
			bytes += process.rss_bytes;
	}
	return bytes;
}

static void who_ended_in_a_gap_has_no_memory_at_the_end(void **state)
{
	static const uint32_t before[] = {10, 11, 12}, after[] = {11, 13};
	struct profile *profile = slice_new();

	merge_slice(profile, 100, before, 3, false);
	assert_int_equal(rss_at_end(profile), 3 << 20);
	merge_slice(profile, 130, after, 2, false);
	assert_int_equal(rss_at_end(profile), 2 << 20);
	profile_free(profile);
}

static void a_slice_without_the_account_ends_nobody(void **state)
{
	static const uint32_t before[] = {10, 11};
	struct profile *profile = slice_new();

	merge_slice(profile, 100, before, 2, false);
	merge_slice(profile, 101, NULL, 0, false);
	assert_int_equal(rss_at_end(profile), 2 << 20);
	profile_free(profile);
}

static void recordings_of_other_processes_end_nobody(void **state)
{
	static const uint32_t one[] = {10}, other[] = {11};
	struct profile *profile = slice_new();

	merge_slice(profile, 100, one, 1, true);
	merge_slice(profile, 200, other, 1, true);
	assert_int_equal(rss_at_end(profile), 2 << 20);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_ended_in_a_gap_has_no_memory_at_the_end),
		cmocka_unit_test(a_slice_without_the_account_ends_nobody),
		cmocka_unit_test(recordings_of_other_processes_end_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
