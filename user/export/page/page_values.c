// SPDX-License-Identifier: BSD-2-Clause
/* Gathers the weights of all rows' stacks, and what of each lies in each slice. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "export/page/page_data_private.h"
#include "profile/kind_table.h"

/* Rows are sorted; their stacks know them by their numbers. */
bool page_values_index_rows(struct page_data *data)
{
	const struct resource_rows *rows = data->rows;

	for (size_t i = 0; i < rows->all_count; i++)
		if (rows->items[i].number >= data->number_count)
			data->number_count = rows->items[i].number + 1;
	data->index_of_number = malloc((data->number_count + 1) * sizeof(uint32_t));
	if (!data->index_of_number)
		return false;
	for (size_t i = 0; i < rows->all_count; i++)
		data->index_of_number[rows->items[i].number] =
			i < rows->count ? (uint32_t)i : NO_ROW;
	return true;
}

/* A row, a stack, a kind and a state in one key. Rows and stacks are dense: 28 bits are more than
 * memory holds. */
#define KEY_BITS  28
#define KIND_BITS 4
_Static_assert(PKBPF_PROFILE_KINDS <= 1 << KIND_BITS && KIND_STATES <= 1 << KIND_BITS,
	       "4 bits each");

static uint64_t value_key(uint32_t number, uint32_t stack, unsigned int kind, uint8_t state)
{
	return (uint64_t)number << (KEY_BITS + 2 * KIND_BITS) | (uint64_t)stack << 2 * KIND_BITS |
	       kind << KIND_BITS | state;
}

static bool add_value(struct page_data *data, const struct row_weight *weight,
		      const struct page_value *value)
{
	struct page_kind *kind = &data->kinds[weight->kind];
	struct page_value *item;

	/* A level that is none at the end may have been one in a range. */
	if (!(value->value > 0) &&
	    !(data->times && !value->state && kind_ops_of(weight->kind)->is_level))
		return true;
	item = array_add(&kind->values);
	if (!item)
		return false;
	*item = *value;
	return !data->times || hash_map_put(&data->value_of,
					    value_key(weight->number, weight->stack.stack,
						      weight->kind, value->state),
					    kind->values.count - 1);
}

/* A weight by its states; what is in none of them is in the first. */
static bool add_states(struct page_data *data, const struct row_weight *weight,
		       struct page_value value)
{
	uint64_t rest = weight->stack.weight;

	for (uint8_t i = 1; i < KIND_STATES && kind_ops_of(weight->kind)->state_mask; i++) {
		value.state = i;
		value.value = (double)weight->state_weight[i];
		rest -= weight->state_weight[i] < rest ? weight->state_weight[i] : rest;
		if (!add_value(data, weight, &value))
			return false;
	}
	value.state = 0;
	value.value = (double)rest;
	return add_value(data, weight, &value);
}

static const char *row_name(const struct resource_row *row)
{
	return row->name[0] ? row->name : row->container[0] ? row->container : "[unknown]";
}

static bool add_weight(struct page_data *data, const struct row_weight *weight,
		       const struct resource_row *row)
{
	struct page_kind *kind = &data->kinds[weight->kind];
	struct page_value value = {.row = data->index_of_number[weight->number]};
	size_t count;
	const uint32_t *functions = resource_rows_stack(data->rows, weight->stack.stack, &count);

	if (!kind->tree)
		kind->tree = call_tree_new(data->rows->functions);
	if (!kind->tree)
		return false;
	value.leaf =
		call_tree_add(kind->tree, row_name(row), functions, count, weight->stack.weight);
	return value.leaf != CALL_TREE_NONE && add_states(data, weight, value);
}

bool page_values_add(struct page_data *data)
{
	const struct resource_rows *rows = data->rows;
	_cleanup_free_ const struct resource_row **row_of =
		calloc(data->number_count + 1, sizeof(*row_of));

	if (!row_of)
		return false;
	for (size_t i = 0; i < rows->all_count; i++)
		row_of[rows->items[i].number] = &rows->items[i];
	for (size_t i = 0; i < rows->weight_count; i++) {
		const struct row_weight *weight = &rows->weights[i];

		/* The others are those of the row that sums up. */
		if (weight->number < data->number_count && row_of[weight->number] &&
		    !add_weight(data, weight, row_of[weight->number]))
			return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(data->kinds); i++)
		if (data->kinds[i].tree && !call_tree_finish(data->kinds[i].tree))
			return false;
	return true;
}

/* ---- parts ---- */

static bool add_part(struct page_data *data, const struct time_part *part,
		     const struct profile_row *row)
{
	struct row_place place = data->rows->places[part->row];
	uint8_t state = row->state & kind_ops_of(row->kind)->state_mask;
	struct page_part *item;
	const uint64_t *value;

	if (place.stack == ROW_NO_STACK || place.number >> KEY_BITS || place.stack >> KEY_BITS)
		return true;
	value = hash_map_find(&data->value_of, value_key(place.number, place.stack, row->kind,
							 state < KIND_STATES ? state : 0));
	if (!value)
		return true;
	item = array_add(&data->kinds[row->kind].parts);
	if (item)
		*item = (struct page_part){(uint32_t)*value, part->slice, (double)part->weight};
	return item;
}

static int compare_parts(const void *left, const void *right)
{
	const struct page_part *a = left, *b = right;

	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return a->slice < b->slice ? -1 : a->slice > b->slice;
}

/* Several rows of the profile may be one value. */
static void sort_parts(struct page_kind *kind)
{
	size_t kept = 0;

	if (kind->parts.count)
		qsort(kind->parts.items, kind->parts.count, sizeof(*kind->parts.items),
		      compare_parts);
	array_foreach(&kind->parts, part) {
		struct page_part *last = kept ? &kind->parts.items[kept - 1] : NULL;

		if (last && last->value == part->value && last->slice == part->slice)
			last->weight += part->weight;
		else
			kind->parts.items[kept++] = *part;
	}
	kind->parts.count = kept;
}

bool page_values_add_parts(struct page_data *data)
{
	size_t count;
	const struct profile_row *rows = profile_rows(data->rows->profile, &count);

	if (!data->times)
		return true;
	array_foreach(&data->times->parts, part) {
		if (part->row < count && (unsigned int)rows[part->row].kind < PKBPF_PROFILE_KINDS &&
		    !add_part(data, part, &rows[part->row]))
			return false;
	}
	hash_map_done(&data->value_of);
	for (size_t i = 0; i < ARRAY_SIZE(data->kinds); i++)
		sort_parts(&data->kinds[i]);
	return true;
}
