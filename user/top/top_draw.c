// SPDX-License-Identifier: BSD-2-Clause
/* Draws the head, the table and the tree. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "profile/kind_table.h"
#include "rows/human.h"
#include "top/top_private.h"

/* Columns of the hottest function, at least. */
#define HOTTEST_LEAST 12
#define STACK_MAX     256
/* Lines of keys or a typed line below the table. */
#define FOOT_LINES     1
#define SPARKLINE_LAST 12

/* ---- the head ---- */

static void add_history(const struct top *top, struct top_line *line)
{
	static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

	for (size_t i = TOP_HISTORY - SPARKLINE_LAST; i < TOP_HISTORY; i++) {
		double busy = top->history[i];

		if (busy >= 0)
			top_add(line, TOP_PLAIN, "%s",
				bars[busy >= 100 ? 7 : (int)(busy * 8 / 100)]);
	}
	top_add(line, TOP_PLAIN, "  ");
}

static void add_machine(const struct top *top, struct top_line *line)
{
	const struct profile_info *info = profile_info_read(top->shown);
	const struct resource_machine *machine = &top->all->machine;
	const struct resource_row *total = &top->all->total;
	char text[HUMAN_SIZE];

	if (top->all->busy_percent >= 0)
		top_add(line, TOP_PLAIN, "CPU %.0f%% of %u  ", top->all->busy_percent,
			info->cpu_count);
	if (machine->known && machine->memory_bytes)
		top_add(line, TOP_PLAIN, "mem %.0f%%  ",
			100 * (1 - row_ratio((double)machine->memory_available_bytes,
					     (double)machine->memory_bytes)));
	if (total->waits.runqueue.max_ns)
		top_add(line, TOP_PLAIN, "run queue p95 %s  ",
			human_time(text, total->waits.runqueue.p95_ns));
	if (total->blockio.device.max_ns)
		top_add(line, TOP_PLAIN, "block I/O p99 %s  ",
			human_time(text, total->blockio.device.p99_ns));
}

static void add_losses(const struct top *top, struct top_line *line)
{
	struct profile_account account = profile_account(top->shown);
	uint64_t lost = account.lost + account.lost_other;
	char text[HUMAN_SIZE];

	if (lost)
		top_add(line, TOP_ALERT, "lost %s", human_count(text, lost));
	else
		top_add(line, TOP_PLAIN, "lost 0");
	top_add(line, TOP_PLAIN, "  ");
}

static void draw_head(struct top *top, struct top_screen *screen)
{
	struct top_line *line = top_screen_line(screen);
	const struct profile_info *info;
	char text[HUMAN_SIZE];

	top_add(line, TOP_BOLD, "pkbpf top  ");
	if (!top->all) {
		top_add(line, TOP_PLAIN, "the first slice is on its way");
		return;
	}
	info = profile_info_read(top->shown);
	top_add(line, TOP_PLAIN, "%s  ", info->has_targets ? info->targets : info->host);
	add_history(top, line);
	add_machine(top, line);
	add_losses(top, line);
	top_add(line, TOP_PLAIN, "[%s]", human_time(text, top->all->interval_ns));
	if (top->base.count)
		top_add(line, TOP_BOLD, " [difference]");
	if (top->frozen)
		top_add(line, TOP_ALERT, " [frozen]");
	if (top->filter[0])
		top_add(line, TOP_BOLD, " [filter: %s]", top->filter);
}

/* ---- the table ---- */

/* 1 << index of the columns that fit. */
static uint32_t choose_columns(const struct top *top, size_t width)
{
	uint32_t chosen = 0;
	const struct top_column *column;
	uint32_t kinds = profile_info_read(top->shown)->kinds_mask;
	size_t used = HOTTEST_LEAST;

	for (size_t i = 0; (column = top_column_at(i)); i++) {
		if (!top_column_has(column, top->by) ||
		    !top_column_is_fed(column, kinds, top->all ? top->all->total.known : 0))
			continue;
		chosen |= 1U << i;
		used += column->width + 1;
	}
	while (used > width) {
		size_t worst = TOP_COLUMNS_MAX;

		for (size_t i = 0; (column = top_column_at(i)); i++) {
			if (!(chosen & 1U << i) || !column->expendable || (int)i == top->sort)
				continue;
			if (worst == TOP_COLUMNS_MAX ||
			    column->expendable > top_column_at(worst)->expendable)
				worst = i;
		}
		if (worst == TOP_COLUMNS_MAX)
			break;
		chosen &= ~(1U << worst);
		used -= top_column_at(worst)->width + 1;
	}
	return chosen;
}

static void add_cell(struct top_line *line, enum top_attribute attribute,
		     const struct top_column *column, const char *text)
{
	size_t start = line->columns;

	if (column->left) {
		struct top_line cell = {.width = column->width};

		top_add(&cell, attribute, "%s", text);
		top_add(line, attribute, "%s", cell.text);
		top_pad(line, attribute, start + column->width);
	} else {
		top_add(line, attribute, "%*s", (int)column->width, text);
	}
	top_add(line, attribute, " ");
}

static void draw_titles(const struct top *top, uint32_t chosen, struct top_screen *screen)
{
	struct top_line *line = top_screen_line(screen);
	const struct top_column *column;

	for (size_t i = 0; (column = top_column_at(i)); i++)
		if (chosen & 1U << i)
			add_cell(line, (int)i == top->sort ? TOP_SORTED : TOP_TITLE, column,
				 column->title);
	top_add(line, TOP_TITLE, "HOTTEST FUNCTION");
	top_pad(line, TOP_TITLE, line->width);
}

struct hottest {
	const struct function *function;
	uint64_t weight, whole;
};

/* The innermost function of the program, in Python programs of Python, else of the kernel; false:
 * the stack is empty. */
static bool place_of(const struct top *top, uint32_t stack, uint32_t *ret_function)
{
	const struct function_table *table = top->all->functions;
	uint32_t functions[STACK_MAX];
	size_t count, i = 0;
	const uint32_t *all = resource_rows_stack(top->all, stack, &count);

	if (count > STACK_MAX)
		count = STACK_MAX;
	memcpy(functions, all, count * sizeof(*functions));
	count = plumbing_remove(&top->plumbing, functions, count);
	i = function_table_find_python(table, functions, count);
	if (i == count)
		i = 0;
	while (i < count && function_is_outside(function_table_get(table, functions[i])))
		i++;
	if (!count)
		return false;
	*ret_function = functions[i < count ? i : 0];
	return true;
}

/* The place with the largest share. */
static struct hottest hottest_of(const struct top *top, const struct resource_row *row,
				 enum pkbpf_profile_kind kind)
{
	const struct resource_rows *rows = top->all;
	struct hottest hottest = {0};
	struct hash_map sums = {0};
	size_t count;
	const struct row_weight *weights = resource_rows_weights(rows, row, &count);

	for (size_t i = 0; i < count; i++) {
		uint32_t function;
		uint64_t *sum;

		if (weights[i].kind != kind || weights[i].stack.stack == ROW_NO_STACK ||
		    !place_of(top, weights[i].stack.stack, &function))
			continue;
		hottest.whole += weights[i].stack.weight;
		sum = hash_map_get(&sums, function, 0, &(bool){false});
		if (!sum)
			break;
		*sum += weights[i].stack.weight;
		if (*sum > hottest.weight) {
			hottest.weight = *sum;
			hottest.function = function_table_get(rows->functions, function);
		}
	}
	hash_map_done(&sums);
	return hottest;
}

static void add_hottest(const struct top *top, const struct resource_row *row,
			struct top_line *line)
{
	struct hottest hottest = hottest_of(top, row, PKBPF_PROFILE_CPU);
	char share[HUMAN_SIZE];

	if (hottest.function) {
		top_add(line, TOP_PLAIN, "%s %s", hottest.function->name,
			human_share(share, hottest.weight, hottest.whole));
		return;
	}
	hottest = hottest_of(top, row, PKBPF_PROFILE_OFFCPU);
	if (hottest.function)
		top_add(line, TOP_DIM, "waits in %s", hottest.function->name);
}

static void draw_row(const struct top *top, const struct resource_row *row, uint32_t chosen,
		     struct top_line *line)
{
	const struct top_base_row *base = top->base.count ? top_base_of(top, row) : NULL;
	const struct top_column *column;

	for (size_t i = 0; (column = top_column_at(i)); i++) {
		char text[TOP_CELL_SIZE] = "-";
		double value;

		if (!(chosen & 1U << i))
			continue;
		if (column->text) {
			add_cell(line, TOP_PLAIN, column, column->text(row));
			continue;
		}
		if (top_column_value(column, top->all, row, &value)) {
			bool differs = base && column->unit != TOP_UNIT_NUMBER;

			top_column_format(column->unit, differs ? value - base->values[i] : value,
					  differs, text);
		}
		add_cell(line, TOP_PLAIN, column, text);
	}
	add_hottest(top, row, line);
}

static void draw_table(struct top *top, struct top_screen *screen, size_t below, bool with_cursor)
{
	uint32_t chosen = choose_columns(top, screen->width);

	draw_titles(top, chosen, screen);
	top->page = top_screen_left(screen) > below ? top_screen_left(screen) - below : 1;
	if (top->cursor < top->first)
		top->first = top->cursor;
	if (top->cursor >= top->first + top->page)
		top->first = top->cursor - top->page + 1;
	for (size_t i = top->first; i < top->rows.count && i < top->first + top->page; i++) {
		struct top_line *line = top_screen_line(screen);

		draw_row(top, top->rows.items[i], chosen, line);
		if (with_cursor && i == top->cursor)
			top_mark_line(line, TOP_CURSOR);
	}
	if (!top->rows.count)
		top_add(top_screen_line(screen), TOP_DIM, "  %s",
			top->filter[0] ? "no row passes the filter" : "nothing ran");
}

/* ---- the foot ---- */

static void draw_foot(const struct top *top, struct top_screen *screen)
{
	static const char *const prompts[] = {
		[TOP_SEARCH] = "search",
		[TOP_FILTER] = "filter (empty: all)",
		[TOP_WRITE] = "write to (.html, .json, .folded, .svg, .pb.gz, ...)",
	};
	struct top_line *line;

	while (top_screen_left(screen) > FOOT_LINES)
		top_screen_line(screen);
	line = top_screen_line(screen);
	if (top->prompt)
		top_add(line, TOP_BOLD, "%s: %s_", prompts[top->prompt], top->typed);
	else if (top->message[0])
		top_add(line, TOP_BOLD, "%s", top->message);
	else if (top->mode == TOP_TREE)
		top_add(line, TOP_DIM,
			"Tab kind  +/- open, close  a minute  space freeze  w write  Esc back  ? "
			"help");
	else
		top_add(line, TOP_DIM,
			"Enter stacks  < > sort  / search  \\ filter  c group  a minute  "
			"space freeze  ? help  q quit");
}

static void draw_alarm(const struct top *top, struct top_screen *screen)
{
	struct top_line *line = top_screen_line(screen);

	if (top->finding[0])
		top_add(line, TOP_ALERT, "! %s", top->finding);
}

static void draw_tree(struct top *top, struct top_screen *screen)
{
	struct top_line *line = top_screen_line(screen);
	const struct resource_row *row;
	size_t index;

	row = top_find_row(top, &top->tree_of, &index);
	if (row)
		top_add(line, TOP_BOLD, "%s %s", row->name, row->pid ? "" : row->container);
	if (row && row->pid)
		top_add(line, TOP_PLAIN, "pid %u", row->pid);
	if (!row)
		top_add(line, TOP_ALERT, "not in this slice");
	top_add(line, TOP_BOLD, "  %s", kind_ops_of(top->tree.kind)->title);
	top_tree_draw(&top->tree, screen, FOOT_LINES);
}

int top_draw(struct top *top, struct top_screen *screen)
{
	top_screen_clear(screen);
	if (top->mode == TOP_HELP) {
		top_draw_help(screen);
		return 0;
	}
	draw_head(top, screen);
	draw_alarm(top, screen);
	if (top->all && top->mode == TOP_TREE)
		draw_tree(top, screen);
	else if (top->all)
		draw_table(top, screen, FOOT_LINES, true);
	draw_foot(top, screen);
	return 0;
}

size_t top_table_lines(struct top *top)
{
	/* Head, titles, and the sentence when there are no rows. */
	return 3 + top->rows.count;
}

int top_draw_table(struct top *top, struct top_screen *screen)
{
	top_screen_clear(screen);
	draw_head(top, screen);
	if (top->all)
		draw_table(top, screen, 0, false);
	return 0;
}
