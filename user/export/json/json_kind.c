// SPDX-License-Identifier: BSD-2-Clause
/* The kinds of events of the JSON report, a row of PKBPF_PROFILE_KIND_LIST each. */
#include "export/json/json_kind.h"

static const struct json_kind *const kinds[PKBPF_PROFILE_KINDS] = {
#define X(constant, number, name) [number] = &json_kind_##name,
	PKBPF_PROFILE_KIND_LIST(X)
#undef X
};

void json_kinds_describe(struct json_writer *writer, const struct profile_info *info)
{
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
		if (info->kinds_mask & 1U << kind && kinds[kind]->describe)
			kinds[kind]->describe(writer, info);
}

int json_kinds_sections(struct json_writer *writer, const struct resource_rows *rows)
{
	uint32_t recorded = profile_info_read(rows->profile)->kinds_mask;
	int err = 0;

	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS && !err; kind++)
		if (recorded & 1U << kind && kinds[kind]->sections)
			err = kinds[kind]->sections(writer, rows);
	return err;
}
