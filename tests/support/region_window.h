/* SPDX-License-Identifier: BSD-2-Clause */
/* Regions of the first process of a profile, as a window of a history has them. */
#ifndef PKBPF_TEST_REGION_WINDOW_H
#define PKBPF_TEST_REGION_WINDOW_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/profile.h"

/* So many that took fast_ns, and so many that took slow_ns; limit_ns: of the sums; missed_ns:
 * without probes. */
struct region_window {
	const char *name;
	uint64_t fast, fast_ns, slow, slow_ns;
	uint64_t limit_ns, missed_ns;
};

static inline void region_window_add(struct profile *profile, const struct region_window *window)
{
	struct region_bucket buckets[] = {
		{pkbpf_histogram_index(window->fast_ns), window->fast},
		{pkbpf_histogram_index(window->slow_ns), window->slow},
	};
	bool is_one = !window->slow || buckets[0].index == buckets[1].index;
	const struct region_sums sums = {
		.count = window->fast + window->slow,
		.total_ns = window->fast * window->fast_ns + window->slow * window->slow_ns,
		.max_ns = window->slow ? window->slow_ns : window->fast_ns,
		.limit_ns = window->limit_ns,
		.over = window->limit_ns && window->slow_ns > window->limit_ns ? window->slow : 0,
	};
	uint32_t name = profile_intern_comm(profile, window->name);
	int64_t place = region_table_get(profile_regions(profile), 0, REGION_ROOT, name, 0);

	if (window->missed_ns)
		assert_int_equal(region_gaps_add(profile_region_gaps(profile),
						 &(struct region_gap){window->missed_ns, name}),
				 0);
	if (is_one)
		buckets[0].count += window->slow;
	assert_true(place >= 0);
	assert_int_equal(region_table_add(profile_regions(profile), (uint32_t)place, &sums, buckets,
					  is_one ? 1 : 2),
			 0);
}

#endif
