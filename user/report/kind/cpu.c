// SPDX-License-Identifier: BSD-2-Clause
/* CPU samples in the report. */
#include <inttypes.h>

#include "report/text_kind.h"

static void describe(const struct profile_info *info, FILE *out)
{
	if (info->frequency_hz)
		fprintf(out, " (%s at %" PRIu32 " Hz on each CPU)",
			info->cpu_event[0] ? info->cpu_event : "unknown event", info->frequency_hz);
}

const struct text_kind text_kind_cpu = {.describe = describe};
