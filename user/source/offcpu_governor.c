// SPDX-License-Identifier: BSD-2-Clause
/* Chooses how many waits get a stack. */
#include "source/offcpu_governor.h"

uint32_t offcpu_governor_mask(uint32_t mask, uint64_t ran_ns, uint64_t passed_ns, uint32_t max_permille)
{
	uint64_t limit_ns = passed_ns / 1000 * max_permille;

	if (!passed_ns || !limit_ns)
		return mask;
	if (ran_ns > limit_ns) {
		while (ran_ns > limit_ns && mask < OFFCPU_GOVERNOR_MAX_MASK) {
			mask = mask * 2 + 1;
			ran_ns /= 2;
		}
		return mask;
	}
	return ran_ns < limit_ns / 3 ? mask / 2 : mask;
}
