// SPDX-License-Identifier: BSD-2-Clause
/* Chooses how many waits get a stack. */
#include "source/offcpu/offcpu_governor.h"

uint32_t offcpu_governor_quota(uint32_t quota, uint64_t ran_ns, uint64_t passed_ns,
			       uint32_t max_permille)
{
	uint64_t limit_ns = passed_ns / 1000 * max_permille;

	if (!passed_ns || !limit_ns)
		return quota;
	if (ran_ns <= limit_ns) {
		if (ran_ns >= limit_ns / 3 || !quota)
			return quota;
		return quota < OFFCPU_GOVERNOR_FIRST_QUOTA ? quota * 2 : 0;
	}
	if (!quota)
		quota = OFFCPU_GOVERNOR_FIRST_QUOTA * 2;
	while (ran_ns > limit_ns && quota > OFFCPU_GOVERNOR_LEAST_QUOTA) {
		quota /= 2;
		ran_ns /= 2;
	}
	return quota;
}
