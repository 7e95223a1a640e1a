/* SPDX-License-Identifier: BSD-2-Clause */
/* The front's watch: rules from the configuration, who is told, and recordings of what was around
 * an alert. One owner thread. */
#ifndef PKBPF_CLI_SERVE_ALERTS_H
#define PKBPF_CLI_SERVE_ALERTS_H

#include "alert/alerts.h"
#include "cli/console.h"

struct serve_alerts;

struct serve_alerts_options {
	struct store *store;
	const char *store_path;
	const char *config; /* text, checked; NULL: none */
	const char *listen;
	uint16_t port;
	struct console *console;
};

/* Strings are borrowed until serve_alerts_free(), but the configuration. -ENOMEM with the sentence.
 */
int serve_alerts_new(const struct serve_alerts_options *options, struct serve_alerts **ret_alerts,
		     struct error *error);
/* For answers over HTTP. */
struct alerts *serve_alerts_state(struct serve_alerts *alerts);
/* Another configuration; -EINVAL: it has an error, and the one before stays. */
int serve_alerts_configure(struct serve_alerts *alerts, const char *text);
/* No slice has come for a while. */
void serve_alerts_tick(struct serve_alerts *alerts);
/* Rows of a slice that rules are not held against, for want of time. */
void serve_alerts_note(struct serve_alerts *alerts, const struct resource_rows *rows);
/* Keeps what is there of the recordings that wait for their end, and remembers what fires. */
void serve_alerts_end(struct serve_alerts *alerts);
/* Rows of a slice that the store has. */
void serve_alerts_add(struct serve_alerts *alerts, const struct resource_rows *rows);
void serve_alerts_free(struct serve_alerts *alerts);

#endif
