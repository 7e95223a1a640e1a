/* SPDX-License-Identifier: BSD-2-Clause */
/* Sentences about a finished profile: targets, losses, reasons for no samples. */
#ifndef PKBPF_CLI_PROFILE_SUMMARY_H
#define PKBPF_CLI_PROFILE_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>

#include "live/live_targets.h"
#include "live/run_watch.h"
#include "profile/profile.h"

/* true: the profile is empty, and the text says why and what to do. */
bool profile_summary_explain_nothing(const struct profile *profile,
				     const struct live_targets *chosen, enum run_end end,
				     char *ret_text, size_t size);
/* "1234 of 1240 samples recorded, 6 lost: 6 ring buffer full". */
void profile_summary_write(const struct profile *profile, char *ret_text, size_t size);

#endif
