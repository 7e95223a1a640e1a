/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of several options together: exclusions and requirements. */
#ifndef PKBPF_CLI_OPTION_CHECK_H
#define PKBPF_CLI_OPTION_CHECK_H

#include "cli/cli_options.h"

/* Is an option of the table given on the command line? */
bool option_name_is_given(const char *name, const struct cli_options *options);
/* Of the default command; fills in the output and what follows from other options. -EINVAL with the
 * sentence. */
int options_check_profile(struct cli_options *options, struct error *error);
/* Of every command that writes outputs: fills in stdout when none is given. -EINVAL with the
 * sentence. */
int options_check_outputs(struct cli_options *options, struct error *error);
/* -EINVAL when an option is about a kind of event (1 << enum pkbpf_profile_kind) that is not
 * recorded. */
int options_check_events(const struct cli_options *options, uint32_t kinds_mask,
			 struct error *error);

#endif
