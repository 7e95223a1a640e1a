// SPDX-License-Identifier: BSD-2-Clause
/* The defaults of a capture. */
#include "live/live_options.h"

#include <pkbpf/event.h>

#define FREQUENCY_HZ 99

void live_options_init(struct live_options *options)
{
	*options = (struct live_options){
		.kinds_mask = 1U << PKBPF_PROFILE_CPU,
		.frequency_hz = FREQUENCY_HZ,
		.targets.follow = PKBPF_FOLLOW_WORKERS,
	};
	source_options_init(&options->sources);
}

void live_options_done(struct live_options *options)
{
	live_targets_done(&options->targets);
}
