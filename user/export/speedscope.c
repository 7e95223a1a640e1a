// SPDX-License-Identifier: BSD-2-Clause
/* Writes speedscope's own format: all kinds of one profile in a file, one behind each entry of its
 * menu. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash_map.h"
#include "export/formats.h"
#include "export/json/json_writer.h"
#include "profile/function_table.h"
#include "profile/kind_table.h"

DEFINE_CLEANUP(struct function_table *, function_table_free)

struct speedscope {
	const struct profile *profile;
	const struct function_table *functions;
	/* Frames by what they stand for, and the other way round. They are numbered as samples meet
	 * them, whatever else is in the tables: equal profiles give equal files. */
	struct hash_map frame_of;
	ARRAY_OF(uint64_t) frames;
	struct json_writer writer;
	ARRAY_OF(uint32_t) stack; /* of the sample at hand, root first */
};

static void speedscope_done(struct speedscope *scope)
{
	hash_map_done(&scope->frame_of);
	array_free(&scope->frames);
	array_free(&scope->stack);
}

/* A frame stands for a function, or for the name of a thread: a string of the profile. */
#define THREAD (1ULL << 32)

static bool push(struct speedscope *scope, uint64_t meaning)
{
	bool added;
	const uint64_t *frame =
		hash_map_get(&scope->frame_of, meaning, scope->frames.count, &added);
	uint64_t *new_frame = frame && added ? array_add(&scope->frames) : NULL;
	uint32_t *item = array_add(&scope->stack);

	if (!frame || (added && !new_frame) || !item)
		return false;
	if (added)
		*new_frame = meaning;
	*item = (uint32_t)*frame;
	return true;
}

static void write_function(struct speedscope *scope, uint32_t id)
{
	const struct function *function = function_table_get(scope->functions, id);

	json_writer_string(&scope->writer, "name", function->name);
	if (function->file[0] || function->path[0])
		json_writer_string(&scope->writer, "file",
				   function->file[0] ? function->file : function->path);
	else if (function->module[0])
		json_writer_string(&scope->writer, "file", function->module);
	if (function->file[0] && function->line)
		json_writer_u64(&scope->writer, "line", function->line);
}

static void write_frames(struct speedscope *scope)
{
	json_writer_object_begin(&scope->writer, "shared");
	json_writer_array_begin(&scope->writer, "frames");
	array_foreach(&scope->frames, frame) {
		json_writer_object_begin(&scope->writer, NULL);
		if (*frame & THREAD)
			json_writer_string(&scope->writer, "name",
					   profile_string(scope->profile, (uint32_t)*frame));
		else
			write_function(scope, (uint32_t)*frame);
		json_writer_object_end(&scope->writer);
	}
	json_writer_array_end(&scope->writer);
	json_writer_object_end(&scope->writer);
}

static bool write_stack(struct speedscope *scope, const struct profile_row *row)
{
	size_t frame_count, function_count;
	const uint32_t *frames = profile_stack(scope->profile, row->stack, &frame_count);

	scope->stack.count = 0;
	if (!push(scope, THREAD | row->comm))
		return false;
	for (size_t i = frame_count; i-- > 0;) {
		const uint32_t *list =
			function_table_frame(scope->functions, frames[i], &function_count);

		while (function_count-- > 0)
			if (!push(scope, list[function_count]))
				return false;
	}
	json_writer_numbers(&scope->writer, NULL, scope->stack.items, scope->stack.count);
	return true;
}

static bool write_samples(struct speedscope *scope, enum pkbpf_profile_kind kind)
{
	size_t count;
	const struct profile_row *rows = profile_rows(scope->profile, &count);

	json_writer_array_begin(&scope->writer, "samples");
	for (size_t i = 0; i < count; i++)
		if (rows[i].kind == kind && !write_stack(scope, &rows[i]))
			return false;
	json_writer_array_end(&scope->writer);
	json_writer_array_begin(&scope->writer, "weights");
	for (size_t i = 0; i < count; i++)
		if (rows[i].kind == kind)
			json_writer_u64(&scope->writer, NULL, rows[i].weight);
	json_writer_array_end(&scope->writer);
	return true;
}

static bool write_kind(struct speedscope *scope, enum pkbpf_profile_kind kind)
{
	const struct kind_ops *ops = kind_ops_of(kind);
	struct json_writer *writer = &scope->writer;
	uint64_t sum = 0;
	size_t count;
	const struct profile_row *rows = profile_rows(scope->profile, &count);

	for (size_t i = 0; i < count; i++)
		sum += rows[i].kind == kind ? rows[i].weight : 0;
	if (!sum)
		return true;
	json_writer_object_begin(writer, NULL);
	json_writer_string(writer, "type", "sampled");
	json_writer_string(writer, "name", ops->title);
	json_writer_string(writer, "unit",
			   ops->weight == PROFILE_WEIGHT_NS	 ? "nanoseconds"
			   : ops->weight == PROFILE_WEIGHT_BYTES ? "bytes"
								 : "none");
	json_writer_u64(writer, "startValue", 0);
	json_writer_u64(writer, "endValue", sum);
	if (!write_samples(scope, kind))
		return false;
	json_writer_object_end(writer);
	return true;
}

static int speedscope_write(struct results *results, const struct format_options *options,
			    FILE *out)
{
	struct function_table_options wanted = {.lines = options->lines};
	_cleanup_(function_table_free_cleanup) struct function_table *functions =
		function_table_new(results->profile, &wanted);
	_cleanup_(speedscope_done) struct speedscope scope = {
		.profile = results->profile, .functions = functions, .writer = {.out = out}};

	if (!functions)
		return -ENOMEM;
	json_writer_object_begin(&scope.writer, NULL);
	json_writer_string(&scope.writer, "$schema",
			   "https://www.speedscope.app/file-format-schema.json");
	json_writer_string(&scope.writer, "exporter", "pkbpf@" PKBPF_VERSION);
	json_writer_string(&scope.writer, "name", profile_info_read(results->profile)->targets);
	json_writer_array_begin(&scope.writer, "profiles");
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
		if (!write_kind(&scope, (enum pkbpf_profile_kind)kind))
			return -ENOMEM;
	json_writer_array_end(&scope.writer);
	write_frames(&scope);
	json_writer_object_end(&scope.writer);
	fputc('\n', out);
	return 0;
}

const struct format_ops format_speedscope = {
	.file = {"speedscope", ".speedscope.json", "for speedscope.app, all kinds in one file"},
	.only_stacks = true,
	.write = speedscope_write,
};
