/* SPDX-License-Identifier: BSD-2-Clause */
/* A live view of the machine of account_scenario.h, with a screen that tests read. */
#ifndef PKBPF_TEST_TOP_FIXTURE_H
#define PKBPF_TEST_TOP_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "account_scenario.h"
#include "profile/slice/slice.h"
#include "top/top.h"
#include "top/top_columns.h"

struct view {
	struct fake_profile fake;
	struct top *top;
	struct top_screen screen;
	char written_to[64];
	const struct profile *written;
};

static inline void note_write(void *context, const struct profile *profile, const char *path,
			      char *ret_text, size_t size)
{
	struct view *view = context;

	view->written = profile;
	snprintf(view->written_to, sizeof(view->written_to), "%s", path);
	snprintf(ret_text, size, "wrote %s", path);
}

static inline struct profile *copy_of(const struct view *view)
{
	struct profile *copy = slice_new();

	assert_non_null(copy);
	assert_int_equal(slice_merge(copy, view->fake.profile), 0);
	return copy;
}

static inline void add_slice(struct view *view)
{
	assert_int_equal(top_add_slice(view->top, copy_of(view)), 0);
}

static inline void press(struct view *view, const char *keys)
{
	for (; *keys; keys++)
		assert_true(top_press(view->top, *keys == '\n' ? TOP_KEY_ENTER : *keys));
}

/* The first line that holds this; NULL: there is none. */
static inline const char *line_with(struct view *view, const char *text)
{
	assert_int_equal(top_draw(view->top, &view->screen), 0);
	for (size_t i = 0; i < view->screen.used && i < view->screen.height; i++)
		if (strstr(view->screen.lines[i].text, text))
			return view->screen.lines[i].text;
	return NULL;
}

static inline size_t number_of_line(struct view *view, const char *text)
{
	const char *line = line_with(view, text);

	assert_non_null(line);
	for (size_t i = 0; i < view->screen.height; i++)
		if (view->screen.lines[i].text == line)
			return i;
	return 0;
}

static inline int setup(void **state)
{
	struct view *view = calloc(1, sizeof(*view));
	struct top_options options = {
		.by = ROWS_BY_PROCESS, .sort = -1, .write = note_write, .context = view};

	account_scenario_init(&view->fake);
	view->top = top_new(&options);
	assert_non_null(view->top);
	assert_int_equal(top_screen_init(&view->screen, 160, 24), 0);
	*state = view;
	return 0;
}

static inline int teardown(void **state)
{
	struct view *view = *state;

	top_free(view->top);
	top_screen_done(&view->screen);
	fake_profile_done(&view->fake);
	free(view);
	return 0;
}

#endif
