// SPDX-License-Identifier: BSD-2-Clause
/* Keeps slices of the last minute in two halves. */
#include "top/top_slices.h"

#include <errno.h>

#include "base/clock.h"
#include "profile/slice/slice.h"

#define HALF_NS (30 * NS_PER_SECOND)

static uint64_t length_ns(const struct profile *profile)
{
	const struct profile_info *info = profile_info_read(profile);

	return info->end_ns > info->start_ns ? info->end_ns - info->start_ns : 0;
}

int top_slices_add(struct top_slices *slices, struct profile *slice)
{
	profile_free(slices->last);
	slices->last = slice;
	if (slices->only_last)
		return 0;
	if (slices->halves[1] && length_ns(slices->halves[1]) >= HALF_NS) {
		profile_free(slices->halves[0]);
		slices->halves[0] = slices->halves[1];
		slices->halves[1] = NULL;
	}
	if (!slices->halves[1])
		slices->halves[1] = slice_new();
	return slices->halves[1] ? slice_merge(slices->halves[1], slice) : -ENOMEM;
}

int top_slices_minute(const struct top_slices *slices, struct profile **ret_profile)
{
	struct profile *minute;
	int err = 0;

	if (!slices->halves[1])
		return -ENODATA;
	minute = slice_new();
	if (!minute)
		return -ENOMEM;
	if (slices->halves[0])
		err = slice_merge(minute, slices->halves[0]);
	if (err == 0)
		err = slice_merge(minute, slices->halves[1]);
	if (err < 0) {
		profile_free(minute);
		return err;
	}
	*ret_profile = minute;
	return 0;
}

void top_slices_reset(struct top_slices *slices)
{
	for (size_t i = 0; i < 2; i++) {
		profile_free(slices->halves[i]);
		slices->halves[i] = NULL;
	}
}

void top_slices_done(struct top_slices *slices)
{
	top_slices_reset(slices);
	profile_free(slices->last);
	slices->last = NULL;
}
