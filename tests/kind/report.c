// SPDX-License-Identifier: BSD-2-Clause
/* Held locks in the report and in JSON. */
#include "export/json/json_kind.h"
#include "report/text_kind.h"

static int section(const struct text_report *report)
{
	text_heading(report, "Locks: a section of their own");
	return 0;
}

const struct text_kind text_kind_locks = {.sections = {section}};

static int json_section(struct json_writer *writer, const struct resource_rows *rows)
{
	json_writer_object_begin(writer, "locks");
	json_writer_u64(writer, "count", rows->total.locks.count);
	json_writer_object_end(writer);
	return 0;
}

const struct json_kind json_kind_locks = {.sections = json_section};
