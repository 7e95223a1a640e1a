/* SPDX-License-Identifier: BSD-2-Clause */
/* The environment of a command, made before the process that takes it. */
#ifndef PKBPF_LIVE_COMMAND_ENVIRONMENT_H
#define PKBPF_LIVE_COMMAND_ENVIRONMENT_H

#include "base/array.h"

struct command_environment {
	ARRAY_OF(char *) words; /* NAME=VALUE; one more, NULL, behind the last */
};

/* A copy of `words` (NULL at the end). -ENOMEM: done, nothing is left to free. */
int command_environment_copy(char *const *words, struct command_environment *ret_environment);
void command_environment_done(struct command_environment *environment);
/* The value, borrowed until the next change; NULL: not set. */
const char *command_environment_get(const struct command_environment *environment,
				    const char *name);
/* Replaces what is there. -ENOMEM. */
int command_environment_set(struct command_environment *environment, const char *name,
			    const char *value);
void command_environment_unset(struct command_environment *environment, const char *name);

#endif
