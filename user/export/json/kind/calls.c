// SPDX-License-Identifier: BSD-2-Clause
/* Calls by stack in the JSON report. */
#include "export/json/json_kind.h"

static int sections(struct json_writer *writer, const struct resource_rows *rows)
{
	return json_calls(writer, rows);
}

const struct json_kind json_kind_calls = {.sections = sections};
