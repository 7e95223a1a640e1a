/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run was about and how it went, in words. */
#ifndef PKBPF_CLI_RECORD_SUMMARY_H
#define PKBPF_CLI_RECORD_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/cli_options.h"
#include "cli/run_watch.h"
#include "profile/profile.h"

struct run_description {
	const struct cli_options *options;
	enum run_end end;
};

/* "pid 812,813 and descendants", "the whole host, comm postgres". Cut to size. */
void record_describe_targets(const struct run_description *run, char *ret_text, size_t size);
/* true: the profile is empty, and the text says why and what to do. */
bool record_explain_nothing(const struct run_description *run, const struct profile *profile,
			    char *ret_text, size_t size);
/* "1234 of 1240 samples recorded, 6 lost: 6 ring buffer full". */
void record_summarize(const struct profile *profile, char *ret_text, size_t size);

#endif
