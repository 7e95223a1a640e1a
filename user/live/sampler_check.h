/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether the sampler of allocations can be loaded into a command. */
#ifndef PKBPF_LIVE_SAMPLER_CHECK_H
#define PKBPF_LIVE_SAMPLER_CHECK_H

/* NULL: it can, as far as the command's file tells; else why not ("is statically linked"). The name
 * is looked up as execvp() does. */
const char *sampler_check_command(const char *name);

#endif
