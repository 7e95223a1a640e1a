/* SPDX-License-Identifier: BSD-2-Clause */
/* An alert as JSON. */
#ifndef PKBPF_PUSH_NOTIFY_MESSAGE_H
#define PKBPF_PUSH_NOTIFY_MESSAGE_H

#include <stdio.h>

#include "push/notifier.h"

/* How long an Alertmanager believes that an alert fires which nobody repeats. */
#define ALERTMANAGER_LIFE_SECONDS 240

struct notify_context {
	const char *url, *host;
	uint64_t suppressed; /* messages before this one */
	int64_t now_unix_ns;
};

/* Address of the page that shows it: the interval, and for changes what it is compared with. */
void notify_link(const struct alert_news *news, const char *url, char *text, size_t size);
void notify_write_webhook(const struct alert_news *news, const struct notify_context *context,
			  FILE *out);
/* As Alertmanager's API v2 has it. */
void notify_write_alertmanager(const struct alert_news *news, const struct notify_context *context,
			       FILE *out);

#endif
