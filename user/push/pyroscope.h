/* SPDX-License-Identifier: BSD-2-Clause */
/* A window as Pyroscope takes profiles in: a series for each container or program and kind. */
#ifndef PKBPF_PUSH_PYROSCOPE_H
#define PKBPF_PUSH_PYROSCOPE_H

#include <stdio.h>

#include "store/store.h"

/* Services of a window; by CPU time, the others are left out. */
#define PYROSCOPE_SERVICES_MAX 20
#define PYROSCOPE_LIMITS       "a window has 20 services at most, a profile 4 MiB"

struct pyroscope_count {
	size_t series;	 /* 0: there is nothing to send */
	size_t left_out; /* profiles beyond the limits */
};

/* Writes the body of POST /push.v1.PusherService/Push. Errors of store_read(). */
int pyroscope_write(struct store *store, const struct store_window *window, uint32_t kinds_mask,
		    const char *host, FILE *out, struct pyroscope_count *ret_count);

#endif
