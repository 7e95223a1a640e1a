/* SPDX-License-Identifier: BSD-2-Clause */
/* Times as questions to the history give them. */
#ifndef PKBPF_HISTORY_HISTORY_TIME_H
#define PKBPF_HISTORY_HISTORY_TIME_H

#include <stdint.h>

#include "base/error.h"

/* "2026-11-27T16:00:00Z", the same without Z in local time, "1700000000", "now", "now-90m", "-90m".
 * -EINVAL with the sentence. */
int history_time_parse(const char *text, int64_t now_unix_ns, int64_t *ret_unix_ns,
		       struct error *error);
int64_t history_time_now(void);

#endif
