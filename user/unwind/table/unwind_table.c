// SPDX-License-Identifier: BSD-2-Clause
/* Packs the rows of a file. */
#include "unwind/table/unwind_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/large_memory.h"
#include "unwind/cfi/eh_frame.h"
#include "unwind/code/description_check.h"
#include "unwind/code/special_code.h"

/* Alignment padding between functions. The row before it stays in force there, which saves two rows
 * per function. */
#define PADDING_MAX_BYTES 15
/* A small direct-mapped cache in front of the rule set: most rows repeat one of few rules. */
#define RULE_CACHE_SIZE 1024
#define NO_PAGE		UINT32_MAX

/* A rule as words, each loaded as it was stored: a vector load of two words that were stored
 * separately would have to wait for both stores to reach the cache. */
struct rule_words {
	uint64_t a, b, c, d;
};

struct rule_cache_slot {
	struct rule_words words;
	uint32_t id;
	bool used;
};

struct builder {
	struct rule_set *rules;
	struct rule_cache_slot cache[RULE_CACHE_SIZE];
	struct unwind_table *table;
	size_t row_capacity;
	uint32_t page; /* last page with rows; NO_PAGE at first */
	uint32_t rule; /* in force after the last row */
	/* special code, which takes precedence; ordered. next_special is the first that is not
	 * packed. */
	const struct special_code *special;
	size_t special_count;
	size_t next_special;
	uint32_t hidden_rule; /* rule of the function while special code is in force */
	bool in_special;
	bool failed;
	struct code_gaps *gaps; /* NULL: code outside functions is not analyzed */
};

DEFINE_CLEANUP(struct unwind_table *, unwind_table_free)
DEFINE_CLEANUP(struct eh_frame *, eh_frame_free)
DEFINE_CLEANUP(struct code_gaps *, code_gaps_free)

void unwind_table_free(struct unwind_table *table)
{
	if (!table)
		return;
	free(table->pages);
	free(table->rows);
	free(table);
}

size_t unwind_table_size_bytes(const struct unwind_table *table)
{
	return sizeof(*table->rows) * table->row_count + sizeof(*table->pages) * table->page_count;
}

static inline struct rule_words words_of(const struct pkbpf_unwind_rule *rule)
{
	const char *bytes = (const char *)rule;
	struct rule_words words;

	_Static_assert(sizeof(words) == sizeof(*rule), "a rule is four words");
	memcpy(&words.a, bytes, 8);
	memcpy(&words.b, bytes + 8, 8);
	memcpy(&words.c, bytes + 16, 8);
	memcpy(&words.d, bytes + 24, 8);
	return words;
}

static inline bool same_words(const struct rule_words *left, const struct rule_words *right)
{
	return !((left->a ^ right->a) | (left->b ^ right->b) | (left->c ^ right->c) |
		 (left->d ^ right->d));
}

static uint32_t intern_rule(struct builder *builder, const struct pkbpf_unwind_rule *rule)
{
	struct rule_words words = words_of(rule);
	struct rule_cache_slot *slot;
	uint64_t mixed;

	mixed = words.a ^ words.b * UINT64_C(0x9e3779b97f4a7c15) ^
		(words.c + words.d) * UINT64_C(0xc2b2ae3d27d4eb4f);
	mixed *= UINT64_C(0xd6e8feb86659fd93);
	slot = &builder->cache[mixed >> 54];
	if (!slot->used || !same_words(&slot->words, &words)) {
		slot->words = words;
		slot->id = rule_set_add(builder->rules, rule);
		slot->used = true;
	}
	return slot->id;
}

static void append_row(struct builder *builder, uint32_t page, uint32_t offset, uint32_t rule)
{
	struct unwind_table *table = builder->table;

	if (table->row_count == builder->row_capacity) {
		size_t wanted = builder->row_capacity + builder->row_capacity / 2 + 1024;
		uint32_t *rows = NULL;

		if (table->row_count < UNWIND_TABLE_MAX_ROWS)
			rows = realloc(table->rows, wanted * sizeof(*rows));
		if (!rows) {
			builder->failed = true;
			return;
		}
		table->rows = rows;
		builder->row_capacity = wanted;
	}
	if (table->pages[page].count++ == 0)
		table->pages[page].first = table->row_count;
	table->rows[table->row_count++] = PKBPF_ROW(offset, rule);
}

/* Adds the first row of each page before end_page. */
static void open_pages(struct builder *builder, uint32_t end_page)
{
	uint32_t page = builder->page + 1; /* NO_PAGE wraps to 0 */

	if (page >= end_page)
		return;
	/* A page without rows already means NONE. */
	if (builder->rule != RULE_ID_NONE)
		for (; page < end_page && !builder->failed; page++)
			append_row(builder, page, 0, builder->rule);
	builder->page = end_page - 1;
}

/* Adds a row: the rule holds from the offset on. Offsets never descend; at equal offsets the last
 * rule counts. */
static void pack_row(struct builder *builder, uint32_t offset, uint32_t rule)
{
	struct unwind_table *table = builder->table;
	uint32_t page = offset >> PKBPF_TEXT_PAGE_SHIFT;
	uint32_t in_page = offset & (PKBPF_TEXT_PAGE_SIZE - 1);

	if (rule == builder->rule || builder->failed)
		return;
	if (page >= table->page_count) {
		open_pages(builder, table->page_count);
		builder->rule = rule;
		return;
	}
	open_pages(builder, page);
	if (builder->page != page) {
		if (in_page != 0 && builder->rule != RULE_ID_NONE)
			append_row(builder, page, 0, builder->rule);
		builder->page = page;
	}
	if (table->pages[page].count == 0 && in_page != 0)
		append_row(builder, page, 0, RULE_ID_NONE);
	builder->rule = rule;
	if (table->pages[page].count > 0 &&
	    PKBPF_ROW_OFFSET(table->rows[table->row_count - 1]) == in_page)
		table->rows[table->row_count - 1] = PKBPF_ROW(in_page, rule);
	else
		append_row(builder, page, in_page, rule);
}

/* Adds the rows of special code that begins or ends up to an offset. */
static void pass_special(struct builder *builder, uint32_t offset)
{
	while (builder->next_special < builder->special_count) {
		const struct special_code *special = &builder->special[builder->next_special];

		if (!builder->in_special) {
			if (special->start > offset)
				return;
			builder->in_special = true;
			builder->hidden_rule = builder->rule;
			pack_row(builder, special->start, intern_rule(builder, &special->rule));
		}
		if (special->start + special->size > offset)
			return;
		builder->in_special = false;
		builder->next_special++;
		pack_row(builder, special->start + special->size, builder->hidden_rule);
	}
}

static void place_row(struct builder *builder, uint32_t offset, uint32_t rule)
{
	if (builder->next_special < builder->special_count)
		pass_special(builder, offset);
	if (builder->in_special)
		builder->hidden_rule = rule;
	else
		pack_row(builder, offset, rule);
}

static void take_row(void *context, uint32_t offset, const struct pkbpf_unwind_rule *rule)
{
	struct builder *builder = context;

	builder->table->stats.raw_row_count++;
	if (rule->cfa == PKBPF_CFA_UNSUPPORTED)
		builder->table->stats.unsupported_count++;
	place_row(builder, offset, intern_rule(builder, rule));
}

static void take_undescribed_row(void *context, uint32_t offset,
				 const struct pkbpf_unwind_rule *rule)
{
	place_row(context, offset, intern_rule(context, rule));
}

/* A gap between functions: undescribed code, constants, or padding. */
static void pack_gap(struct builder *builder, uint32_t start, uint32_t end)
{
	place_row(builder, start, RULE_ID_NONE);
	if (builder->gaps)
		code_gaps_run(builder->gaps, start, end, take_undescribed_row, builder);
}

static void pack_function(struct builder *builder, const struct eh_frame *frame, size_t index)
{
	const struct fde *fde = eh_frame_function(frame, index);

	if (description_misses_frames(builder->gaps, frame, index)) {
		place_row(builder, fde->start, RULE_ID_NONE);
		code_gaps_run_text(builder->gaps, fde->start, fde->start + fde->size,
				   take_undescribed_row, builder);
	} else {
		eh_frame_run(frame, index, take_row, builder);
	}
}

static void pack_functions(struct builder *builder, const struct eh_frame *frame)
{
	size_t count = eh_frame_count(frame);
	uint32_t covered = 0;

	for (size_t i = 0; i < count && !builder->failed; i++) {
		const struct fde *fde = eh_frame_function(frame, i);

		if (fde->start - covered > PADDING_MAX_BYTES)
			pack_gap(builder, covered, fde->start);
		pack_function(builder, frame, i);
		covered = fde->start + fde->size;
	}
	pack_gap(builder, covered, (uint32_t)eh_frame_text_size(frame));
	/* Special code may follow the last function. */
	pass_special(builder, UINT32_MAX);
}

/* Removes the pages between pieces of code. */
static void remove_gaps(struct unwind_table *table)
{
	uint64_t start = table->text_start;
	uint32_t count = 0;

	if (table->layout.count < 2)
		return;
	for (uint32_t page = 0; page < table->page_count; page++) {
		uint64_t address = start + ((uint64_t)page << PKBPF_TEXT_PAGE_SHIFT);

		if (text_layout_find(&table->layout, address))
			table->pages[count++] = table->pages[page];
	}
	table->text_start = start - text_layout_removed(&table->layout, start);
	table->page_count = count;
}

/* Releases unneeded reserved memory, and pages after the last row. */
static void trim(struct unwind_table *table)
{
	uint32_t *rows = realloc(table->rows, (table->row_count + 1) * sizeof(*rows));
	struct pkbpf_unwind_page *pages;

	if (rows)
		table->rows = rows;
	while (table->page_count > 0 && table->pages[table->page_count - 1].count == 0)
		table->page_count--;
	pages = realloc(table->pages, (table->page_count + 1) * sizeof(*pages));
	if (pages)
		table->pages = pages;
}

static int build(struct builder *builder, const struct eh_frame *frame, struct error *error)
{
	struct unwind_table *table = builder->table;

	table->text_start = eh_frame_text_start(frame);
	table->page_count = (uint32_t)((eh_frame_text_size(frame) + PKBPF_TEXT_PAGE_SIZE - 1) >>
				       PKBPF_TEXT_PAGE_SHIFT);
	table->pages = calloc(table->page_count, sizeof(*table->pages));
	/* Untouched memory costs nothing. */
	builder->row_capacity = eh_frame_expected_rows(frame) + 1024;
	if (builder->row_capacity > UNWIND_TABLE_MAX_ROWS)
		builder->row_capacity = UNWIND_TABLE_MAX_ROWS;
	table->rows = large_malloc(builder->row_capacity * sizeof(*table->rows));
	if (!table->pages || !table->rows)
		return error_set(error, ENOMEM, "out of memory for an unwind table");
	pack_functions(builder, frame);
	if (builder->failed && table->row_count >= UNWIND_TABLE_MAX_ROWS)
		return error_set(error, EFBIG, "the unwind table would have more than %u rows",
				 UNWIND_TABLE_MAX_ROWS);
	if (builder->failed)
		return error_set(error, ENOMEM, "out of memory for an unwind table");
	table->stats.function_count = eh_frame_count(frame);
	table->stats.dropped_count = eh_frame_dropped_count(frame);
	table->stats.special_count = builder->special_count;
	if (builder->gaps)
		table->stats.gaps = code_gaps_stats(builder->gaps);
	remove_gaps(table);
	trim(table);
	return 0;
}

/* Returns whether any rule is known. */
static bool has_rules(const struct unwind_table *table)
{
	if (table->stats.function_count)
		return true;
	for (uint32_t i = 0; i < table->row_count; i++) {
		if (PKBPF_ROW_RULE(table->rows[i]) != RULE_ID_NONE)
			return true;
	}
	return false;
}

int unwind_table_build(const struct elf_file *image, bool postpone, struct rule_set *rules,
		       struct unwind_table **ret_table, struct error *error)
{
	_cleanup_(unwind_table_free_cleanup) struct unwind_table *table = NULL;
	_cleanup_(eh_frame_free_cleanup) struct eh_frame *frame = NULL;
	_cleanup_(code_gaps_free_cleanup) struct code_gaps *gaps = NULL;
	_cleanup_free_ struct builder *builder = NULL;
	struct special_code_list special = {0};
	int ret;

	ret = eh_frame_load(image, &frame, error);
	if (ret < 0)
		return ret;
	table = calloc(1, sizeof(*table));
	builder = calloc(1, sizeof(*builder));
	if (!table || !builder)
		return error_set(error, ENOMEM, "out of memory for an unwind table");
	special_code_find(image, frame, &special);
	gaps = code_gaps_new(image, eh_frame_text_start(frame), eh_frame_text_size(frame),
			     postpone);
	builder->gaps = gaps;
	builder->rules = rules;
	rule_set_begin_file(rules);
	builder->table = table;
	builder->page = NO_PAGE;
	builder->rule = RULE_ID_NONE;
	builder->special = special.items;
	builder->special_count = special.count;
	text_layout_read(&image->segments, &table->layout);
	ret = build(builder, frame, error);
	array_free(&special);
	if (ret < 0)
		return ret;
	if (!has_rules(table))
		return error_set(error, ENODATA,
				 "no call frame information, and no code that can be followed "
				 "without; frame pointers are used");
	*ret_table = take_pointer(table);
	return 0;
}

uint32_t unwind_table_lookup_id(const struct unwind_table *table, uint64_t elf_address)
{
	uint64_t offset =
		elf_address - text_layout_removed(&table->layout, elf_address) - table->text_start;
	uint64_t page_index = offset >> PKBPF_TEXT_PAGE_SHIFT;
	uint32_t in_page = offset & (PKBPF_TEXT_PAGE_SIZE - 1);
	const struct pkbpf_unwind_page *page;
	const uint32_t *rows;
	uint32_t low = 0;
	uint32_t high;

	if (page_index >= table->page_count)
		return RULE_ID_NONE;
	page = &table->pages[page_index];
	if (page->count == 0)
		return RULE_ID_NONE;
	rows = table->rows + page->first;
	high = page->count;
	/* The first row is at offset 0, so the result is always in [low, high). */
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (PKBPF_ROW_OFFSET(rows[middle]) <= in_page)
			low = middle;
		else
			high = middle;
	}
	return PKBPF_ROW_RULE(rows[low]);
}

const struct pkbpf_unwind_rule *unwind_table_lookup(const struct unwind_table *table,
						    const struct rule_set *rules,
						    uint64_t elf_address)
{
	return &rule_set_rules(rules)[unwind_table_lookup_id(table, elf_address)];
}
