/* SPDX-License-Identifier: BSD-2-Clause */
/* Every output of a profile that was recorded before, in a file or a history. */
#ifndef PKBPF_CLI_REPORT_PROFILE_H
#define PKBPF_CLI_REPORT_PROFILE_H

#include "cli/cli_options.h"
#include "recording/recording_set.h"

/* The slices it was merged of, for outputs that keep them. */
struct report_slices {
	/* Calls take with one after the other. Negative errno with the sentence. */
	int (*each)(void *context, recording_take take, void *take_context, struct error *error);
	void *context;
};

/* Writes the outputs that the options ask for, and checks conditions. Exit status. */
int report_profile(const struct cli_options *options, struct profile *profile,
		   const struct report_slices *slices, struct console *console);

#endif
