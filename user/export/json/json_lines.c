// SPDX-License-Identifier: BSD-2-Clause
/* Writes the hottest lines of source of each kind. */
#include "base/cleanup.h"
#include "export/json/json_sections.h"
#include "profile/kind_table.h"
#include "rows/line_rows.h"

/* Lines written of a kind. */
#define LINES_MAX 100

static const char *const self_keys[] = {
	[PROFILE_WEIGHT_COUNT] = "self",
	[PROFILE_WEIGHT_NS] = "self_ns",
	[PROFILE_WEIGHT_BYTES] = "self_bytes",
};
static const char *const total_keys[] = {
	[PROFILE_WEIGHT_COUNT] = "total",
	[PROFILE_WEIGHT_NS] = "total_ns",
	[PROFILE_WEIGHT_BYTES] = "total_bytes",
};

static void write_line(struct json_writer *writer, const struct results *results,
		       const struct line_rows *lines, const struct line_row *row)
{
	const struct function *function = function_table_get(lines->functions, row->function);
	enum profile_weight weight = kind_ops_of(lines->kind)->weight;
	const char *text = line_rows_text(lines, row, results->profile, results->sources);

	json_writer_object_begin(writer, NULL);
	json_writer_string(writer, "file", function->file);
	json_writer_u64(writer, "line", function->line);
	json_writer_string(writer, "function", function->name);
	if (function->mark == FUNCTION_PYTHON)
		json_writer_bool(writer, function->is_ruby ? "ruby" : "python", true);
	json_writer_u64(writer, self_keys[weight], row->self);
	json_writer_u64(writer, total_keys[weight], row->total);
	json_writer_decimal(writer, "self_percent",
			    100 * (double)row->self / (double)lines->weight);
	json_writer_decimal(writer, "total_percent",
			    100 * (double)row->total / (double)lines->weight);
	if (text)
		json_writer_string(writer, "text", text);
	json_writer_object_end(writer);
}

static int write_kind(struct json_writer *writer, const struct results *results,
		      enum pkbpf_profile_kind kind)
{
	_cleanup_(line_rows_done) struct line_rows lines;
	int err = line_rows_init(&lines, results->profile, kind);

	if (err || !lines.count || !lines.weight)
		return err;
	json_writer_array_begin(writer, kind_ops_of(kind)->name);
	for (size_t i = 0; i < lines.count && i < LINES_MAX; i++)
		write_line(writer, results, &lines, &lines.rows[i]);
	json_writer_array_end(writer);
	return 0;
}

int json_lines(struct json_writer *writer, const struct results *results)
{
	uint32_t recorded = profile_info_read(results->profile)->kinds_mask;
	int err = 0;

	json_writer_object_begin(writer, "hottest_lines");
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS && !err; kind++)
		if (recorded & 1U << kind)
			err = write_kind(writer, results, kind);
	json_writer_object_end(writer);
	return err;
}
