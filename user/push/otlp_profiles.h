/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A window as profiles of OpenTelemetry: a resource for each container and one for all other
 * processes, in it a profile for each kind. The signal is in development: what is written is
 * v1development as of version 1.9 of the protocol, in JSON, which has no numbers of fields.
 */
#ifndef PKBPF_PUSH_OTLP_PROFILES_H
#define PKBPF_PUSH_OTLP_PROFILES_H

#include <stdio.h>

#include "store/store.h"

/* Containers of a window; those beyond are with the processes that are in none. */
#define OTLP_CONTAINERS_MAX 64

/* Writes the body of an export request. *ret_profiles 0: there is nothing to send. Errors of
 * store_read(); -ENOMEM. */
int otlp_profiles_write(struct store *store, const struct store_window *window, uint32_t kinds_mask,
			const char *host, FILE *out, size_t *ret_profiles);
/* The same of a profile that was read from the window. */
int otlp_profiles_write_one(const struct profile *profile, const struct store_window *window,
			    uint32_t kinds_mask, const char *host, FILE *out, size_t *ret_profiles);

#endif
