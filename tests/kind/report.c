// SPDX-License-Identifier: BSD-2-Clause
/* Held leases in the report and in JSON. */
#include "export/json/json_kind.h"
#include "report/text_kind.h"

static int section(const struct text_report *report)
{
	text_heading(report, "Leases: a section of their own");
	return 0;
}

const struct text_kind text_kind_leases = {.sections = {section}};

static int json_section(struct json_writer *writer, const struct resource_rows *rows)
{
	json_writer_object_begin(writer, "leases");
	json_writer_u64(writer, "count", rows->total.leases.count);
	json_writer_object_end(writer);
	return 0;
}

const struct json_kind json_kind_leases = {.sections = json_section};
