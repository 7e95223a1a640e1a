/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of --help, made from the tables of commands, options, kinds of events and formats. */
#ifndef PKBPF_CLI_HELP_H
#define PKBPF_CLI_HELP_H

#include <stdio.h>

#include "cli/command_table.h"

/* All that a command takes. */
void help_print(const struct command_row *command, FILE *out);
/* One screen: commands, examples, and the options used most. */
void help_print_first(FILE *out);

#endif
