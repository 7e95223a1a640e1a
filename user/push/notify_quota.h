/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many messages of a rule a target gets within an hour. Only begins of alerts count: the end of
 * one that was told has to be told, or it fires for ever at its receiver.
 */
#ifndef PKBPF_PUSH_NOTIFY_QUOTA_H
#define PKBPF_PUSH_NOTIFY_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "alert/evaluation.h"
#include "base/array.h"

#define NOTIFY_NAME_SIZE  64
#define NOTIFY_HOURLY_MAX 20

struct notify_event {
	const char *rule, *target, *who;
	bool fires;
};

struct notify_untold {
	char who[ALERT_WHO_SIZE];
};

/* Of one rule to one target. */
struct notify_quota {
	char rule[ALERT_NAME_SIZE], target[NOTIFY_NAME_SIZE];
	uint64_t hour_ns; /* its begin */
	unsigned int sent;
	uint64_t suppressed; /* since the last that was told */
	/* Whose begin was not told, so that the end need not be. */
	ARRAY_OF(struct notify_untold) untold;
};

/* Zero-initialised is empty. */
struct notify_quotas {
	ARRAY_OF(struct notify_quota) list;
};

/* May this be told, at this time of CLOCK_MONOTONIC? *ret_suppressed: begins before it that were
 * not. Without memory all are. */
bool notify_quota_take(struct notify_quotas *quotas, const struct notify_event *event,
		       uint64_t now_ns, uint64_t *ret_suppressed);
void notify_quotas_done(struct notify_quotas *quotas);

#endif
