// SPDX-License-Identifier: BSD-2-Clause
/* Block requests in the JSON report. */
#include "export/json/json_kind.h"

static int sections(struct json_writer *writer, const struct resource_rows *rows)
{
	int err = json_devices(writer, rows->profile);

	return err ? err : json_slow_io(writer, rows);
}

const struct json_kind json_kind_blockio = {.sections = sections};
