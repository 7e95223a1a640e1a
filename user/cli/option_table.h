/* SPDX-License-Identifier: BSD-2-Clause */
/* Every option of every command: one row each; parsing, help and near-match hints are made from the
 * rows. */
#ifndef PKBPF_CLI_OPTION_TABLE_H
#define PKBPF_CLI_OPTION_TABLE_H

#include "cli/cli_options.h"

/* Commands an option belongs to: bits, so that several commands share a row. */
enum verb {
	VERB_RECORD = 1 << 0,
	VERB_DOCTOR = 1 << 1,
	VERB_ALL = VERB_RECORD | VERB_DOCTOR,
};

enum option_section {
	SECTION_TARGETS,
	SECTION_EVENTS,
	SECTION_OUTPUT,
	SECTION_GENERAL,
	SECTION_COUNT,
};

struct option_row {
	char letter;	      /* 0: none */
	const char *name;     /* long name without dashes */
	const char *argument; /* NULL: takes none */
	const char *help;
	enum option_section section;
	unsigned int verbs; /* mask of enum verb */
	/* value is NULL when the row takes no argument. 0, or -EINVAL / -ERANGE / -ENOMEM with the
	 * sentence. */
	int (*parse)(struct cli_options *options, const char *value, struct error *error);
};

const struct option_row *option_at(size_t index); /* NULL at the end */
const char *option_section_title(enum option_section section);

#endif
