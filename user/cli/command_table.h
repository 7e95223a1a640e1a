/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands of pkbpf: one file and one row each. */
#ifndef PKBPF_CLI_COMMAND_TABLE_H
#define PKBPF_CLI_COMMAND_TABLE_H

#include "cli/cli_options.h"
#include "cli/console.h"
#include "cli/option_table.h"

struct command_row {
	const char *name; /* NULL: what runs when no command is named */
	const char *synopsis;
	const char *summary;
	enum verb verb;
	/* Returns the exit status. */
	int (*run)(const struct cli_options *options, struct console *console);
};

const struct command_row *
command_at(size_t index); /* NULL at the end; the default command is the first */
const struct command_row *command_find(const char *name); /* NULL: no such command */

int cmd_record_run(const struct cli_options *options, struct console *console);
int cmd_doctor_run(const struct cli_options *options, struct console *console);

#endif
