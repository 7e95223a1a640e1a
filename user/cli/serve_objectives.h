/* SPDX-License-Identifier: BSD-2-Clause */
/* The front's objectives: asked over HTTP by any thread, and reported each hour. */
#ifndef PKBPF_CLI_SERVE_OBJECTIVES_H
#define PKBPF_CLI_SERVE_OBJECTIVES_H

#include <pthread.h>

#include "cli/console.h"
#include "cli/serve_config.h"

struct serve_objectives {
	struct console *console;
	struct store *store;
	pthread_mutex_t lock; /* of the list, against those who ask */
	struct objectives objectives;
	struct hour_report_settings report;
	const char *listen;
	uint16_t port;
	char url[256], host[65];
	int64_t hour; /* of the last slice, since 1970; 0: none yet */
};

/* Borrows all; listen and port: where it answers. */
void serve_objectives_init(struct serve_objectives *objectives, struct console *console,
			   struct store *store, const char *listen, uint16_t port);
/* Another configuration, or NULL; -EINVAL, -ENOMEM: the one before stays. */
int serve_objectives_configure(struct serve_objectives *objectives, const char *text);
/* For struct web_options. */
int serve_objectives_write(void *context, const struct history_range *range, FILE *out,
			   struct error *error);
/* A slice that ends then is in the store: reports an hour that is over. */
void serve_objectives_note(struct serve_objectives *objectives, int64_t end_unix_ns);
void serve_objectives_done(struct serve_objectives *objectives);

#endif
