/* SPDX-License-Identifier: BSD-2-Clause */
/* What the front sends to others, by the configuration. */
#ifndef PKBPF_CLI_SERVE_PUSH_H
#define PKBPF_CLI_SERVE_PUSH_H

#include <pthread.h>

#include "cli/console.h"
#include "push/pusher.h"
#include "web/web.h"

struct serve_push {
	pthread_mutex_t lock;  /* of the pointer */
	struct pusher *pusher; /* NULL: nothing is sent */
	struct console *console;
	struct store *store;
	struct web *web;
	int64_t start_unix_ns; /* other targets change nothing about what was counted */
};

void serve_push_init(struct serve_push *push, struct console *console, struct store *store);
/* Begins, or begins anew with other targets. -ENOMEM: nothing is sent. */
int serve_push_configure(struct serve_push *push, struct web *web, const char *config);
/* For web_options: context is the struct. */
void serve_push_write_metrics(void *context, FILE *out);
/* Before web_stop(). */
void serve_push_end(struct serve_push *push);
void serve_push_done(struct serve_push *push);

#endif
