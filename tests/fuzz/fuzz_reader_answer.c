// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a process that reads files of targets may answer once it has been taken over.
 *
 * The first byte chooses: 'M' a message; 'T' an unwind table; 'N' names of addresses, whose
 * number is the second byte; 'C' entries of a perf map.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "reader/readers_private.h"
#include "symbol/elf/names_packet.h"
#include "symbol/jit/code_asker.h"
#include "unwind/table/table_packet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_message(const uint8_t *data, size_t size)
{
	static struct reader_packet packet;
	struct reader_answer answer;

	if (size > sizeof(packet))
		size = sizeof(packet);
	memset(&packet, 0, sizeof(packet.head));
	memcpy(&packet, data, size);
	if (reader_answer_take(&packet, size, -1, &answer) == 0)
		reader_answer_done(&answer);
}

/* Every row of every page leads to a rule that there is. */
static void use(const struct unwind_table *table, const struct rule_set *rules)
{
	for (uint32_t i = 0; i < table->page_count; i++) {
		const struct pkbpf_unwind_page *page = &table->pages[i];

		for (uint32_t row = 0; row < page->count; row++)
			if (PKBPF_ROW_RULE(table->rows[page->first + row]) >= rule_set_count(rules))
				abort();
		unwind_table_lookup(table, rules,
				    table->text_start + (uint64_t)i * PKBPF_TEXT_PAGE_SIZE + 7);
	}
}

static void take_table(const uint8_t *data, size_t size)
{
	struct rule_set *rules = rule_set_new();
	struct unwind_table *table = NULL;

	if (rules && table_packet_read(data, size, rules, &table) == 0)
		use(table, rules);
	unwind_table_free(table);
	rule_set_free(rules);
}

static void take_names(const uint8_t *data, size_t size)
{
	struct string_pool *strings = string_pool_new();
	struct names_answer answer;
	size_t length = 0;

	if (!strings || !size) {
		string_pool_free(strings);
		return;
	}
	if (names_answer_read(data + 1, size - 1, data[0], strings, &answer) == 0) {
		if (answer.symbols.count != data[0])
			abort();
		array_foreach(&answer.symbols, symbol)
			for (size_t i = 0; i < symbol->line_count; i++)
				length += strlen(symbol->lines[i].function);
		if (length > size)
			abort();
	}
	names_answer_done(&answer);
	string_pool_free(strings);
}

static bool take_entry(void *context, const struct code_entry *entry, uint64_t offset)
{
	uint64_t *last = context;

	if (offset < *last || !entry->size || entry->name_size >= CODE_MAX_NAME_BYTES)
		abort();
	/* All of it is there. */
	if (entry->name_size && memchr(entry->name, 0xff, entry->name_size) == entry->name - 1)
		abort();
	*last = offset + 1;
	return offset % 16 != 15;
}

static void take_code(const uint8_t *data, size_t size)
{
	const struct code_piece piece = {1000, UINT64_MAX, false};
	struct code_cursor cursor = {.offset = 10};
	uint32_t records = 100;
	uint64_t last = 10;
	int more = code_answer_take(data, size, &piece, &cursor, &records,
				    &(struct code_taker){take_entry, &last});

	if (cursor.offset < 10 || cursor.offset > 1000 || records > 100 ||
	    (more > 0 && cursor.offset == 10))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size && data[0] == 'M')
		take_message(data + 1, size - 1);
	else if (size && data[0] == 'T')
		take_table(data + 1, size - 1);
	else if (size && data[0] == 'N')
		take_names(data + 1, size - 1);
	else if (size && data[0] == 'C')
		take_code(data + 1, size - 1);
	return 0;
}
