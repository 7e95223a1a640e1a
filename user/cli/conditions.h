/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks a finished profile against the conditions of the command line. */
#ifndef PKBPF_CLI_CONDITIONS_H
#define PKBPF_CLI_CONDITIONS_H

#include "cli/cli_options.h"
#include "finding/results.h"

/* Before anything is recorded: -EINVAL with a sentence when a figure comes from a kind of event
 * that is not recorded. */
int conditions_check_events(const struct cli_options *options, uint32_t kinds_mask,
			    struct error *error);
/* Tells the console each breach. EXIT_STATUS_DONE, EXIT_STATUS_CONDITION, or EXIT_STATUS_FAILED:
 * one of them cannot be checked (its figure was not measured, its name matches nothing), or out of
 * memory. */
int conditions_check(const struct cli_options *options, struct results *results,
		     struct console *console);

#endif
