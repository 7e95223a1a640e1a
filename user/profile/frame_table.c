// SPDX-License-Identifier: BSD-2-Clause
/* Stores each distinct frame once, and knows which frames have equal text. */
#include "profile/frame_table.h"

void frame_table_init(struct frame_table *table)
{
	*table = (struct frame_table){.seed = hash_random_seed()};
}

void frame_table_done(struct frame_table *table)
{
	array_free(&table->frames);
	hash_index_done(&table->index);
	hash_index_done(&table->readings);
}

static uint64_t location_hash(const struct frame_table *table,
			      const struct frame_location *location)
{
	uint64_t words[3] = {
		location->address,
		(uint64_t)location->object << 32 | (uint64_t)location->space << 3 |
			(uint64_t)location->neighbours << 1 | location->is_return_address,
		location->code,
	};

	return hash_bytes(words, sizeof(words), table->seed);
}

static bool same_location(const void *context, uint32_t item, const void *key)
{
	const struct frame_table *table = context;
	const struct frame_location *wanted = key;
	const struct frame_location *location = &table->frames.items[item].location;

	return location->address == wanted->address && location->object == wanted->object &&
	       location->space == wanted->space && location->code == wanted->code &&
	       location->is_return_address == wanted->is_return_address &&
	       location->neighbours == wanted->neighbours;
}

uint32_t frame_table_add(struct frame_table *table, const struct frame_location *location)
{
	uint64_t hash = location_hash(table, location);
	uint32_t id;

	id = hash_index_find(&table->index, hash, same_location, table, location);
	if (id != HASH_INDEX_NONE)
		return table->frames.items[id].merged;
	if (table->frames.count >= FRAME_TABLE_NONE - 1 ||
	    !array_reserve(&table->frames, table->frames.count + 1))
		return FRAME_TABLE_NONE;
	id = (uint32_t)table->frames.count;
	if (!hash_index_add(&table->index, hash, id))
		return FRAME_TABLE_NONE;
	*array_add(&table->frames) = (struct frame){.location = *location, .merged = id};
	return id;
}

/* Symbolizers store equal lines and names once, so equal pointers mean equal text. Equal texts
 * from different stores stay separate, which only costs memory. */
static bool reads_the_same(const void *context, uint32_t item, const void *key)
{
	const struct frame_table *table = context;
	const struct frame *a = &table->frames.items[item], *b = key;
	const struct symbol *left = &a->symbol, *right = &b->symbol;

	if (a->location.space != b->location.space || left->result != right->result ||
	    left->module != right->module || left->flags != right->flags)
		return false;
	if (a->location.space == FRAME_TRUNCATED)
		return a->location.address == b->location.address;
	if (left->result == SYMBOL_FOUND)
		return left->lines == right->lines && left->line_count == right->line_count;
	return left->build_id == right->build_id && left->module_address == right->module_address &&
	       left->function_address == right->function_address;
}

static uint64_t reading_hash(const struct frame_table *table, const struct frame *frame)
{
	const struct symbol *symbol = &frame->symbol;
	uint64_t words[3] = {
		symbol->result == SYMBOL_FOUND ? (uintptr_t)symbol->lines : symbol->module_address,
		(uintptr_t)symbol->module,
		(uint64_t)frame->location.space << 32 | symbol->flags,
	};

	return hash_bytes(words, sizeof(words), table->seed);
}

static bool merge_frame(struct frame_table *table, struct frame *frame, uint32_t number)
{
	uint64_t hash = reading_hash(table, frame);
	uint32_t same = hash_index_find(&table->readings, hash, reads_the_same, table, frame);

	if (same == HASH_INDEX_NONE && !hash_index_add(&table->readings, hash, number))
		return false;
	frame->merged = same == HASH_INDEX_NONE ? number : same;
	frame->compared = true;
	return true;
}

uint32_t frame_table_put(struct frame_table *table, const struct frame *frame)
{
	uint64_t hash = reading_hash(table, frame);
	uint32_t id = hash_index_find(&table->readings, hash, reads_the_same, table, frame);

	if (id != HASH_INDEX_NONE)
		return id;
	if (table->frames.count >= FRAME_TABLE_NONE - 1 ||
	    !array_reserve(&table->frames, table->frames.count + 1))
		return FRAME_TABLE_NONE;
	id = (uint32_t)table->frames.count;
	if (!hash_index_add(&table->readings, hash, id))
		return FRAME_TABLE_NONE;
	*array_add(&table->frames) = *frame;
	table->frames.items[id].merged = id;
	table->frames.items[id].compared = true;
	return id;
}

bool frame_table_merge(struct frame_table *table)
{
	for (size_t i = 0; i < table->frames.count; i++) {
		struct frame *frame = &table->frames.items[i];

		/* An address without a symbol and without a file stands for itself. */
		if (frame->named && !frame->compared &&
		    (frame->symbol.result == SYMBOL_FOUND || frame->location.space == FRAME_FILE) &&
		    !merge_frame(table, frame, (uint32_t)i))
			return false;
	}
	return true;
}

static bool copy_frame(struct frame_table *copy, const struct frame *frame, uint32_t number)
{
	*array_add(&copy->frames) = *frame;
	copy->frames.items[number].merged = number;
	return hash_index_add(&copy->index, location_hash(copy, &frame->location), number) &&
	       (!frame->compared ||
		hash_index_add(&copy->readings, reading_hash(copy, frame), number));
}

bool frame_table_copy(const struct frame_table *table, const uint32_t *numbers,
		      struct frame_table *ret_copy)
{
	size_t count = 0;
	bool copied;

	frame_table_init(ret_copy);
	for (size_t i = 0; i < table->frames.count; i++)
		count += numbers[i] != FRAME_TABLE_NONE;
	copied = array_reserve(&ret_copy->frames, count);
	for (size_t i = 0; copied && i < table->frames.count; i++) {
		if (numbers[i] != FRAME_TABLE_NONE)
			copied = copy_frame(ret_copy, &table->frames.items[i], numbers[i]);
	}
	if (!copied)
		frame_table_done(ret_copy);
	return copied;
}
