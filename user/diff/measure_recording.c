// SPDX-License-Identifier: BSD-2-Clause
#include "diff/measure_recording.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "diff/measure_profile.h"
#include "recording/recording_set.h"

/* Between two files of one run: a capture goes on while they are written. */
#define RUN_GAP_MAX_NS (NS_PER_SECOND / 2)

static bool continues(const struct measurement *measurement, const struct profile_info *info)
{
	const struct diff_slice *last;

	if (!measurement->slices.count || strcmp(measurement->host, info->host) != 0)
		return false;
	last = &measurement->slices.items[measurement->slices.count - 1];
	/* Short commands that are started one after the other are runs of their own. */
	if (last->capture_pid && info->own_pid && last->capture_pid != info->own_pid)
		return false;
	return last->end_ns && info->start_ns >= last->end_ns &&
	       info->start_ns - last->end_ns < RUN_GAP_MAX_NS;
}

static int take_slice(void *context, const struct profile *slice, struct error *error)
{
	struct measurement *measurement = context;
	uint32_t run = measurement->run_count;

	if (run && continues(measurement, profile_info_read(slice)))
		run--;
	if (measure_profile(measurement, slice, run))
		return error_set(error, ENOMEM, "cannot compare: out of memory");
	return 0;
}

int measure_recording(struct measurement *measurement, const char *path,
		      const struct slice_choice *choice, size_t *damaged, struct error *error)
{
	struct recording_wish wish = {.choice = choice};
	struct recording_interval interval = {0};
	struct recording_set set = {0};
	int err = recording_set_add(&set, path, error);

	if (!err)
		err = recording_set_sort(&set, error);
	if (!err)
		err = recording_set_each(&set, &wish, take_slice, measurement, &interval, error);
	*damaged += interval.damaged;
	recording_set_done(&set);
	return err;
}
