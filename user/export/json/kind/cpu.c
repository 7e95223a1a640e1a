// SPDX-License-Identifier: BSD-2-Clause
/* CPU samples in the JSON report. */
#include "export/json/json_kind.h"

static void describe(struct json_writer *writer, const struct profile_info *info)
{
	json_writer_object_begin(writer, "sampling");
	json_writer_string(writer, "event", info->cpu_event);
	json_writer_u64(writer, "frequency_hz", info->frequency_hz);
	json_writer_object_end(writer);
}

const struct json_kind json_kind_cpu = {.describe = describe};
