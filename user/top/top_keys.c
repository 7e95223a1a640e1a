// SPDX-License-Identifier: BSD-2-Clause
/* What each key does. */
#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "base/text_append.h"
#include "profile/kind_table.h"
#include "top/top_private.h"

static const struct resource_row *row_under_cursor(const struct top *top)
{
	return top->cursor < top->rows.count ? top->rows.items[top->cursor] : NULL;
}

static void refresh(struct top *top)
{
	if (top_refresh(top) < 0)
		top_say(top, "out of memory");
}

/* ---- moving ---- */

static void move(struct top *top, long by)
{
	long cursor = (long)top->cursor + by;
	const struct resource_row *row;

	if (top->mode == TOP_TREE) {
		top_tree_move(&top->tree, by);
		return;
	}
	if (cursor >= (long)top->rows.count)
		cursor = (long)top->rows.count - 1;
	top->cursor = cursor < 0 ? 0 : (size_t)cursor;
	row = row_under_cursor(top);
	if (top->follows && row)
		top_name_row(top, row, &top->followed);
}

static void press_move(struct top *top, int key)
{
	long page = top->page ? (long)top->page : 1;

	switch (key) {
	case TOP_KEY_UP:
		move(top, -1);
		break;
	case TOP_KEY_DOWN:
		move(top, 1);
		break;
	case TOP_KEY_PAGE_UP:
		move(top, -page);
		break;
	case TOP_KEY_PAGE_DOWN:
		move(top, page);
		break;
	case TOP_KEY_HOME:
		move(top, -(1L << 30));
		break;
	default:
		move(top, 1L << 30);
	}
}

static void press_into(struct top *top, int key)
{
	const struct resource_row *row = row_under_cursor(top);

	(void)key;
	if (top->mode == TOP_TREE) {
		top_tree_turn(&top->tree, true);
		return;
	}
	if (!row)
		return;
	top_name_row(top, row, &top->tree_of);
	top_tree_done(&top->tree);
	top->mode = TOP_TREE;
	top->minute_before = top->minute;
	/* One slice has too few samples for a tree. */
	top->minute = true;
	refresh(top);
}

static void press_back(struct top *top, int key)
{
	if (top->mode == TOP_TREE && key == TOP_KEY_LEFT) {
		top_tree_turn(&top->tree, false);
		return;
	}
	if (top->mode != TOP_TREE)
		return;
	top->mode = TOP_TABLE;
	top->minute = top->minute_before;
	refresh(top);
}

static void press_open(struct top *top, int key)
{
	if (top->mode == TOP_TREE)
		top_tree_turn(&top->tree, key == '+');
}

static void press_kind(struct top *top, int key)
{
	uint32_t mask;

	(void)key;
	if (top->mode != TOP_TREE || !top->shown)
		return;
	mask = profile_info_read(top->shown)->kinds_mask;
	for (unsigned int i = 1; i <= PKBPF_PROFILE_KINDS; i++) {
		unsigned int kind = ((unsigned int)top->tree.kind + i) % PKBPF_PROFILE_KINDS;

		if (!(mask & 1U << kind))
			continue;
		top->tree.kind = (enum pkbpf_profile_kind)kind;
		break;
	}
	if (top_refresh_tree(top) < 0)
		top_say(top, "out of memory");
}

/* ---- order and choice ---- */

static void sort_by(struct top *top, int column)
{
	top->sort = column;
	if (top_sort(top) < 0)
		top_say(top, "out of memory");
	top_say(top, "sorted by %s%s", top_column_at((size_t)column)->title,
		top->reversed ? ", reversed" : "");
}

/* Next to the left or right among those of this grouping. */
static void press_sort(struct top *top, int key)
{
	int step = key == '<' ? -1 : 1, column = top->sort;

	do {
		column += step;
		if (column < 0 || !top_column_at((size_t)column))
			return;
	} while (!top_column_has(top_column_at((size_t)column), top->by));
	sort_by(top, column);
}

static void press_number(struct top *top, int key)
{
	int wanted = key - '0';
	const struct top_column *column;

	for (size_t i = 0; (column = top_column_at(i)); i++) {
		if (top_column_has(column, top->by) && --wanted == 0) {
			sort_by(top, (int)i);
			return;
		}
	}
}

static void press_column(struct top *top, int key)
{
	static const struct {
		int key;
		const char *title;
	} titles[] = {{'P', "CPU%"}, {'M', "RSS"}, {'I', "WRIT/s"}};

	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		if (titles[i].key == key)
			sort_by(top, top_column_find(titles[i].title, top->by));
}

static void press_reverse(struct top *top, int key)
{
	(void)key;
	top->reversed = !top->reversed;
	sort_by(top, top->sort);
}

/* Differences are of rows of one grouping. */
static void regroup(struct top *top, enum rows_by by)
{
	top->by = by;
	top->base.count = 0;
	top->follows = false;
	if (!top_column_has(top_column_at((size_t)top->sort), by))
		top->sort = top_column_find("CPU%", by);
	refresh(top);
	top_say(top, "by %s", rows_grouping_name(by));
}

static void press_group(struct top *top, int key)
{
	static const enum rows_by next[ROWS_BY_COUNT] = {
		[ROWS_BY_PROCESS] = ROWS_BY_COMM,      [ROWS_BY_THREAD] = ROWS_BY_PROCESS,
		[ROWS_BY_COMM] = ROWS_BY_CONTAINER,    [ROWS_BY_REGION] = ROWS_BY_PROCESS,
		[ROWS_BY_CONTAINER] = ROWS_BY_PROCESS, [ROWS_BY_NAME] = ROWS_BY_CONTAINER,
		[ROWS_BY_LABEL] = ROWS_BY_PROCESS,
	};

	(void)key;
	if (top->mode == TOP_TABLE)
		regroup(top, next[top->by]);
}

static void press_threads(struct top *top, int key)
{
	(void)key;
	if (top->mode != TOP_TABLE)
		return;
	if (!top->options.per_thread)
		top_say(top, "threads are kept apart when it is started with --per-thread");
	else
		regroup(top, top->by == ROWS_BY_THREAD ? ROWS_BY_PROCESS : ROWS_BY_THREAD);
}

/* ---- time ---- */

static void press_minute(struct top *top, int key)
{
	(void)key;
	if (top->frozen) {
		top_say(top, "frozen: space goes on");
		return;
	}
	top->minute = !top->minute;
	refresh(top);
	top_say(top, top->minute ? "the last minute" : "the last slice");
}

static void press_freeze(struct top *top, int key)
{
	(void)key;
	top->frozen = !top->frozen;
	if (!top->frozen)
		refresh(top);
}

static void press_reset(struct top *top, int key)
{
	(void)key;
	top_slices_reset(&top->slices);
	top_say(top, "the minute begins anew");
}

static void press_base(struct top *top, int key)
{
	(void)key;
	if (top->base.count) {
		top->base.count = 0;
		top_say(top, "figures again");
		return;
	}
	for (size_t i = 0; i < top->rows.count; i++) {
		struct top_base_row *base = array_add(&top->base);
		const struct top_column *column;

		if (!base) {
			top->base.count = 0;
			top_say(top, "out of memory");
			return;
		}
		top_name_row(top, top->rows.items[i], &base->name);
		for (size_t j = 0; (column = top_column_at(j)); j++)
			if (!top_column_value(column, top->all, top->rows.items[i],
					      &base->values[j]))
				base->values[j] = 0;
	}
	top_say(top, "differences to now; rows that were not there show figures");
}

static void press_follow(struct top *top, int key)
{
	const struct resource_row *row = row_under_cursor(top);

	(void)key;
	if (!row || top->mode != TOP_TABLE)
		return;
	top->follows = !top->follows;
	top_name_row(top, row, &top->followed);
	top_say(top, top->follows ? "following %s" : "no longer following %s",
		row->name[0] ? row->name : row->container);
}

/* ---- lines that are typed ---- */

static void press_prompt(struct top *top, int key)
{
	switch (key) {
	case '/':
	case TOP_KEY_F3:
		top->prompt = TOP_SEARCH;
		break;
	case '\\':
	case TOP_KEY_F4:
		top->prompt = TOP_FILTER;
		break;
	default:
		top->prompt = TOP_WRITE;
	}
	top->typed[0] = '\0';
}

static void search(struct top *top)
{
	for (size_t i = 1; i <= top->rows.count; i++) {
		size_t index = (top->cursor + i) % top->rows.count;
		const struct resource_row *row = top->rows.items[index];

		if (!strcasestr(row->name, top->search) && !strcasestr(row->container, top->search))
			continue;
		move(top, (long)index - (long)top->cursor);
		return;
	}
	top_say(top, "not found: %s", top->search);
}

static void press_next(struct top *top, int key)
{
	(void)key;
	if (top->search[0])
		search(top);
}

static void write_shown(struct top *top)
{
	if (!top->shown || !top->typed[0])
		return;
	top->message[0] = '\0';
	if (top->options.write)
		top->options.write(top->options.context, top->shown, top->typed, top->message,
				   sizeof(top->message));
}

static void finish_prompt(struct top *top)
{
	enum top_prompt prompt = top->prompt;

	top->prompt = TOP_NO_PROMPT;
	switch (prompt) {
	case TOP_SEARCH:
		snprintf(top->search, sizeof(top->search), "%s", top->typed);
		press_next(top, 0);
		break;
	case TOP_FILTER:
		snprintf(top->filter, sizeof(top->filter), "%s", top->typed);
		if (top_sort(top) < 0)
			top_say(top, "out of memory");
		break;
	case TOP_WRITE:
		write_shown(top);
		break;
	case TOP_NO_PROMPT:
		break;
	}
}

static void type(struct top *top, int key)
{
	size_t length = strlen(top->typed);

	if (key == TOP_KEY_ENTER)
		finish_prompt(top);
	else if (key == TOP_KEY_ESCAPE)
		top->prompt = TOP_NO_PROMPT;
	else if (key == TOP_KEY_BACKSPACE && length)
		top->typed[length - 1] = '\0';
	else if (key >= ' ' && key < 0x7f && length + 1 < sizeof(top->typed))
		text_append(top->typed, sizeof(top->typed), "%c", key);
}

static void press_help(struct top *top, int key)
{
	(void)key;
	top->mode = TOP_HELP;
}

/* ---- the table of keys ---- */

struct key_row {
	int keys[3]; /* the first 0 ends */
	const char *label, *help;
	void (*press)(struct top *top, int key);
};

static const struct key_row key_rows[] = {
	{{TOP_KEY_UP, TOP_KEY_DOWN}, "up, down", "move", press_move},
	{{TOP_KEY_PAGE_UP, TOP_KEY_PAGE_DOWN}, "PgUp, PgDn", "move by a page", press_move},
	{{TOP_KEY_HOME, TOP_KEY_END}, "Home, End", "first, last", press_move},
	{{TOP_KEY_ENTER, TOP_KEY_RIGHT},
	 "Enter, right",
	 "stacks of the row; open a line of them",
	 press_into},
	{{TOP_KEY_ESCAPE, TOP_KEY_LEFT},
	 "Esc, left",
	 "back; left closes a line of the stacks",
	 press_back},
	{{'+', '-'}, "+, -", "open, close a line of the stacks", press_open},
	{{TOP_KEY_TAB},
	 "Tab",
	 "stacks of the next kind: CPU, off-CPU, block I/O, page faults",
	 press_kind},
	{{'<', '>', TOP_KEY_F6},
	 "<, >",
	 "sort by the column to the left, to the right",
	 press_sort},
	{{'P', 'M', 'I'}, "P, M, I", "sort by CPU, memory, bytes written", press_column},
	{{'R'}, "R", "reverse the order", press_reverse},
	{{'/', TOP_KEY_F3}, "/, F3", "search a name or container", press_prompt},
	{{'n'}, "n", "search again", press_next},
	{{'\\', TOP_KEY_F4},
	 "\\, F4",
	 "show only rows with this name, container or pid",
	 press_prompt},
	{{'c'}, "c", "rows by process, name, container", press_group},
	{{'t'}, "t", "rows by thread, with --per-thread", press_threads},
	{{'a'}, "a", "the last slice, or the last minute", press_minute},
	{{'r'}, "r", "the minute begins anew", press_reset},
	{{' ', 'Z'}, "space, Z", "freeze the picture; capture goes on", press_freeze},
	{{'d'}, "d", "differences to the present figures; again: figures", press_base},
	{{'f'}, "f", "the cursor follows its row", press_follow},
	{{'w'}, "w", "write what is shown to a file, in the format of its suffix", press_prompt},
	{{'?', 'h', TOP_KEY_F1}, "?, h", "this help", press_help},
};

static const struct key_row *find_key(int key)
{
	for (size_t i = 0; i < ARRAY_SIZE(key_rows); i++)
		for (size_t j = 0; j < 3 && key_rows[i].keys[j]; j++)
			if (key_rows[i].keys[j] == key)
				return &key_rows[i];
	return NULL;
}

bool top_press(struct top *top, int key)
{
	const struct key_row *row;

	top->message[0] = '\0';
	if (top->prompt) {
		type(top, key);
		return true;
	}
	if (top->mode == TOP_HELP) {
		top->mode = TOP_TABLE;
		return true;
	}
	if (key == 'q')
		return false;
	row = find_key(key);
	if (row)
		row->press(top, key);
	else if (key >= '1' && key <= '9')
		press_number(top, key);
	return true;
}

void top_draw_help(struct top_screen *screen)
{
	struct top_line *line = top_screen_line(screen);
	const struct top_column *column;
	size_t half = (ARRAY_SIZE(key_rows) + 1) / 2;
	bool two = screen->width >= 140;

	top_add(line, TOP_BOLD, "pkbpf top: keys (any key goes back)");
	for (size_t i = 0; i < (two ? half : ARRAY_SIZE(key_rows)); i++) {
		line = top_screen_line(screen);
		top_add(line, TOP_BOLD, " %-13s", key_rows[i].label);
		top_add(line, TOP_PLAIN, "%s", key_rows[i].help);
		if (!two || i + half >= ARRAY_SIZE(key_rows))
			continue;
		top_pad(line, TOP_PLAIN, screen->width / 2);
		top_add(line, TOP_BOLD, " %-13s", key_rows[i + half].label);
		top_add(line, TOP_PLAIN, "%s", key_rows[i + half].help);
	}
	line = top_screen_line(screen);
	top_add(line, TOP_BOLD, " %-13s", "1 to 9, q");
	top_add(line, TOP_PLAIN, "sort by that column; quit");
	top_screen_line(screen);
	for (size_t i = 0; (column = top_column_at(i)) && top_screen_left(screen); i++) {
		line = top_screen_line(screen);
		top_add(line, TOP_BOLD, " %-13s", column->title);
		top_add(line, TOP_PLAIN, "%s", column->explanation);
	}
}
