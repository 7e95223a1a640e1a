/* SPDX-License-Identifier: BSD-2-Clause */
/* What is missing in recordings that were read, in words. */
#ifndef PKBPF_CLI_RECORDING_NOTES_H
#define PKBPF_CLI_RECORDING_NOTES_H

#include "cli/console.h"
#include "recording/recording_set.h"

/* A line each: to people who rely on the figures, so not silenced by --quiet. */
void recording_notes_write(const struct recording_set *set,
			   const struct recording_interval *interval, struct console *console);

#endif
