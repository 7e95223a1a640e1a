/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands of pkbpf: each is one file, cmd_<name>.c, which defines command_<name>, and its name
 * in the list here. */
#ifndef PKBPF_CLI_COMMAND_TABLE_H
#define PKBPF_CLI_COMMAND_TABLE_H

#include "cli/cli_options.h"
#include "cli/console.h"
#include "cli/option_table.h"

/* The first one runs when no command is named. */
#define COMMANDS(X)                                                                                \
	X(profile) X(report) X(diff) X(bench) X(top) X(serve) X(query) X(doctor) X(mcp) X(unpack)

struct command_row {
	const char *name; /* NULL: the default command */
	const char *synopsis;
	const char *summary;
	/* Long names of the options it takes from the table, besides --help and --version; ends in
	 * NULL. NULL: all. */
	const char *const *options;
	/* What it does with some of them, where the table says what a profile does: a name and a
	 * summary each; the last has no name. NULL: the same. */
	const struct command_words {
		const char *option, *summary;
	} * words;
	/* Options of its own: rows about cli_options.own, own_size bytes that begin as zeroes. The
	 * last row has no name; NULL: none. */
	const struct option_row *own_options;
	size_t own_size;
	bool takes_command; /* `-- COMMAND` */
	bool takes_files;   /* FILE... */
	/* Checks what no single option can see, and completes the options; may be NULL. -EINVAL
	 * with the sentence. */
	int (*check)(struct cli_options *options, struct error *error);
	/* Returns the exit status. */
	int (*run)(const struct cli_options *options, struct console *console);
};

const struct command_row *
command_at(size_t index); /* NULL at the end; the default command is the first */
const struct command_row *command_find(const char *name); /* NULL: no such command */
/* Its own options, and behind them those of the table that it takes; NULL at the end. */
const struct option_row *command_option_at(const struct command_row *command, size_t index);
bool command_owns(const struct command_row *command, const struct option_row *option);

#define X(name) extern const struct command_row command_##name;
COMMANDS(X)
#undef X

#endif
