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
/* command: a path and arguments, separated by blanks; no shell. Its stdin is the body. Killed after
 * so many seconds. -EINVAL: it cannot be started, or has failed; with the sentence. */
int command_run(const char *command, const struct command_words *words, const char *body,
		size_t size, unsigned int seconds, struct error *error);

#endif
