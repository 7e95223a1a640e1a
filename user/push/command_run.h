/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the command of a notifier. */
#ifndef PKBPF_PUSH_COMMAND_RUN_H
#define PKBPF_PUSH_COMMAND_RUN_H

#include "alert/alerts.h"

/* For its environment. */
struct command_words {
	char rule[ALERT_NAME_SIZE], who[ALERT_WHO_SIZE], severity[32], status[16], text[160];
};

void command_words_of(const struct alert_news *news, struct command_words *ret_words);
#define COMMAND_ARGUMENTS_MAX 31

struct command {
	const char *line; /* a path and arguments, separated by blanks; no shell */
	const struct command_words *words;
	const char *body; /* its stdin */
	size_t size;
	unsigned int seconds; /* after which it is killed */
	/* Asked some times a second; true: it is killed now. NULL: never. */
	bool (*is_cancelled)(void *context);
	void *context;
};

/* -EINVAL with the sentence: there are more arguments. */
int command_check(const char *line, struct error *error);
/* -EINVAL: it cannot be started, or has failed; with the sentence. */
int command_run(const struct command *command, struct error *error);

#endif
