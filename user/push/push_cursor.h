/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far a target has been sent the windows of a level: up to a place in its files, for clocks are
 * set back and places are not.
 */
#ifndef PKBPF_PUSH_PUSH_CURSOR_H
#define PKBPF_PUSH_PUSH_CURSOR_H

#include <stdio.h>

#include "store/store.h"

struct push_cursor {
	int64_t unix_ns;	   /* end of the last window, or since when a target wants them */
	uint64_t sequence, offset; /* of the last window; sequence 0: by unix_ns alone */
};

/* What push_cursor_write() wrote, or the time alone as older versions did. false: neither. */
bool push_cursor_parse(const char *text, struct push_cursor *ret_cursor);
void push_cursor_write(const struct push_cursor *cursor, FILE *out);
/* Behind all that is there. unix_ns: now, for a level without windows. */
void push_cursor_begin(struct push_cursor *cursor, struct store *store, enum store_level level,
		       int64_t unix_ns);
/* The window that is next in the order in which they were recorded. false: there is none. */
bool push_cursor_next(const struct push_cursor *cursor, struct store *store, enum store_level level,
		      struct store_window *ret_window);
void push_cursor_pass(struct push_cursor *cursor, const struct store_window *window);

#endif
