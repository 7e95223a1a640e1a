/* SPDX-License-Identifier: BSD-2-Clause */
/* What the JSON report says of one kind of event beside what it says of all: json_kind_<name> in
 * kind/<name>.c. Only of kinds that were recorded. */
#ifndef PKBPF_EXPORT_JSON_JSON_KIND_H
#define PKBPF_EXPORT_JSON_JSON_KIND_H

#include "export/json/json_sections.h"

struct json_kind {
	/* Keys that say how it was recorded; NULL: none. */
	void (*describe)(struct json_writer *writer, const struct profile_info *info);
	/* Keys behind the rows. 0 or -ENOMEM. NULL: none. */
	int (*sections)(struct json_writer *writer, const struct resource_rows *rows);
};

#define X(constant, number, name) extern const struct json_kind json_kind_##name;
PKBPF_PROFILE_KIND_LIST(X)
#undef X

/* Of all kinds that were recorded. */
void json_kinds_describe(struct json_writer *writer, const struct profile_info *info);
int json_kinds_sections(struct json_writer *writer, const struct resource_rows *rows);

#endif
