/* SPDX-License-Identifier: BSD-2-Clause */
/* `pkbpf doctor --json`: doctor.schema.json. */
#ifndef PKBPF_CLI_DOCTOR_JSON_H
#define PKBPF_CLI_DOCTOR_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "capture/kernel/capability.h"

/* What the probe of a capability said. */
struct doctor_check {
	const struct capability_ops *capability;
	bool is_present;
	struct error error; /* "reason; remedy" */
};

/* The part of an error after its last "; ", which it is cut at; "": none. */
const char *doctor_split_remedy(char *error_text);
/* checks: one per capability; their errors are split. */
void doctor_json_write(FILE *out, struct doctor_check *checks, size_t count);

#endif
