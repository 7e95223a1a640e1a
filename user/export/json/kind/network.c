// SPDX-License-Identifier: BSD-2-Clause
/* Network messages in the JSON report. */
#include "export/json/json_kind.h"

static int sections(struct json_writer *writer, const struct resource_rows *rows)
{
	return json_peers(writer, rows);
}

const struct json_kind json_kind_network = {.sections = sections};
