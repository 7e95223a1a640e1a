// SPDX-License-Identifier: BSD-2-Clause
/* The rows of the command table. */
#include "cli/command_table.h"

#include <string.h>

static const struct command_row rows[] = {
	{NULL, "[OPTIONS] [-- COMMAND [ARG...]]",
	 "Profiles live processes, the whole host, or COMMAND", VERB_RECORD, cmd_record_run},
	{"doctor", "doctor [--pid PID]",
	 "Checks what this machine allows, or how well the stacks of a process unwind", VERB_DOCTOR,
	 cmd_doctor_run},
};

const struct command_row *command_at(size_t index)
{
	return index < ARRAY_SIZE(rows) ? &rows[index] : NULL;
}

const struct command_row *command_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].name && strcmp(rows[i].name, name) == 0)
			return &rows[i];
	}
	return NULL;
}
