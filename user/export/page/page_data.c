// SPDX-License-Identifier: BSD-2-Clause
/* Numbers what was gathered, and writes it. */
#include "export/page/page_data.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "export/formats.h"
#include "export/json/json_writer.h"
#include "export/page/page_column.h"
#include "export/page/page_data_private.h"
#include "export/page/page_owners.h"
#include "profile/kind_table.h"
#include "rows/gpu_call.h"
#include "rows/plumbing.h"

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
	hash_map_done(&data->owners);
	page_lanes_done(&data->lanes);
	array_free(&data->cells);
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

static bool number_function(struct page_data *data, uint32_t function)
{
	uint32_t *item;

	if (data->place_of_function[function] != NO_ROW)
		return true;
	data->place_of_function[function] = (uint32_t)data->functions.count;
	item = array_add(&data->functions);
	if (!item)
		return false;
	*item = function;
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

		for (size_t i = 0; i < nodes; i++)
			if (node[i].type == CALL_NODE_FUNCTION &&
			    !number_function(data, node[i].item))
				return false;
	}
	array_foreach(&data->lanes.functions, function)
		if (!number_function(data, *function))
			return false;
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
		json_writer_bool(writer, "is_level", kind->is_level);
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

/* 2: below it all time is that of waiting for a GPU; 1: time asleep is; 0: none. */
static unsigned int gpu_wait_of(const struct function *function)
{
	return gpu_call_spins(function) ? 2 : gpu_call_waits(function) ? 1 : 0;
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
		json_writer_u64(writer, NULL, gpu_wait_of(function));
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
	struct format_options without_stacks = *options;
	int err;

	/* The page has them as trees. */
	without_stacks.no_row_stacks = true;
	fputs("{\"report\": ", out);
	err = format_json.write(results, &without_stacks, out);
	fputs(", \"data\": ", out);
	json_writer_object_begin(&writer, NULL);
	write_kinds(&writer, data);
	write_slices(&writer, data);
	write_samples(&writer, data);
	page_lanes_write(&data->lanes, &data->owners, &writer);
	write_names(&writer, data);
	json_writer_object_end(&writer);
	fputs("}", out);
	return err;
}

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

	PAGE_COLUMN(data->out, int32_t, count, name_of_node(data, kind, nodes, i));
	PAGE_COLUMN(data->out, uint16_t, count, nodes[i].depth);
}

static void write_values(struct page_data *data, const struct page_kind *kind)
{
	const struct page_value *values = kind->values.items;
	size_t count = kind->values.count;

	PAGE_COLUMN(data->out, uint32_t, count, call_tree_place(kind->tree, values[i].leaf));
	PAGE_COLUMN(data->out, uint32_t, count, values[i].row);
	PAGE_COLUMN(data->out, uint8_t, count, values[i].state);
	PAGE_COLUMN(data->out, double, count, values[i].value);
}

static void write_parts(struct page_data *data, const struct page_kind *kind)
{
	const struct page_part *parts = kind->parts.items;
	size_t count = kind->parts.count;

	PAGE_COLUMN(data->out, uint32_t, count, parts[i].value);
	PAGE_COLUMN(data->out, uint16_t, count, parts[i].slice);
	PAGE_COLUMN(data->out, float, count, parts[i].weight);
}

static void write_cells(struct page_data *data)
{
	const struct page_cell *cells = data->cells.items;
	size_t count = data->cells.count;

	PAGE_COLUMN(data->out, uint32_t, count, cells[i].cell);
	PAGE_COLUMN(data->out, uint32_t, count, cells[i].row);
	PAGE_COLUMN(data->out, uint16_t, count, cells[i].weight < 65535 ? cells[i].weight : 65535);
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
	page_column_pad(data->out, sizeof(length) + size);
	for (size_t i = 0; i < ARRAY_SIZE(data->kinds); i++)
		if (data->kinds[i].tree) {
			write_nodes(data, i);
			write_values(data, &data->kinds[i]);
			write_parts(data, &data->kinds[i]);
		}
	write_cells(data);
	page_lanes_write_columns(&data->lanes, data->place_of_function, data->out);
	return 0;
}

/* In the order in which they use each other. */
static bool gather(struct page_data *data)
{
	return page_values_index_rows(data) && page_values_add(data) &&
	       page_values_add_parts(data) &&
	       page_owners_map(data->rows, data->index_of_number, data->number_count,
			       &data->owners) &&
	       page_samples_add(data) && page_lanes_make(&data->lanes, data->rows) == 0 &&
	       number_threads(data) && number_functions(data);
}

int page_data_write(struct results *results, const struct format_options *options, FILE *out)
{
	_cleanup_(page_data_done) struct page_data data = {.out = out};
	int err = results_rows(results, &data.rows);

	if (err)
		return err;
	data.times = profile_time_line(data.rows->profile);
	return gather(&data) ? write_all(&data, results, options) : -ENOMEM;
}
