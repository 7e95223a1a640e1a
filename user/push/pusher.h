/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends metrics and minutes of the history, in a thread of its own. Where each target of profiles
 * is lies in the store, in the file cursor/<name>: nothing is queued twice, and what was not sent
 * while a server was down is sent later, oldest first.
 */
#ifndef PKBPF_PUSH_PUSHER_H
#define PKBPF_PUSH_PUSHER_H

#include <stdio.h>

#include "push/push_target.h"
#include "store/store.h"

struct pusher;

struct pusher_options {
	struct push_targets targets;
	struct store *store; /* borrowed until pusher_free() */
	char host[256];
	int64_t start_unix_ns; /* of what counts the metrics */
	/* From any thread: for the journal. */
	void (*say)(void *context, const char *sentence);
	/* Prometheus text. */
	void (*write_metrics)(void *context, FILE *out);
	void *context;
};

/* NULL: out of memory. */
struct pusher *pusher_new(const struct pusher_options *options);
/* For Prometheus; from any thread. */
void pusher_write_metrics(struct pusher *pusher, FILE *out);
/* Gives up what is under way, which is sent after the next start. NULL is fine. */
void pusher_free(struct pusher *pusher);

#endif
