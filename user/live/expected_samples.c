// SPDX-License-Identifier: BSD-2-Clause
#include "live/expected_samples.h"

uint64_t expected_samples_add_slice(struct expected_samples *expected,
				    const struct profile_account *account)
{
	uint64_t own = account->recorded + account->lost;

	expected->given += own;
	return own;
}

uint64_t expected_samples_rest(const struct expected_samples *expected, uint64_t counted)
{
	return counted > expected->given ? counted - expected->given : 0;
}
