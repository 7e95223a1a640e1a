/* SPDX-License-Identifier: BSD-2-Clause */
/* Which regions `pkbpf serve` counts as too long: what objectives and alerts of a configuration
 * say. */
#ifndef PKBPF_CLI_SERVE_LIMITS_H
#define PKBPF_CLI_SERVE_LIMITS_H

#include "cli/serve_config.h"
#include "source/regions/region_options.h"

/* Those of over() come first, then objectives before alerts; a name has the first one. -EINVAL with
 * the sentence: two over() of one region differ, or there are too many. */
int serve_limits_choose(const struct serve_config *config, struct region_limits *ret_limits,
			struct error *error);

#endif
