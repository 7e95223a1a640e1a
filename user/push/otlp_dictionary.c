// SPDX-License-Identifier: BSD-2-Clause
#include "push/otlp_dictionary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/escape.h"

static const char *const table_names[OTLP_TABLES] = {
	[OTLP_MAPPINGS] = "mappingTable",     [OTLP_LOCATIONS] = "locationTable",
	[OTLP_FUNCTIONS] = "functionTable",   [OTLP_STACKS] = "stackTable",
	[OTLP_ATTRIBUTES] = "attributeTable",
};

bool otlp_dictionary_init(struct otlp_dictionary *dictionary, const struct profile *profile)
{
	*dictionary = (struct otlp_dictionary){.profile = profile, .strings = string_pool_new()};
	for (size_t i = 0; i < OTLP_TABLES; i++) {
		struct otlp_rows *rows = &dictionary->tables[i];

		rows->out = open_memstream(&rows->text, &rows->size);
		if (!rows->out)
			return false;
		fputs("{}", rows->out);
		rows->count = 1;
	}
	return dictionary->strings;
}

void otlp_dictionary_done(struct otlp_dictionary *dictionary)
{
	for (size_t i = 0; i < OTLP_TABLES; i++) {
		struct otlp_rows *rows = &dictionary->tables[i];

		if (rows->out)
			fclose(rows->out);
		free(rows->text);
		hash_map_done(&rows->known);
	}
	if (dictionary->strings)
		string_pool_free(dictionary->strings);
}

uint32_t otlp_dictionary_string(struct otlp_dictionary *dictionary, const char *text)
{
	uint32_t id = text ? string_pool_add(dictionary->strings, text) : 0;

	if (id != STRING_POOL_NONE)
		return id;
	dictionary->has_no_memory = true;
	return 0;
}

/* The index of a row with this key. *ret_out: where it has to be written; NULL: it is known, or
 * there is no memory. */
static uint32_t row_of(struct otlp_dictionary *dictionary, enum otlp_table table, uint64_t key,
		       FILE **ret_out)
{
	struct otlp_rows *rows = &dictionary->tables[table];
	bool added;
	uint64_t *index = hash_map_get(&rows->known, key, rows->count, &added);

	*ret_out = NULL;
	if (!index) {
		dictionary->has_no_memory = true;
		return 0;
	}
	if (added) {
		rows->count++;
		*ret_out = rows->out;
		fputc(',', rows->out);
	}
	return (uint32_t)*index;
}

uint32_t otlp_dictionary_attribute(struct otlp_dictionary *dictionary, const char *key,
				   const char *text, uint64_t number)
{
	uint32_t name = otlp_dictionary_string(dictionary, key);
	uint64_t value = text ? otlp_dictionary_string(dictionary, text) : number;
	FILE *out;
	/* No key has both texts and numbers. */
	uint32_t index = row_of(dictionary, OTLP_ATTRIBUTES, (uint64_t)name << 48 | value, &out);

	if (!out)
		return index;
	fprintf(out, "{\"keyStrindex\":%" PRIu32 ",\"value\":{", name);
	if (text) {
		fputs("\"stringValue\":", out);
		escape_json(out, text);
	} else {
		fprintf(out, "\"intValue\":\"%" PRIu64 "\"", number);
	}
	fputs("}}", out);
	return index;
}

/* ---- places ---- */

static uint32_t mapping_of(struct otlp_dictionary *dictionary, const struct symbol *symbol)
{
	uint32_t module = otlp_dictionary_string(dictionary, symbol->module), build_id = 0;
	FILE *out;
	uint32_t index;

	if (!module)
		return 0;
	if (symbol->build_id && *symbol->build_id)
		build_id = otlp_dictionary_attribute(dictionary, "process.executable.build_id.gnu",
						     symbol->build_id, 0);
	index = row_of(dictionary, OTLP_MAPPINGS, (uint64_t)module << 32 | build_id, &out);
	if (!out)
		return index;
	fprintf(out, "{\"filenameStrindex\":%" PRIu32, module);
	if (build_id)
		fprintf(out, ",\"attributeIndices\":[%" PRIu32 "]", build_id);
	fputc('}', out);
	return index;
}

static uint32_t function_of(struct otlp_dictionary *dictionary, const struct symbol_line *line)
{
	uint32_t name = otlp_dictionary_string(dictionary, line->function),
		 file = otlp_dictionary_string(dictionary, line->file);
	FILE *out;
	uint32_t index = row_of(dictionary, OTLP_FUNCTIONS, (uint64_t)name << 32 | file, &out);

	if (!out)
		return index;
	fprintf(out, "{\"nameStrindex\":%" PRIu32, name);
	if (file)
		fprintf(out, ",\"filenameStrindex\":%" PRIu32, file);
	fputc('}', out);
	return index;
}

/* As the semantic conventions name them; NULL: another run-time's, which is not known. */
static const char *frame_type(const struct symbol *symbol)
{
	if (symbol->flags & SYMBOL_IS_KERNEL)
		return "kernel";
	if (symbol->flags & SYMBOL_IS_PYTHON)
		return symbol->flags & SYMBOL_IS_RUBY ? "ruby" : "cpython";
	return symbol->flags & SYMBOL_IS_JIT ? NULL : "native";
}

static void write_lines(struct otlp_dictionary *dictionary, const struct symbol *symbol, FILE *out)
{
	fputs(",\"lines\":[", out);
	for (size_t i = 0; i < symbol->line_count; i++) {
		fprintf(out, "%s{\"functionIndex\":%" PRIu32, i ? "," : "",
			function_of(dictionary, &symbol->lines[i]));
		if (symbol->lines[i].line)
			fprintf(out, ",\"line\":\"%" PRIu32 "\"", symbol->lines[i].line);
		fputc('}', out);
	}
	fputc(']', out);
}

static uint32_t location_of(struct otlp_dictionary *dictionary, uint32_t frame)
{
	const struct symbol *symbol = &profile_frame(dictionary->profile, frame)->symbol;
	uint32_t mapping = mapping_of(dictionary, symbol), index;
	const char *type = frame_type(symbol);
	FILE *out;

	index = row_of(dictionary, OTLP_LOCATIONS, frame, &out);
	if (!out)
		return index;
	fprintf(out, "{\"mappingIndex\":%" PRIu32 ",\"address\":\"%" PRIu64 "\"", mapping,
		symbol->module_address);
	if (symbol->line_count)
		write_lines(dictionary, symbol, out);
	if (type)
		fprintf(out, ",\"attributeIndices\":[%" PRIu32 "]",
			otlp_dictionary_attribute(dictionary, "profile.frame.type", type, 0));
	fputc('}', out);
	return index;
}

uint32_t otlp_dictionary_stack(struct otlp_dictionary *dictionary, uint32_t stack)
{
	size_t count;
	const uint32_t *frames = profile_stack(dictionary->profile, stack, &count);
	const char *comma = "";
	FILE *out;
	uint32_t index = row_of(dictionary, OTLP_STACKS, stack, &out);

	if (!out)
		return index;
	fputs("{\"locationIndices\":[", out);
	for (size_t i = 0; i < count; i++) {
		if (profile_frame(dictionary->profile, frames[i])->symbol.flags & SYMBOL_IS_GLUE)
			continue;
		fprintf(out, "%s%" PRIu32, comma, location_of(dictionary, frames[i]));
		comma = ",";
	}
	fputs("]}", out);
	return index;
}

int otlp_dictionary_write(struct otlp_dictionary *dictionary, FILE *out)
{
	fputs("\"dictionary\":{\"linkTable\":[{}],\"stringTable\":[", out);
	for (size_t i = 0; i < string_pool_count(dictionary->strings); i++) {
		if (i)
			fputc(',', out);
		escape_json(out, string_pool_get(dictionary->strings, (uint32_t)i));
	}
	fputc(']', out);
	for (size_t i = 0; i < OTLP_TABLES; i++) {
		struct otlp_rows *rows = &dictionary->tables[i];

		if (fflush(rows->out) == EOF)
			dictionary->has_no_memory = true;
		else
			fprintf(out, ",\"%s\":[%s]", table_names[i], rows->text);
	}
	fputc('}', out);
	return dictionary->has_no_memory ? -ENOMEM : 0;
}
