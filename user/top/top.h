/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The live view: slices and keys go in, a screen comes out. It knows no terminal and no capture, so
 * a test drives it. One owner thread.
 */
#ifndef PKBPF_TOP_TOP_H
#define PKBPF_TOP_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "rows/resource_rows.h"
#include "top/top_screen.h"

struct top_options {
	enum rows_by by;
	bool per_thread;  /* threads were kept separate */
	int sort;	  /* top_column_at(); -1: CPU% */
	bool is_host;	  /* no targets were chosen */
	bool only_tables; /* no screen is drawn: nothing of the last minute is needed */
	/* Writes what is shown; text: room for a sentence on how it went. */
	void (*write)(void *context, const struct profile *profile, const char *path,
		      char *ret_text, size_t size);
	void *context;
};

/* Keys that are no characters. */
enum top_key {
	TOP_KEY_UP = 0x110000,
	TOP_KEY_DOWN,
	TOP_KEY_LEFT,
	TOP_KEY_RIGHT,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_ENTER,
	TOP_KEY_ESCAPE,
	TOP_KEY_TAB,
	TOP_KEY_BACKSPACE,
	TOP_KEY_F1,
	TOP_KEY_F3,
	TOP_KEY_F4,
	TOP_KEY_F6,
};

struct top;

/* options: copied. NULL: out of memory. */
struct top *top_new(const struct top_options *options);
void top_free(struct top *top);
/* Takes over a slice that slice_new() made. -ENOMEM: a part of it is not shown. */
int top_add_slice(struct top *top, struct profile *slice);
/* A character, or enum top_key. false: the user wants to leave. */
bool top_press(struct top *top, int key);
/* Draws what is shown now. -ENOMEM. */
int top_draw(struct top *top, struct top_screen *screen);
/* The table alone with a line about the machine above it, as for a script. -ENOMEM. */
int top_draw_table(struct top *top, struct top_screen *screen);
/* Lines that top_draw_table() needs. */
size_t top_table_lines(struct top *top);

#endif
