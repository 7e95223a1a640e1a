// SPDX-License-Identifier: BSD-2-Clause
#include "push/push_cursor.h"

#include <inttypes.h>

#include "base/clock.h"

/* Edges of windows that follow each other differ by the steps of the clock. */
#define EDGE_NS ((int64_t)NS_PER_SECOND)

bool push_cursor_parse(const char *text, struct push_cursor *ret_cursor)
{
	struct push_cursor cursor = {0};
	int count = sscanf(text, "%" SCNd64 " %" SCNu64 " %" SCNu64, &cursor.unix_ns,
			   &cursor.sequence, &cursor.offset);

	if ((count != 1 && count != 3) || cursor.unix_ns <= 0)
		return false;
	*ret_cursor = cursor;
	return true;
}

void push_cursor_write(const struct push_cursor *cursor, FILE *out)
{
	fprintf(out, "%" PRId64 " %" PRIu64 " %" PRIu64 "\n", cursor->unix_ns, cursor->sequence,
		cursor->offset);
}

struct looking {
	const struct push_cursor *cursor;
	struct store_window by_place, by_time; /* sequence 0: none */
	uint64_t last_sequence;
};

static bool look(void *context, const struct store_window *window)
{
	struct looking *looking = context;
	const struct push_cursor *cursor = looking->cursor;
	bool is_behind = window->sequence > cursor->sequence ||
			 (window->sequence == cursor->sequence && window->offset > cursor->offset);

	if (is_behind && !looking->by_place.sequence)
		looking->by_place = *window;
	if (window->end_unix_ns > cursor->unix_ns + EDGE_NS && !looking->by_time.sequence)
		looking->by_time = *window;
	looking->last_sequence = window->sequence;
	return true;
}

static bool pass(void *context, const struct store_window *window)
{
	push_cursor_pass(context, window);
	return true;
}

void push_cursor_begin(struct push_cursor *cursor, struct store *store, enum store_level level,
		       int64_t unix_ns)
{
	*cursor = (struct push_cursor){.unix_ns = unix_ns};
	store_each(store, level, pass, cursor);
}

bool push_cursor_next(const struct push_cursor *cursor, struct store *store, enum store_level level,
		      struct store_window *ret_window)
{
	struct looking looking = {.cursor = cursor};
	/* Files are numbered anew when none was left at a start. */
	bool by_time;

	store_each(store, level, look, &looking);
	by_time = !cursor->sequence || looking.last_sequence < cursor->sequence;
	*ret_window = by_time ? looking.by_time : looking.by_place;
	return ret_window->sequence != 0;
}

void push_cursor_pass(struct push_cursor *cursor, const struct store_window *window)
{
	*cursor = (struct push_cursor){window->end_unix_ns, window->sequence, window->offset};
}
