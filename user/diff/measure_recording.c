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
	return last->end_ns && info->start_ns >= last->end_ns &&
	       info->start_ns - last->end_ns < RUN_GAP_MAX_NS;
}

/* Reads the slice that begins at begin_ns. */
static int add_slice(struct measurement *measurement, const struct recording_set *set,
		     const struct recording_wish *wish, size_t *damaged, struct error *error)
{
	struct recording_interval interval;
	struct profile *profile;
	uint32_t run = measurement->run_count;
	int err = recording_set_read(set, wish, &profile, &interval, error);

	if (err)
		return err;
	*damaged += interval.damaged;
	if (!profile)
		return 0;
	if (run && continues(measurement, profile_info_read(profile)))
		run--;
	err = measure_profile(measurement, profile, run);
	profile_free(profile);
	return err ? error_set(error, ENOMEM, "cannot compare: out of memory") : 0;
}

int measure_recording(struct measurement *measurement, const char *path,
		      const struct slice_choice *choice, size_t *damaged, struct error *error)
{
	struct recording_set set = {0};
	int err = recording_set_add(&set, path, error);

	if (!err)
		err = recording_set_sort(&set, error);
	for (size_t i = 0; i < set.slices.count && !err; i++) {
		uint64_t from_ns =
			set.slices.items[i].span.begin_ns - set.slices.items[0].span.begin_ns;

		err = add_slice(measurement, &set,
				&(struct recording_wish){from_ns, from_ns + 1, choice}, damaged,
				error);
	}
	recording_set_done(&set);
	return err;
}
