// SPDX-License-Identifier: BSD-2-Clause
#include "export/page/page_data.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash_map.h"
#include "export/formats.h"
#include "export/json/json_writer.h"
#include "profile/call_tree.h"
#include "profile/kind_table.h"
#include "profile/slice/time_line.h"
#include "rows/plumbing.h"

#define NO_ROW UINT32_MAX

struct page_value {
	uint32_t leaf; /* call_tree_place() */
	uint32_t row;
	uint8_t state;
	double value;
};

/* What of a value lies in a slice. */
struct page_part {
	uint32_t value, slice;
	double weight;
};

/* One kind of event. */
struct page_kind {
	struct call_tree *tree; /* NULL: none recorded */
	ARRAY_OF(struct page_value) values;
	ARRAY_OF(struct page_part) parts; /* by value, then by slice */
};

/* Single CPU samples of one row, close to each other in time. */
struct page_cell {
	uint32_t cell, row, weight;
};

struct page_data {
	const struct resource_rows *rows;
	struct page_kind kinds[PKBPF_PROFILE_KINDS];
	uint32_t *index_of_number; /* of a row's stacks -> in the tables */
	uint32_t number_count;
	uint32_t *place_of_function;	  /* in the page; NO_ROW: in no stack that is shown */
	ARRAY_OF(uint32_t) functions;	  /* by that place */
	ARRAY_OF(const char *) threads;	  /* borrowed */
	struct hash_map thread_of_node;	  /* kind << 32 and node -> in threads */
	const struct time_line *times;	  /* NULL: not known */
	struct hash_map value_of;	  /* value_key() -> in the values of its kind */
	ARRAY_OF(struct page_cell) cells; /* by cell and row */
	FILE *out;
};

static void page_data_done(struct page_data *data)
{
	for (size_t i = 0; i < ARRAY_SIZE(data->kinds); i++) {
		call_tree_free(data->kinds[i].tree);
		array_free(&data->kinds[i].values);
		array_free(&data->kinds[i].parts);
	}
	free(data->index_of_number);
	free(data->place_of_function);
	array_free(&data->functions);
	array_free(&data->threads);
	hash_map_done(&data->thread_of_node);
	hash_map_done(&data->value_of);
	array_free(&data->cells);
}

/* Rows are sorted; their stacks know them by their numbers. */
static bool index_rows(struct page_data *data)
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

	if (!(value->value > 0))
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

static bool add_weights(struct page_data *data)
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

static bool add_parts(struct page_data *data)
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

/* ---- single samples ---- */

#define CELL_NS (10 * NS_PER_MS)

/* What a row of the page is of, for samples as for rows of the profile. */
static uint64_t owner_key(enum rows_by by, uint32_t process, uint32_t comm, uint32_t tid,
			  uint32_t stack)
{
	const uint32_t of_thread[] = {process, comm,
				      by == ROWS_BY_THREAD ? tid : PROFILE_NO_THREAD};
	/* Which region it was in, its stack tells. */
	const uint32_t of_region[ARRAY_SIZE(of_thread)] = {stack};
	const uint32_t *words = by == ROWS_BY_REGION ? of_region : of_thread;

	return hash_bytes(words, sizeof(of_thread), 0);
}

/* owner_key() -> index in report.rows. */
static bool map_owners(const struct page_data *data, struct hash_map *ret_rows)
{
	size_t count;
	const struct profile_row *rows = profile_rows(data->rows->profile, &count);

	for (size_t i = 0; i < count; i++) {
		uint32_t number = data->rows->places[i].number;
		uint64_t key = owner_key(data->rows->by, rows[i].process, rows[i].comm, rows[i].tid,
					 rows[i].stack);

		if (number < data->number_count &&
		    !hash_map_put(ret_rows, key, data->index_of_number[number]))
			return false;
	}
	return true;
}

static int compare_cells(const void *left, const void *right)
{
	const struct page_cell *a = left, *b = right;

	if (a->cell != b->cell)
		return a->cell < b->cell ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static void join_cells(struct page_data *data)
{
	size_t kept = 0;

	if (data->cells.count)
		qsort(data->cells.items, data->cells.count, sizeof(*data->cells.items),
		      compare_cells);
	array_foreach(&data->cells, cell) {
		struct page_cell *last = kept ? &data->cells.items[kept - 1] : NULL;

		if (last && last->cell == cell->cell && last->row == cell->row)
			last->weight += cell->weight;
		else
			data->cells.items[kept++] = *cell;
	}
	data->cells.count = kept;
}

static bool add_cells(struct page_data *data)
{
	const struct moment_list *moments = profile_moments_read(data->rows->profile);
	uint64_t start_ns = profile_info_read(data->rows->profile)->start_ns;
	_cleanup_(hash_map_done) struct hash_map owners = {0};

	if (!data->times || !moments->items.count)
		return true;
	if (!map_owners(data, &owners))
		return false;
	array_foreach(&moments->items, moment) {
		uint64_t cell = (moment->begin_ns - start_ns) / CELL_NS;
		const uint64_t *row =
			hash_map_find(&owners, owner_key(data->rows->by, moment->process,
							 moment->comm, moment->tid, moment->stack));
		struct page_cell *item;

		if (moment->kind != PKBPF_PROFILE_CPU || moment->begin_ns < start_ns ||
		    cell > UINT32_MAX)
			continue;
		item = array_add(&data->cells);
		if (!item)
			return false;
		*item = (struct page_cell){(uint32_t)cell, row ? (uint32_t)*row : NO_ROW,
					   moment->weight};
	}
	join_cells(data);
	return true;
}

/* Names of threads lie in the trees: each is numbered when it is first met. */
static bool number_threads(struct page_data *data)
{
	for (size_t kind = 0; kind < ARRAY_SIZE(data->kinds); kind++) {
		const struct call_tree *tree = data->kinds[kind].tree;
		const struct call_node *nodes;
		size_t count;

		if (!tree)
			continue;
		nodes = call_tree_nodes(tree, &count);
		for (size_t i = 1; i < count; i = nodes[i].end) {
			const char **name = array_add(&data->threads);

			if (!name)
				return false;
			*name = call_tree_name(tree, &nodes[i]);
			if (!hash_map_put(&data->thread_of_node, (uint64_t)kind << 32 | i,
					  data->threads.count - 1))
				return false;
		}
	}
	return true;
}

/* As they come in the trees, so that equal trees make equal pages: frames that no stack has any
 * more have functions, too. */
static bool number_functions(struct page_data *data)
{
	size_t count = function_table_count(data->rows->functions);

	data->place_of_function = malloc((count + 1) * sizeof(uint32_t));
	if (!data->place_of_function)
		return false;
	memset(data->place_of_function, 0xff, (count + 1) * sizeof(uint32_t));
	for (size_t kind = 0; kind < ARRAY_SIZE(data->kinds); kind++) {
		const struct call_tree *tree = data->kinds[kind].tree;
		size_t nodes = 0;
		const struct call_node *node = tree ? call_tree_nodes(tree, &nodes) : NULL;

		for (size_t i = 0; i < nodes; i++) {
			uint32_t *item;

			if (node[i].type != CALL_NODE_FUNCTION ||
			    data->place_of_function[node[i].item] != NO_ROW)
				continue;
			data->place_of_function[node[i].item] = (uint32_t)data->functions.count;
			item = array_add(&data->functions);
			if (!item)
				return false;
			*item = node[i].item;
		}
	}
	return true;
}

static void write_states(struct json_writer *writer, const struct kind_ops *kind)
{
	json_writer_array_begin(writer, "states");
	for (uint8_t i = 0; kind->state_name && i < KIND_STATES; i++)
		json_writer_string(writer, NULL, kind->state_name(i));
	json_writer_array_end(writer);
}

static void write_kinds(struct json_writer *writer, const struct page_data *data)
{
	json_writer_object_begin(writer, "kinds");
	for (size_t i = 0; i < ARRAY_SIZE(data->kinds); i++) {
		const struct kind_ops *kind = kind_ops_of((enum pkbpf_profile_kind)i);
		size_t nodes;

		if (!data->kinds[i].tree)
			continue;
		call_tree_nodes(data->kinds[i].tree, &nodes);
		json_writer_object_begin(writer, kind->name);
		json_writer_string(writer, "title", kind->title);
		json_writer_string(writer, "unit", kind->count_unit);
		json_writer_bool(writer, "is_time", kind->weight == PROFILE_WEIGHT_NS);
		json_writer_bool(writer, "is_bytes", kind->weight == PROFILE_WEIGHT_BYTES);
		write_states(writer, kind);
		json_writer_u64(writer, "nodes", nodes);
		json_writer_u64(writer, "values", data->kinds[i].values.count);
		json_writer_u64(writer, "parts", data->kinds[i].parts.count);
		json_writer_object_end(writer);
	}
	json_writer_object_end(writer);
}

/* Where each slice begins and ends, from the begin of the profile; none: all is one. */
static void write_slices(struct json_writer *writer, const struct page_data *data)
{
	uint64_t start_ns = profile_info_read(data->rows->profile)->start_ns;

	json_writer_array_begin(writer, "slices");
	for (size_t i = 0; data->times && i < data->times->slices.count; i++) {
		const struct time_slice *slice = &data->times->slices.items[i];

		json_writer_array_begin(writer, NULL);
		json_writer_u64(writer, NULL,
				slice->start_ns > start_ns ? slice->start_ns - start_ns : 0);
		json_writer_u64(writer, NULL,
				slice->end_ns > start_ns ? slice->end_ns - start_ns : 0);
		json_writer_array_end(writer);
	}
	json_writer_array_end(writer);
}

static void write_samples(struct json_writer *writer, const struct page_data *data)
{
	json_writer_object_begin(writer, "samples");
	json_writer_u64(writer, "count", data->cells.count);
	json_writer_u64(writer, "cell_ns", CELL_NS);
	json_writer_object_end(writer);
}

/* Frames that say nothing of one place that they do not say of all. Every reader looks for main. */
static bool is_plumbing(const struct function *function)
{
	enum frame_sort sort = plumbing_sort(function);

	return sort == FRAME_INSIDE || sort == FRAME_IS_CALL ||
	       (sort == FRAME_BEGINS && strcmp(function->name, "main") != 0);
}

static void write_names(struct json_writer *writer, const struct page_data *data)
{
	json_writer_array_begin(writer, "functions");
	array_foreach(&data->functions, number) {
		const struct function *function =
			function_table_get(data->rows->functions, *number);
		bool is_unresolved = !function->named && function->mark != FUNCTION_TRUNCATED;

		json_writer_array_begin(writer, NULL);
		json_writer_string(writer, NULL, function->name);
		json_writer_i64(writer, NULL, is_unresolved ? -1 : (int64_t)function->mark);
		json_writer_string(writer, NULL, function->module);
		json_writer_u64(writer, NULL, is_plumbing(function));
		json_writer_array_end(writer);
	}
	json_writer_array_end(writer);
	json_writer_array_begin(writer, "threads");
	array_foreach(&data->threads, name)
		json_writer_string(writer, NULL, *name);
	json_writer_array_end(writer);
}

/* The report is a document of its own and stands last, so that it needs no place in ours. */
static int write_json(struct page_data *data, struct results *results,
		      const struct format_options *options, FILE *out)
{
	struct json_writer writer = {.out = out};
	int err;

	fputs("{\"report\": ", out);
	err = format_json.write(results, options, out);
	fputs(", \"data\": ", out);
	json_writer_object_begin(&writer, NULL);
	write_kinds(&writer, data);
	write_slices(&writer, data);
	write_samples(&writer, data);
	write_names(&writer, data);
	json_writer_object_end(&writer);
	fputs("}", out);
	return err;
}

/* Columns begin where numbers of 8 bytes may. */
static void pad(FILE *out, size_t written)
{
	static const char zeros[8];

	fwrite(zeros, 1, -written % sizeof(zeros), out);
}

#define WRITE_COLUMN(data, type, count, expression)                                                \
	do {                                                                                       \
		for (size_t i = 0; i < (count); i++) {                                             \
			type number_ = (type)(expression);                                         \
			fwrite(&number_, sizeof(number_), 1, (data)->out);                         \
		}                                                                                  \
		pad((data)->out, (count) * sizeof(type));                                          \
	} while (0)

static int32_t name_of_node(const struct page_data *data, size_t kind,
			    const struct call_node *nodes, size_t node)
{
	const uint64_t *thread;

	if (nodes[node].type == CALL_NODE_FUNCTION)
		return (int32_t)data->place_of_function[nodes[node].item];
	thread = hash_map_find(&data->thread_of_node, (uint64_t)kind << 32 | node);
	return thread ? -1 - (int32_t)*thread : 0;
}

static void write_nodes(struct page_data *data, size_t kind)
{
	size_t count;
	const struct call_node *nodes = call_tree_nodes(data->kinds[kind].tree, &count);

	WRITE_COLUMN(data, int32_t, count, name_of_node(data, kind, nodes, i));
	WRITE_COLUMN(data, uint16_t, count, nodes[i].depth);
}

static void write_values(struct page_data *data, const struct page_kind *kind)
{
	const struct page_value *values = kind->values.items;
	size_t count = kind->values.count;

	WRITE_COLUMN(data, uint32_t, count, call_tree_place(kind->tree, values[i].leaf));
	WRITE_COLUMN(data, uint32_t, count, values[i].row);
	WRITE_COLUMN(data, uint8_t, count, values[i].state);
	WRITE_COLUMN(data, double, count, values[i].value);
}

static void write_parts(struct page_data *data, const struct page_kind *kind)
{
	const struct page_part *parts = kind->parts.items;
	size_t count = kind->parts.count;

	WRITE_COLUMN(data, uint32_t, count, parts[i].value);
	WRITE_COLUMN(data, uint16_t, count, parts[i].slice);
	WRITE_COLUMN(data, float, count, parts[i].weight);
}

static void write_cells(struct page_data *data)
{
	const struct page_cell *cells = data->cells.items;
	size_t count = data->cells.count;

	WRITE_COLUMN(data, uint32_t, count, cells[i].cell);
	WRITE_COLUMN(data, uint32_t, count, cells[i].row);
	WRITE_COLUMN(data, uint16_t, count, cells[i].weight < 65535 ? cells[i].weight : 65535);
}

static int write_all(struct page_data *data, struct results *results,
		     const struct format_options *options)
{
	_cleanup_free_ char *json = NULL;
	size_t size;
	FILE *stream = open_memstream(&json, &size);
	uint32_t length;
	int err;

	if (!stream)
		return -ENOMEM;
	err = write_json(data, results, options, stream);
	if (fclose(stream) && !err)
		err = -ENOMEM;
	if (err)
		return err;
	length = htole32((uint32_t)size);
	fwrite(&length, sizeof(length), 1, data->out);
	fwrite(json, 1, size, data->out);
	pad(data->out, sizeof(length) + size);
	for (size_t i = 0; i < ARRAY_SIZE(data->kinds); i++)
		if (data->kinds[i].tree) {
			write_nodes(data, i);
			write_values(data, &data->kinds[i]);
			write_parts(data, &data->kinds[i]);
		}
	write_cells(data);
	return 0;
}

int page_data_write(struct results *results, const struct format_options *options, FILE *out)
{
	_cleanup_(page_data_done) struct page_data data = {.out = out};
	int err = results_rows(results, &data.rows);

	if (err)
		return err;
	data.times = profile_time_line(data.rows->profile);
	if (!index_rows(&data) || !add_weights(&data) || !add_parts(&data) || !add_cells(&data) ||
	    !number_threads(&data) || !number_functions(&data))
		return -ENOMEM;
	return write_all(&data, results, options);
}
