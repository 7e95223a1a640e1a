/* SPDX-License-Identifier: BSD-2-Clause */
/* Where `pkbpf serve` keeps its history and answers. */
#ifndef PKBPF_CLI_SERVE_DEFAULTS_H
#define PKBPF_CLI_SERVE_DEFAULTS_H

#include <stdlib.h>
#include <string.h>

#define SERVE_STORE    "/var/lib/pkbpf"
#define SERVE_LISTEN   "127.0.0.1:7747"
#define SERVE_SLICE_NS 10000000000ULL

/* given NULL: that of the service manager, or the default. */
static inline const char *serve_store(const char *given)
{
	const char *state = getenv("STATE_DIRECTORY");

	if (given)
		return given;
	return state && *state && !strchr(state, ':') ? state : SERVE_STORE;
}

#endif
