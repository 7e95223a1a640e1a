// SPDX-License-Identifier: BSD-2-Clause
/* The page for people: what changed, of each kind of event, and what to doubt. */
#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "base/hash_map.h"
#include "base/text_append.h"
#include "diff/diff_format.h"
#include "diff/diff_words.h"
#include "profile/kind_table.h"
#include "report/report.h"
#include "report/text_table.h"

#define LINES_MAX 40
/* Lines that are no rows of tables: the head with notes, and those of each kind. */
#define LINES_OF_HEAD 12
#define LINES_OF_KIND 4
#define ROWS_ALL      SIZE_MAX

struct page {
	const struct diff_document *document;
	const struct comparison *comparison;
	size_t width;
	size_t rows; /* per kind */
	FILE *out;
};

static const struct text_column columns[] = {
	{.title = "what", .left = true},
	{.title = "name", .left = true, .flexible = true},
	{.title = "base"},
	{.title = "new"},
	{.title = "change"},
	{.title = "interval"},
	{.title = "share", .expendable = 1},
};

/* From levels that say who to those that say where. */
static const enum diff_level order[] = {
	DIFF_PROCESS,	  DIFF_CONTAINER,	DIFF_LOCK,	  DIFF_PLACE,
	DIFF_SELF,	  DIFF_TOTAL,		DIFF_REGION_TIME, DIFF_REGION_COUNT,
	DIFF_REGION_MEAN, DIFF_REGION_P50,	DIFF_REGION_P99,  DIFF_GPU_LAUNCHES,
	DIFF_GPU_BLOCKS,  DIFF_GPU_KERNEL_TIME, DIFF_GPU_COPIED,  DIFF_GPU_ALLOCATED,
	DIFF_GPU_KEPT,	  DIFF_GPU_WAIT,
};
static const enum diff_level counted_levels[] = {DIFF_PROCESS, DIFF_CONTAINER, DIFF_LOCK,
						 DIFF_PLACE, DIFF_SELF};

/* Where nothing can be judged, the reader judges: what is known of processes is shown. */
static bool is_listed(const struct diff_row *row)
{
	return diff_is_significant(row) ||
	       (row->verdict == DIFF_UNJUDGED &&
		(row->key.level == DIFF_PROCESS || row->key.level == DIFF_CONTAINER ||
		 row->key.level == DIFF_LOCK || diff_level_is_calls(row->key.level)));
}

static size_t count_rows(const struct page *page, uint32_t kind, uint32_t level, bool listed)
{
	size_t count = 0;

	array_foreach(&page->comparison->rows, row)
		count += row->key.kind == kind && row->key.level == level &&
			 (!listed || is_listed(row));
	return count;
}

/* What is in the only container is all. */
static bool is_shown(const struct page *page, uint32_t kind, uint32_t level)
{
	return level != DIFF_CONTAINER || page->document->full ||
	       count_rows(page, kind, level, false) > 1;
}

static bool has_table(const struct page *page, uint32_t kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		if (is_shown(page, kind, order[i]) && count_rows(page, kind, order[i], true))
			return true;
	return false;
}

static void add_row(const struct page *page, struct text_table *table, const struct diff_row *row)
{
	char text[DIFF_WORDS_SIZE], name[TEXT_CELL_SIZE];

	text_table_cell(table, diff_words_level(row->key.level));
	text_table_cell(table,
			escape_terminal(name, sizeof(name), diff_row_name(page->comparison, row)));
	for (int side = 0; side < DIFF_SIDES; side++)
		text_table_cell(table, diff_words_value(text, &row->key, row->sides[side].value));
	text_table_cell(table, diff_words_change(text, row));
	text_table_cell(table, row->verdict == DIFF_UNJUDGED ? "not judged"
							     : diff_words_interval(text, row));
	text_table_cell(table, diff_words_share(text, row));
}

/* Rows of a level, at most so many; returns how many were left out. */
static size_t add_level(const struct page *page, struct text_table *table, uint32_t kind,
			uint32_t level, size_t most)
{
	size_t left_out = 0;

	array_foreach(&page->comparison->rows, row) {
		if (row->key.kind != kind || row->key.level != level || !is_listed(row))
			continue;
		if (most) {
			add_row(page, table, row);
			most--;
		} else {
			left_out++;
		}
	}
	return left_out;
}

/* What one level does not need, the next ones may have. */
static int write_table(const struct page *page, uint32_t kind)
{
	struct text_table *table = text_table_new(columns, ARRAY_SIZE(columns));
	size_t rows_left = page->rows, left_out = 0;
	int err;

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		size_t levels_left = ARRAY_SIZE(order) - i;
		size_t count = count_rows(page, kind, order[i], true);
		size_t most = page->document->full ? ROWS_ALL
						   : (rows_left + levels_left - 1) / levels_left;

		if (!is_shown(page, kind, order[i]))
			continue;
		left_out += add_level(page, table, kind, order[i], most);
		rows_left -= count < most ? (count < rows_left ? count : rows_left)
					  : (most < rows_left ? most : rows_left);
	}
	err = text_table_write(table, page->width, page->out);
	text_table_free(table);
	if (left_out)
		fprintf(page->out, " ... and %zu more (--full)\n", left_out);
	return err;
}

static const struct diff_row *row_of_all(const struct page *page, uint32_t kind)
{
	struct diff_key key = {kind, DIFF_ALL, 0};

	return comparison_find(page->comparison, &key);
}

static bool has_gpu_calls(const struct page *page)
{
	array_foreach(&page->comparison->rows, row)
		if (diff_level_is_gpu(row->key.level))
			return true;
	return false;
}

/* Kinds without a sum of all. */
static void write_title_of_calls(const struct page *page, uint32_t kind, char text[TEXT_CELL_SIZE])
{
	const char *title = diff_words_title(kind), *per = diff_words_per(&page->comparison->work);

	if (kind != PKBPF_PROFILE_CALLS)
		snprintf(text, TEXT_CELL_SIZE, "%s", title);
	else
		snprintf(text, TEXT_CELL_SIZE, "%s: %sper %s", title,
			 has_gpu_calls(page) ? "" : "wall time and count ", per);
}

static void write_heading(const struct page *page, uint32_t kind)
{
	const struct diff_row *all = row_of_all(page, kind);
	char base[DIFF_WORDS_SIZE], new[DIFF_WORDS_SIZE], change[DIFF_WORDS_SIZE];
	char interval[DIFF_WORDS_SIZE], text[TEXT_CELL_SIZE];
	const struct kind_ops *ops = kind_ops_of((enum pkbpf_profile_kind)kind);
	const char *title = diff_words_title(kind);

	if (!all) {
		write_title_of_calls(page, kind, text);
	} else {
		diff_words_interval(interval, all);
		snprintf(text, sizeof(text), "%s%s%s: %s -> %s, %s%s%s%s%s", title,
			 /* What is there at the end is not per anything. */
			 ops->is_level ? ", mean of the ends of slices" : " per ",
			 ops->is_level ? "" : diff_words_per(&page->comparison->work),
			 diff_words_amount(base, kind, all->sides[DIFF_BASE].value),
			 diff_words_amount(new, kind, all->sides[DIFF_NEW].value),
			 diff_words_change(change, all), interval[0] ? " (" : "", interval,
			 interval[0] ? ")" : "",
			 diff_is_significant(all)	 ? ""
			 : all->verdict == DIFF_UNJUDGED ? ", not judged"
							 : ", no significant change");
	}
	text_cut(text, page->width);
	fprintf(page->out, page->document->color ? "\n\x1b[1m%s\x1b[0m\n" : "\n%s\n", text);
}

/* Regions and counted functions, or kernels, directions, places and functions of GPU calls, of
 * which no figure is listed; fewer without memory. */
static size_t count_calls_unlisted(const struct page *page, bool of_gpus)
{
	struct hash_map names = {0}; /* name -> is any of its figures listed? */
	size_t unlisted = 0;

	array_foreach(&page->comparison->rows, row) {
		bool is_listed_now = is_listed(row), added;
		uint64_t *is_any;

		if (of_gpus ? !diff_level_is_gpu(row->key.level)
			    : !diff_level_is_region(row->key.level))
			continue;
		is_any = hash_map_get(&names, row->key.name, 0, &added);
		if (!is_any)
			break;
		unlisted += added;
		unlisted -= is_listed_now && !*is_any;
		*is_any |= is_listed_now;
	}
	hash_map_done(&names);
	return unlisted;
}

/* "12 functions, 3 regions"; "" when all are listed. */
static void count_unlisted(const struct page *page, uint32_t kind, char *text, size_t size)
{
	char counted[DIFF_WORDS_SIZE];

	text[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(counted_levels); i++) {
		size_t count = count_rows(page, kind, counted_levels[i], false) -
			       count_rows(page, kind, counted_levels[i], true);

		if (count)
			text_append(text, size, "%s%s", text[0] ? ", " : "",
				    diff_words_counted(counted, count, counted_levels[i]));
	}
	for (int of_gpus = 0; of_gpus < 2 && kind == PKBPF_PROFILE_CALLS; of_gpus++) {
		size_t count = count_calls_unlisted(page, of_gpus);

		if (count)
			text_append(
				text, size, "%s%s", text[0] ? ", " : "",
				diff_words_counted(counted, count,
						   of_gpus ? DIFF_GPU_LAUNCHES : DIFF_REGION_TIME));
	}
}

/* The largest of what may be noise, so that a reader sees how small it is. */
static const struct diff_row *largest_same(const struct page *page, uint32_t kind)
{
	const struct diff_row *largest = NULL;

	array_foreach(&page->comparison->rows, row) {
		if (row->key.kind != kind ||
		    (row->key.level != DIFF_SELF && row->key.level != DIFF_PLACE) ||
		    diff_is_significant(row))
			continue;
		if (!largest || (row->change < 0 ? -row->change : row->change) >
					(largest->change < 0 ? -largest->change : largest->change))
			largest = row;
	}
	return largest;
}

static void write_rest(const struct page *page, uint32_t kind)
{
	const struct diff_row *largest = largest_same(page, kind);
	char text[1024], change[DIFF_WORDS_SIZE], name[256], interval[DIFF_WORDS_SIZE];

	count_unlisted(page, kind, text, sizeof(text));
	if (!text[0])
		return;
	if (largest) {
		diff_words_interval(interval, largest);
		text_append(text, sizeof(text), "; largest: %s %s%s%s%s",
			    escape_terminal(name, sizeof(name),
					    diff_row_name(page->comparison, largest)),
			    diff_words_change(change, largest), interval[0] ? " (" : "", interval,
			    interval[0] ? ")" : "");
	}
	text_wrap_lines(page->out, page->width,
			&(struct text_wrapping){
				.label = "No significant change: ", .lines = 2, .next_indent = 2},
			text);
}

static int write_kind(const struct page *page, uint32_t kind)
{
	int err = 0;

	write_heading(page, kind);
	if (has_table(page, kind))
		err = write_table(page, kind);
	write_rest(page, kind);
	return err;
}

static void write_head(const struct page *page)
{
	static const char *const labels[] = {"base  ", "new   "};
	char text[2048], clean[2048], notes[DIFF_NOTES_MAX][512];
	size_t count = diff_words_notes(page->comparison, notes);

	for (int side = 0; side < DIFF_SIDES; side++) {
		diff_words_side(text, sizeof(text), page->comparison->sides[side],
				page->document->titles[side]);
		text_wrap_lines(page->out, page->width,
				&(struct text_wrapping){
					.label = labels[side], .next_indent = 6, .lines = 2},
				escape_terminal(clean, sizeof(clean), text));
	}
	for (size_t i = 0; i < count; i++)
		text_wrap_lines(page->out, page->width,
				&(struct text_wrapping){.label = "note  ", .next_indent = 6},
				notes[i]);
}

static void write_conditions(const struct page *page)
{
	char clean[1024];

	for (size_t i = 0; i < page->document->condition_count; i++)
		text_wrap_lines(page->out, page->width,
				&(struct text_wrapping){.label = "", .next_indent = 2},
				escape_terminal(clean, sizeof(clean),
						page->document->conditions[i].sentence));
}

/* Of seven kinds and more the other lines alone fill the page. */
static size_t rows_per_table(size_t kinds, size_t tables)
{
	size_t others = LINES_OF_HEAD + LINES_OF_KIND * kinds;

	return others < LINES_MAX && tables ? (LINES_MAX - others) / tables : 1;
}

static int text_write(const struct diff_document *document, FILE *out)
{
	const struct comparison *comparison = document->comparison;
	size_t width = document->width ? document->width : REPORT_WIDTH_DEFAULT;
	size_t kinds = (size_t)__builtin_popcount(comparison->kinds_mask), tables = 0;
	struct page page = {
		.document = document,
		.comparison = comparison,
		.width = width < REPORT_WIDTH_MIN   ? REPORT_WIDTH_MIN
			 : width > REPORT_WIDTH_MAX ? REPORT_WIDTH_MAX
						    : width,
		.out = out,
	};
	int err = 0;

	for (uint32_t kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
		tables += has_table(&page, kind);
	page.rows = rows_per_table(kinds, tables);
	if (!document->without_head)
		write_head(&page);
	for (uint32_t kind = 0; kind < PKBPF_PROFILE_KINDS && !err; kind++)
		if (comparison->kinds_mask & 1U << kind)
			err = write_kind(&page, kind);
	if (document->condition_count)
		fputc('\n', out);
	write_conditions(&page);
	return err;
}

const struct diff_format_ops diff_format_text = {
	.file = {"text", ".txt", "what changed, at most 40 lines"},
	.write = text_write,
};
