/* SPDX-License-Identifier: BSD-2-Clause */
/* All options: the rows of this folder, then those of each source. */
#ifndef PKBPF_CLI_OPTION_TABLE_H
#define PKBPF_CLI_OPTION_TABLE_H

#include "base/option_row.h"
#include "cli/cli_options.h"

const struct option_row *option_at(size_t index); /* NULL at the end */
const char *option_group_title(enum option_group group);
/* Stores value (NULL: the row takes none). 0, or -EINVAL / -ERANGE / -ENOMEM with the sentence. */
int option_apply(const struct option_row *row, struct cli_options *options, const char *value,
		 struct error *error);
/* Of a flag. */
bool option_is_given(const struct option_row *row, const struct cli_options *options);

#endif
