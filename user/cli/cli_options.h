/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of a command line, parsed but not applied. Strings are borrowed from argv. */
#ifndef PKBPF_CLI_CLI_OPTIONS_H
#define PKBPF_CLI_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/config.h>

#include "base/array.h"
#include "base/error.h"
#include "base/parse_value.h"
#include "cli/console.h"
#include "cli/output_plan.h"
#include "live/live_options.h"

struct cli_options {
	/* what is measured; kinds_mask and what is only known later is filled in then */
	struct live_options live;
	const struct source_ops *sources[PKBPF_PROFILE_KINDS]; /* in the order asked for */
	size_t source_count;

	/* what is written */
	ARRAY_OF(struct output_request) outputs;
	unsigned int keep;	    /* intervals whose files stay; 0: all */
	const char *pending_format; /* -f seen, its -o not yet */
	unsigned int top;
	unsigned int width; /* 0: that of the terminal */
	enum row_order order;
	bool full, tree, by_line, lines;
	enum rows_by by;
	ARRAY_OF(const char *) conditions; /* --fail-if, checked */
	ARRAY_OF(const char *) files;	   /* of a command that takes some */
	bool pid_frame, wait_states, icicle, reverse, modules;
	bool trace;

	/* how it talks */
	bool quiet, no_progress;
	unsigned int verbosity;
	enum color_choice color;

	bool show_help, show_all_help, show_version;
	uint64_t given[2]; /* bits of options, by their number in the table */

	/* As it was given, for a command that reads it again. */
	char *const *words;
	int word_count;

	void *own; /* options of the command alone, see command_row.own_options; NULL: none */
};

void cli_options_init(struct cli_options *options);
void cli_options_done(struct cli_options *options);
/* How outputs are to be written. */
struct output_settings cli_options_settings(const struct cli_options *options);
/* Lines of source have to be looked up. */
bool cli_options_need_lines(const struct cli_options *options);

#endif
