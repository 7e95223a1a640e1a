/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses a command line by the option table. */
#ifndef PKBPF_CLI_OPTION_PARSER_H
#define PKBPF_CLI_OPTION_PARSER_H

#include "cli/command_table.h"

/*
 * Reads argv[0..argc) (without the names of the program and the command) into options, which
 * cli_options_init has prepared and cli_options_done must release whatever is returned. Words after
 * "--" become options->command. -EINVAL or -ERANGE: wrong usage, one sentence in error. Stops early
 * at --help and --version, which win over what follows.
 */
int options_parse(const struct command_row *command, int argc, char *const *argv,
		  struct cli_options *options, struct error *error);

#endif
