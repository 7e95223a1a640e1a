/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The history over HTTP: metrics, profiles for pprof clients, an API, and a page. Answers are made
 * in threads of their own; the writer of the store tells of each slice.
 */
#ifndef PKBPF_WEB_WEB_H
#define PKBPF_WEB_WEB_H

#include "base/error.h"
#include <stdio.h>

#include "alert/alerts.h"
#include "history/history_range.h"
#include "store/store.h"

struct web;

struct web_options {
	int socket;	   /* listens already; taken over */
	uint16_t port;	   /* of it: part of the names under which we may be asked; 0: a path */
	const char *token; /* that each request has to carry, borrowed; NULL: none */
	bool open_metrics; /* those are answered without it */
	uint64_t slice_ns;
	struct alerts *alerts; /* borrowed until web_stop(); NULL: none */
	/* Adds to the metrics, from any thread until web_stop(); NULL: nobody does. */
	void (*more_metrics)(void *context, FILE *out);
	void *context;
	/* Writes how far objectives were kept; from any thread. NULL: there are none. -E2BIG,
	 * -ENOMEM with the sentence. */
	int (*write_objectives)(void *objectives, const struct history_range *range, FILE *out,
				struct error *error);
	void *objectives;
};

/* Opens a listening socket at "127.0.0.1:7747", "[::1]:7747" or "/path/of/socket", which its user
 * and group may ask and has port 0. What other machines reach needs a token. -EINVAL, errors of
 * bind(); with the sentence. */
int web_listen(const char *address, bool has_token, int *ret_socket, uint16_t *ret_port,
	       struct error *error);
/* Would such an address be taken, whatever has it now? */
int web_listen_check(const char *address, bool has_token, struct error *error);
/* store: borrowed until web_stop(). */
int web_start(const struct web_options *options, struct store *store, struct web **ret_web,
	      struct error *error);
/* The writer's thread: a slice has been added to the store. rows: of it, by container. */
void web_note_slice(struct web *web, const struct resource_rows *rows);
/* Slices that the collector could not hand over. */
void web_note_dropped(struct web *web, uint64_t slices);
/* How much detail is shed to keep a limit of cost. */
void web_note_detail(struct web *web, unsigned int step);
/* A configuration was read again, with success or without. */
void web_note_config(struct web *web, bool good);
/* As /metrics answers; from any thread. with_begins: see metrics.h. */
void web_write_metrics(struct web *web, bool with_begins, FILE *out);
/* Ends waiting answers. NULL is fine. */
void web_stop(struct web *web);

#endif
