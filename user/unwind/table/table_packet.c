// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/table/table_packet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Rows of the text page, wherever they are in the table; the next row otherwise. */
static int count_rows(struct table_packet *packet, const struct unwind_table *table,
		      bool *ret_is_gathered)
{
	uint64_t next = 0;

	*ret_is_gathered = false;
	for (uint32_t i = 0; i < table->page_count; i++) {
		const struct pkbpf_unwind_page *page = &table->pages[i];

		packet->counts[i] = page->count;
		if (!page->count)
			continue;
		if ((uint64_t)page->first + page->count > table->row_count)
			return -EBADMSG;
		*ret_is_gathered |= page->first != next;
		next += page->count;
	}
	if (next > table->row_count)
		return -EBADMSG;
	packet->head.row_count = (uint32_t)next;
	return 0;
}

/* Pages between pieces of code were removed, and may have had rows. */
static int gather(struct table_packet *packet, const struct unwind_table *table)
{
	uint32_t next = 0;

	packet->gathered = malloc((packet->head.row_count + 1) * sizeof(uint32_t));
	if (!packet->gathered)
		return -ENOMEM;
	for (uint32_t i = 0; i < table->page_count; i++) {
		const struct pkbpf_unwind_page *page = &table->pages[i];

		if (page->count)
			memcpy(packet->gathered + next, table->rows + page->first,
			       page->count * sizeof(uint32_t));
		next += page->count;
	}
	return 0;
}

int table_packet_make(struct table_packet *packet, const struct unwind_table *table,
		      const struct rule_set *rules)
{
	bool is_gathered;
	int err;

	*packet = (struct table_packet){
		.head = {.text_start = table->text_start,
			 .postponed = table->stats.gaps.postponed,
			 .page_count = table->page_count,
			 .rule_count = rule_set_count(rules) - RULE_ID_FIXED_COUNT,
			 .lacks_rules = rule_set_refused(rules) != 0},
		.counts = malloc((table->page_count + 1) * sizeof(uint16_t)),
	};
	if (!packet->counts)
		return -ENOMEM;
	err = count_rows(packet, table, &is_gathered);
	if (!err && is_gathered)
		err = gather(packet, table);
	if (err) {
		table_packet_done(packet);
		return err;
	}
	packet->pieces[0] = (struct iovec){&packet->head, sizeof(packet->head)};
	packet->pieces[1] = (struct iovec){packet->counts, table->page_count * sizeof(uint16_t)};
	packet->pieces[2] = (struct iovec){packet->gathered ? packet->gathered : table->rows,
					   packet->head.row_count * sizeof(uint32_t)};
	packet->pieces[3] =
		(struct iovec){(void *)(rule_set_rules(rules) + RULE_ID_FIXED_COUNT),
			       packet->head.rule_count * sizeof(struct pkbpf_unwind_rule)};
	return 0;
}

void table_packet_done(struct table_packet *packet)
{
	free(packet->counts);
	free(packet->gathered);
	packet->counts = NULL;
	packet->gathered = NULL;
}

/* ---- reading ---- */

struct reading {
	const unsigned char *counts, *rows, *rules; /* not aligned */
	struct table_packet_head head;
	uint32_t *ids; /* of the packet's rules in the set */
	struct unwind_table *table;
};

DEFINE_CLEANUP(struct unwind_table *, unwind_table_free)

/* All sizes follow from the head. */
static int find_parts(struct reading *reading, const unsigned char *bytes, size_t size)
{
	struct table_packet_head *head = &reading->head;
	uint64_t expected = sizeof(*head);

	if (size < sizeof(*head))
		return -EBADMSG;
	memcpy(head, bytes, sizeof(*head));
	if (head->page_count > UNWIND_TABLE_MAX_PAGES || head->row_count > UNWIND_TABLE_MAX_ROWS ||
	    head->rule_count > PKBPF_UNWIND_MAX_RULES - RULE_ID_FIXED_COUNT ||
	    head->text_start & (PKBPF_TEXT_PAGE_SIZE - 1))
		return -EBADMSG;
	reading->counts = bytes + expected;
	expected += head->page_count * sizeof(uint16_t);
	reading->rows = bytes + expected;
	expected += head->row_count * sizeof(uint32_t);
	reading->rules = bytes + expected;
	expected += head->rule_count * sizeof(struct pkbpf_unwind_rule);
	return expected == size ? 0 : -EBADMSG;
}

/* No more than the unwinder has a meaning for. What a rule says is the file's to say. */
static bool is_rule(const struct pkbpf_unwind_rule *rule)
{
	return rule->cfa <= PKBPF_CFA_REGISTER_DEREF && rule->fp <= PKBPF_FP_UNDEFINED &&
	       rule->ra <= PKBPF_RA_LINK && !rule->reserved2[0] && !rule->reserved2[1] &&
	       !rule->reserved2[2];
}

static int add_rules(struct reading *reading, struct rule_set *rules)
{
	for (uint32_t id = 0; id < RULE_ID_FIXED_COUNT; id++)
		reading->ids[id] = id;
	for (uint32_t i = 0; i < reading->head.rule_count; i++) {
		struct pkbpf_unwind_rule rule;

		memcpy(&rule, reading->rules + i * sizeof(rule), sizeof(rule));
		if (!is_rule(&rule))
			return -EBADMSG;
		reading->ids[RULE_ID_FIXED_COUNT + i] = rule_set_add(rules, &rule);
	}
	return 0;
}

/* A page begins with a row for its first byte, and offsets ascend. */
static int read_page(struct reading *reading, struct pkbpf_unwind_page *page, uint32_t first)
{
	uint32_t rule_count = RULE_ID_FIXED_COUNT + reading->head.rule_count;
	const unsigned char *from = reading->rows + (size_t)first * sizeof(uint32_t);
	uint32_t *rows = reading->table->rows + first, next_offset = 0;

	for (uint32_t i = 0; i < page->count; i++) {
		uint32_t row, offset, rule;

		memcpy(&row, from + i * sizeof(row), sizeof(row));
		offset = PKBPF_ROW_OFFSET(row);
		rule = PKBPF_ROW_RULE(row);
		if (rule >= rule_count || (i == 0 ? offset != 0 : offset < next_offset))
			return -EBADMSG;
		next_offset = offset + 1;
		rows[i] = PKBPF_ROW(offset, reading->ids[rule]);
	}
	return 0;
}

static int read_pages(struct reading *reading)
{
	struct unwind_table *table = reading->table;
	uint32_t first = 0;

	for (uint32_t i = 0; i < table->page_count; i++) {
		struct pkbpf_unwind_page *page = &table->pages[i];
		int err;

		memcpy(&page->count, reading->counts + i * sizeof(page->count),
		       sizeof(page->count));
		if (page->count > PKBPF_MAX_PAGE_ROWS || page->count > table->row_count - first)
			return -EBADMSG;
		page->first = page->count ? first : 0;
		err = read_page(reading, page, first);
		if (err)
			return err;
		first += page->count;
	}
	return first == table->row_count ? 0 : -EBADMSG;
}

int table_packet_read(const void *bytes, size_t size, struct rule_set *rules,
		      struct unwind_table **ret_table)
{
	_cleanup_(unwind_table_free_cleanup) struct unwind_table *table = NULL;
	_cleanup_free_ uint32_t *ids = NULL;
	struct reading reading = {0};
	int err = find_parts(&reading, bytes, size);

	if (err)
		return err;
	table = calloc(1, sizeof(*table));
	ids = malloc((RULE_ID_FIXED_COUNT + reading.head.rule_count) * sizeof(*ids));
	if (!table || !ids)
		return -ENOMEM;
	reading.table = table;
	reading.ids = ids;
	table->text_start = reading.head.text_start;
	table->stats.gaps.postponed = reading.head.postponed;
	table->page_count = reading.head.page_count;
	table->row_count = reading.head.row_count;
	table->pages = calloc(table->page_count + 1, sizeof(*table->pages));
	table->rows = malloc((table->row_count + 1) * sizeof(*table->rows));
	if (!table->pages || !table->rows)
		return -ENOMEM;
	rule_set_begin_file(rules);
	err = add_rules(&reading, rules);
	if (!err)
		err = read_pages(&reading);
	if (err)
		return err;
	*ret_table = take_pointer(table);
	return 0;
}
