// SPDX-License-Identifier: BSD-2-Clause
/* The rows of the command table. */
#include "cli/command_table.h"

#include <string.h>

static const struct command_row *const rows[] = {
#define X(name) &command_##name,
	COMMANDS(X)
#undef X
};

const struct command_row *command_at(size_t index)
{
	return index < ARRAY_SIZE(rows) ? rows[index] : NULL;
}

const struct command_row *command_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i]->name && strcmp(rows[i]->name, name) == 0)
			return rows[i];
	}
	return NULL;
}

static bool takes(const struct command_row *command, const struct option_row *option)
{
	if (!command->options || strcmp(option->name, "help") == 0 ||
	    strcmp(option->name, "version") == 0)
		return true;
	for (size_t i = 0; command->options[i]; i++) {
		if (strcmp(command->options[i], option->name) == 0)
			return true;
	}
	return false;
}

const struct option_row *command_option_at(const struct command_row *command, size_t index)
{
	const struct option_row *row;

	for (row = command->own_options; row && row->name; row++) {
		if (index-- == 0)
			return row;
	}
	for (size_t i = 0; (row = option_at(i)); i++) {
		if (takes(command, row) && index-- == 0)
			return row;
	}
	return NULL;
}

bool command_owns(const struct command_row *command, const struct option_row *option)
{
	const struct option_row *row;

	for (row = command->own_options; row && row->name; row++) {
		if (row == option)
			return true;
	}
	return false;
}
