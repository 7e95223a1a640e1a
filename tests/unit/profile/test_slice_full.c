// SPDX-License-Identifier: BSD-2-Clause
/* Tests that what a merged profile has no room for is counted, and the rest of the slice is not
 * lost with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "profile/account/resource_usage.h"
#include "profile/slice/slice.h"

#define BEYOND 3

/* A slice with limits of these cgroups. */
static struct profile *slice_of(uint64_t first, size_t count, uint64_t start_ns)
{
	struct profile *slice = slice_new();

	assert_non_null(slice);
	profile_info(slice)->start_ns = start_ns;
	profile_info(slice)->end_ns = start_ns + 1;
	for (size_t i = 0; i < count; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/group%u", (unsigned int)(first + i));
		assert_int_equal(resource_usage_put_cgroup_limit(
					 profile_resources(slice),
					 &(struct resource_cgroup_limit){.cgroup_id = first + i,
									 .path = path}),
				 0);
	}
	return slice;
}

static void cgroups_beyond_the_limit_are_counted(void **state)
{
	struct profile *into = slice_of(1, RESOURCE_CGROUP_LIMITS_MAX - 1, 1);
	/* The first one is known, the second has room. */
	struct profile *more = slice_of(RESOURCE_CGROUP_LIMITS_MAX - 1, 2 + BEYOND, 2);

	(void)state;
	assert_int_equal(slice_merge(into, more), 0);
	assert_int_equal(resource_usage_cgroup_limit_count(profile_resources(into)),
			 RESOURCE_CGROUP_LIMITS_MAX);
	assert_int_equal(profile_info(into)->counters[PKBPF_COUNTER_MERGE_TOO_MANY], BEYOND);
	assert_int_equal(profile_info(into)->end_ns, 3);
	profile_free(more);
	profile_free(into);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cgroups_beyond_the_limit_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
