// SPDX-License-Identifier: BSD-2-Clause
/* Maps frames to their functions. */
#include "profile/function_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash_map.h"
#include "base/string_pool.h"
#include "profile/stack_end.h"
#include "python/python_code.h"

struct function_key {
	uint32_t name, module, file, path; /* string ids */
	uint32_t line;
	uint32_t mark;
	uint32_t named;
	uint32_t is_ruby;
};

struct frame_span {
	size_t first;
	size_t count;
};

struct function_table {
	struct function_table_options options;
	struct string_pool *strings;
	ARRAY_OF(struct function_key) keys;
	ARRAY_OF(struct function) functions;
	struct hash_index index;
	ARRAY_OF(uint32_t) lists; /* function ids, for one frame after the other */
	ARRAY_OF(struct frame_span) spans;
	uint64_t seed;
};

static bool key_equal(const void *context, uint32_t item, const void *key)
{
	const struct function_table *table = context;
	const struct function_key *a = &table->keys.items[item], *b = key;

	return a->name == b->name && a->module == b->module && a->file == b->file &&
	       a->path == b->path && a->line == b->line && a->mark == b->mark &&
	       a->named == b->named && a->is_ruby == b->is_ruby;
}

static uint32_t intern_function(struct function_table *table, const struct function *function)
{
	struct function_key key = {
		.name = string_pool_add(table->strings, function->name),
		.module = string_pool_add(table->strings, function->module),
		.file = string_pool_add(table->strings, function->file),
		.path = string_pool_add(table->strings, function->path ? function->path : ""),
		.line = function->line,
		.mark = function->mark,
		.named = function->named,
		.is_ruby = function->is_ruby,
	};
	struct function *added;
	uint64_t hash;
	uint32_t id;

	if (key.name == STRING_POOL_NONE || key.module == STRING_POOL_NONE ||
	    key.file == STRING_POOL_NONE || key.path == STRING_POOL_NONE)
		return UINT32_MAX;
	hash = hash_bytes(&key, sizeof(key), table->seed);
	id = hash_index_find(&table->index, hash, key_equal, table, &key);
	if (id != HASH_INDEX_NONE)
		return id;
	id = (uint32_t)table->functions.count;
	if (id == UINT32_MAX || !array_reserve(&table->functions, table->functions.count + 1) ||
	    !array_reserve(&table->keys, table->keys.count + 1) ||
	    !hash_index_add(&table->index, hash, id))
		return UINT32_MAX;
	*array_add(&table->keys) = key;
	added = array_add(&table->functions);
	*added = *function;
	added->name = string_pool_get(table->strings, key.name);
	added->module = string_pool_get(table->strings, key.module);
	added->file = string_pool_get(table->strings, key.file);
	added->path = string_pool_get(table->strings, key.path);
	return id;
}

static bool add_to_frame(struct function_table *table, const struct function *function)
{
	uint32_t id = intern_function(table, function);
	uint32_t *item = id == UINT32_MAX ? NULL : array_add(&table->lists);

	if (!item)
		return false;
	*item = id;
	return true;
}

static uint64_t unnamed_address(const struct symbol *symbol)
{
	return symbol->function_address ? symbol->function_address : symbol->module_address;
}

static bool add_unnamed(struct function_table *table, const struct frame *frame,
			enum function_mark mark)
{
	const struct symbol *symbol = &frame->symbol;
	/* A module name is the last part of a path: at most 255 bytes on Linux. */
	char name[320] = "[unknown]";
	bool has_module = symbol->module && symbol->module[0];

	if (has_module) {
		/* Names like "[vdso]" already have brackets. */
		bool bracketed = symbol->module[0] == '[';
		size_t length = __builtin_strlen(symbol->module);

		if (bracketed && length > 2 && symbol->module[length - 1] == ']')
			length -= 2;
		else
			bracketed = false;
		if (length > 255)
			length = 255;
		/* An unresolved function is identified by its start address. Without that, a
		 * table of functions can show only the module. Kernel addresses are not shown. */
		if ((table->options.merge && !symbol->function_address) ||
		    frame->location.space == FRAME_KERNEL)
			snprintf(name, sizeof(name), "[%.*s]", (int)length,
				 symbol->module + bracketed);
		else
			snprintf(name, sizeof(name), "[%.*s+0x%llx]", (int)length,
				 symbol->module + bracketed,
				 (unsigned long long)unnamed_address(symbol));
	}
	return add_to_frame(table, &(struct function){
					   .name = name,
					   .module = has_module ? symbol->module : "",
					   .file = "",
					   /* Scripts look for the bare "[unknown]". */
					   .mark = has_module ? mark : FUNCTION_PLAIN,
				   });
}

static enum function_mark mark_of(const struct frame *frame)
{
	if (frame->location.space == FRAME_PEER)
		return FUNCTION_TRUNCATED;
	if (frame->location.space == FRAME_KERNEL || frame->symbol.flags & SYMBOL_IS_KERNEL)
		return FUNCTION_KERNEL;
	if (frame->symbol.flags & SYMBOL_IS_PYTHON)
		return FUNCTION_PYTHON;
	return frame->symbol.flags & SYMBOL_IS_JIT ? FUNCTION_JIT : FUNCTION_PLAIN;
}

static bool add_truncated(struct function_table *table, enum pkbpf_stack_end end)
{
	return add_to_frame(table, &(struct function){
					   .name = stack_end_line(end)->function,
					   .module = "",
					   .file = "",
					   .mark = FUNCTION_TRUNCATED,
				   });
}

/* Names of Python functions say little without their file: every other class has a "run". */
static bool add_python(struct function_table *table, const struct symbol *symbol,
		       const struct symbol_line *line)
{
	bool with_line = table->options.lines && line->file && line->line;
	struct function function = {
		.name = line->function,
		.module = symbol->module ? symbol->module : "",
		.file = with_line ? line->file : "",
		.path = line->file,
		.line = with_line ? line->line : 0,
		.mark = FUNCTION_PYTHON,
		.named = true,
		.is_ruby = symbol->flags & SYMBOL_IS_RUBY,
	};
	_cleanup_free_ char *name = NULL;

	if (line->file && !with_line) {
		if (asprintf(&name, "%s (%s)", line->function, python_short_path(line->file)) < 0)
			return false;
		function.name = name;
	}
	return add_to_frame(table, &function);
}

static bool add_line(struct function_table *table, const struct symbol *symbol,
		     const struct symbol_line *line, enum function_mark mark)
{
	bool inlined = line->inlined && !table->options.merge;
	struct function function = {
		.name = line->function,
		.module = symbol->module ? symbol->module : "",
		.file = table->options.lines && line->file ? line->file : "",
		.line = table->options.lines ? line->line : 0,
		.mark = inlined ? FUNCTION_INLINED : mark,
		.named = true,
	};

	return mark == FUNCTION_PYTHON ? add_python(table, symbol, line)
				       : add_to_frame(table, &function);
}

/* Adds the functions of a symbol: inlined ones, and the one that contains them. */
static bool add_lines(struct function_table *table, const struct symbol *symbol,
		      enum function_mark mark)
{
	for (size_t i = 0; i < symbol->line_count; i++) {
		const struct symbol_line *line = &symbol->lines[i];

		if (line->function && line->function[0] && !add_line(table, symbol, line, mark))
			return false;
	}
	return true;
}

/* Regions and pkbpf's own work are no code of a module: their names in brackets stay. */
static bool is_named_only(const struct symbol *symbol)
{
	const char *name = symbol->line_count ? symbol->lines[0].function : NULL;

	return !(symbol->module && symbol->module[0]) && name && name[0] == '[' &&
	       !(symbol->flags & SYMBOL_IS_JIT);
}

/* Ends of stacks and peers have no module, and stay what they are. */
static bool add_module(struct function_table *table, const struct frame *frame)
{
	const struct symbol *symbol = &frame->symbol;
	enum function_mark mark = mark_of(frame);
	bool has_module = symbol->module && symbol->module[0];

	return add_to_frame(table, &(struct function){
					   .name = has_module		  ? symbol->module
						   : mark == FUNCTION_JIT ? "[jit]"
									  : "[unknown]",
					   .module = "",
					   .file = "",
					   .mark = mark,
					   .named = has_module || mark == FUNCTION_JIT,
				   });
}

static bool add_frame(struct function_table *table, const struct frame *frame)
{
	struct frame_span *span = array_add(&table->spans);
	bool added;

	if (!span)
		return false;
	span->first = table->lists.count;
	if (frame->symbol.flags & SYMBOL_IS_GLUE)
		return true;
	if (frame->location.space == FRAME_TRUNCATED)
		added = add_truncated(table, (enum pkbpf_stack_end)frame->location.address);
	else if (table->options.modules && frame->location.space != FRAME_PEER &&
		 !is_named_only(&frame->symbol))
		added = add_module(table, frame);
	else
		added = add_lines(table, &frame->symbol, mark_of(frame));
	if (added && table->lists.count == span->first)
		added = add_unnamed(table, frame, mark_of(frame));
	if (!added)
		return false;
	span->count = table->lists.count - span->first;
	return true;
}

struct function_table *function_table_new(const struct profile *profile,
					  const struct function_table_options *options)
{
	struct function_table *table = calloc(1, sizeof(*table));
	size_t frame_count = profile_frame_count(profile);

	if (!table)
		return NULL;
	table->options = *options;
	table->seed = hash_random_seed();
	table->strings = string_pool_new();
	if (!table->strings || !array_reserve(&table->spans, frame_count) ||
	    !array_reserve(&table->lists, frame_count))
		goto fail;
	for (size_t i = 0; i < frame_count; i++)
		if (!add_frame(table, profile_frame(profile, (uint32_t)i)))
			goto fail;
	return table;
fail:
	function_table_free(table);
	return NULL;
}

void function_table_free(struct function_table *table)
{
	if (!table)
		return;
	string_pool_free(table->strings);
	array_free(&table->keys);
	array_free(&table->functions);
	hash_index_done(&table->index);
	array_free(&table->lists);
	array_free(&table->spans);
	free(table);
}

size_t function_table_count(const struct function_table *table)
{
	return table->functions.count;
}

const struct function *function_table_get(const struct function_table *table, uint32_t function)
{
	return function < table->functions.count ? &table->functions.items[function] : NULL;
}

const char *function_file_name(const struct function *function)
{
	const char *slash = strrchr(function->file, '/');

	if (function->mark == FUNCTION_PYTHON)
		return python_short_path(function->file);
	return slash ? slash + 1 : function->file;
}

size_t function_table_find_python(const struct function_table *table, const uint32_t *functions,
				  size_t count)
{
	size_t at = 0;

	while (at < count && function_table_get(table, functions[at])->mark != FUNCTION_PYTHON)
		at++;
	return at;
}

const uint32_t *function_table_frame(const struct function_table *table, uint32_t frame,
				     size_t *ret_count)
{
	const struct frame_span *span;

	if (frame >= table->spans.count) {
		*ret_count = 0;
		return NULL;
	}
	span = &table->spans.items[frame];
	*ret_count = span->count;
	return &table->lists.items[span->first];
}

size_t function_table_stack(const struct function_table *table, const struct profile *profile,
			    uint32_t stack, uint32_t *ret_functions, size_t max)
{
	size_t frame_count, function_count, total = 0;
	const uint32_t *frames = profile_stack(profile, stack, &frame_count);

	for (size_t i = 0; i < frame_count; i++) {
		const uint32_t *functions = function_table_frame(table, frames[i], &function_count);

		for (size_t j = 0; j < function_count; j++, total++) {
			if (total < max)
				ret_functions[total] = functions[j];
		}
	}
	return total;
}
