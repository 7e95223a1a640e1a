/* SPDX-License-Identifier: BSD-2-Clause */
/* Divides the expected CPU samples of a capture among its slices. Pure; one thread. */
#ifndef PKBPF_LIVE_EXPECTED_SAMPLES_H
#define PKBPF_LIVE_EXPECTED_SAMPLES_H

#include "profile/profile.h"

struct expected_samples {
	uint64_t given; /* to the slices so far */
};

/* Expected samples of a slice that another one follows. The kernel goes on sampling while rings
 * are emptied and counters are read, so the counters of a cut can include samples of the next
 * slice: a slice expects its own samples and losses. */
uint64_t expected_samples_add_slice(struct expected_samples *expected,
				    const struct profile_account *account);
/* Expected samples of the last slice: the rest. It shows samples that got lost without a count,
 * in any slice. counted: by the kernel side, from the start of the capture to its end. */
uint64_t expected_samples_rest(const struct expected_samples *expected, uint64_t counted);

#endif
