/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What may take long after a slice is stored, in a thread of its own: alert rules, objectives,
 * reports, and other configurations of them. Storing never waits for it: what it cannot look at in
 * time is noted or skipped, counted and said.
 */
#ifndef PKBPF_CLI_SERVE_WATCH_H
#define PKBPF_CLI_SERVE_WATCH_H

#include <stdio.h>

#include "base/clock.h"
#include "finding/results.h"

/* Slices that may wait. With more the oldest are skipped. */
#define SERVE_WATCH_MAX	    8
#define SERVE_WATCH_TICK_NS (15 * NS_PER_SECOND)

struct serve_watch;

/* From the watch's thread. */
struct serve_watch_ops {
	/* A slice behind which newer ones wait: takes note of it, quickly. */
	void (*note)(void *context, const struct resource_rows *rows);
	/* The newest slice. */
	void (*look)(void *context, const struct resource_rows *rows);
	/* Nothing has come for SERVE_WATCH_TICK_NS. */
	void (*tick)(void *context);
	/* A text of a configuration. */
	void (*configure)(void *context, const char *text);
	/* Once, behind all that was added. */
	void (*end)(void *context);
	void (*say)(void *context, const char *sentence);
	void *context;
};

/* NULL: out of memory. */
struct serve_watch *serve_watch_start(const struct serve_watch_ops *ops);
/* Takes over a slice, and a text, of malloc(). Never waits. */
void serve_watch_add(struct serve_watch *watch, struct profile *slice);
void serve_watch_configure(struct serve_watch *watch, char *text);
/* For Prometheus; from any thread. */
void serve_watch_write_metrics(struct serve_watch *watch, FILE *out);
/* Waits until what was added is done; of slices only the newest is looked at. */
void serve_watch_end(struct serve_watch *watch);
/* Behind its end. */
void serve_watch_free(struct serve_watch *watch);

#endif
