// SPDX-License-Identifier: BSD-2-Clause
/* Copies and changes an environment that is not the process's own. */
#include "live/command_environment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes over `word`, which may be NULL: out of memory. */
static int add(struct command_environment *environment, char *word)
{
	if (!word || !array_reserve(&environment->words, environment->words.count + 2)) {
		free(word);
		return -ENOMEM;
	}
	environment->words.items[environment->words.count++] = word;
	environment->words.items[environment->words.count] = NULL;
	return 0;
}

int command_environment_copy(char *const *words, struct command_environment *ret_environment)
{
	int err = 0;

	*ret_environment = (struct command_environment){0};
	if (!array_reserve(&ret_environment->words, 1))
		return -ENOMEM;
	ret_environment->words.items[0] = NULL;
	for (; *words && !err; words++)
		err = add(ret_environment, strdup(*words));
	if (err)
		command_environment_done(ret_environment);
	return err;
}

void command_environment_done(struct command_environment *environment)
{
	array_foreach(&environment->words, word)
		free(*word);
	array_free(&environment->words);
}

static bool is_of(const char *word, const char *name)
{
	size_t length = strlen(name);

	return strncmp(word, name, length) == 0 && word[length] == '=';
}

const char *command_environment_get(const struct command_environment *environment, const char *name)
{
	array_foreach(&environment->words, word) {
		if (is_of(*word, name))
			return *word + strlen(name) + 1;
	}
	return NULL;
}

void command_environment_unset(struct command_environment *environment, const char *name)
{
	size_t kept = 0;

	array_foreach(&environment->words, word) {
		if (is_of(*word, name))
			free(*word);
		else
			environment->words.items[kept++] = *word;
	}
	environment->words.count = kept;
	environment->words.items[kept] = NULL;
}

int command_environment_set(struct command_environment *environment, const char *name,
			    const char *value)
{
	char *word;

	if (asprintf(&word, "%s=%s", name, value) < 0)
		return -ENOMEM;
	command_environment_unset(environment, name);
	return add(environment, word);
}
