// SPDX-License-Identifier: BSD-2-Clause
// Resolves addresses by a table that the test gives.
#include "fake_symbols.h"

#include <stdlib.h>
#include <string.h>

struct fake_symbolizer {
	struct symbolizer symbolizer;
	const struct fake_symbol *symbols;
	size_t count;
	struct process_table *processes;
	size_t asked;
};

static const char *path_of(const struct fake_symbolizer *fake,
			   const struct frame_location *location)
{
	if (location->space != FRAME_FILE)
		return "";
	return mapped_file_table_get(process_table_files(fake->processes), location->object)->path;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static struct symbol default_symbol(const struct frame_location *location, const char *path)
{
	struct symbol symbol = {.result = SYMBOL_UNMAPPED, .module_address = location->address};

	switch (location->space) {
	case FRAME_FILE:
		symbol.result = SYMBOL_NOT_IN_TABLE;
		symbol.module = last_part(path);
		break;
	case FRAME_KERNEL:
		symbol.result = SYMBOL_NO_KALLSYMS;
		symbol.module = "kernel";
		symbol.flags = SYMBOL_IS_KERNEL;
		break;
	case FRAME_ANONYMOUS:
		symbol.result = SYMBOL_NO_PERF_MAP;
		symbol.flags = SYMBOL_IS_JIT;
		break;
	case FRAME_UNMAPPED:
	case FRAME_TRUNCATED:
	case FRAME_PYTHON:
	case FRAME_REGION:
	case FRAME_PEER:
		break;
	}
	return symbol;
}

static bool fake_resolve(struct symbolizer *symbolizer, const struct frame_location *location,
			 struct symbol *ret_symbol)
{
	struct fake_symbolizer *fake = (struct fake_symbolizer *)symbolizer;
	uint64_t address = location->address - location->is_return_address;
	const char *path = path_of(fake, location);

	fake->asked++;
	*ret_symbol = default_symbol(location, path);
	for (size_t i = 0; i < fake->count; i++) {
		const struct fake_symbol *symbol = &fake->symbols[i];

		if (symbol->space != location->space || address < symbol->start ||
		    address >= symbol->end ||
		    (symbol->space == FRAME_FILE && strcmp(symbol->path, path) != 0))
			continue;
		ret_symbol->result = symbol->result;
		ret_symbol->flags |= symbol->flags;
		ret_symbol->lines = symbol->lines;
		while (symbol->result == SYMBOL_FOUND &&
		       ret_symbol->line_count < FAKE_SYMBOL_LINES &&
		       symbol->lines[ret_symbol->line_count].function)
			ret_symbol->line_count++;
		break;
	}
	return true;
}

static void fake_free(struct symbolizer *symbolizer)
{
	free(symbolizer);
}

struct symbolizer *fake_symbols_new(const struct fake_symbol *symbols, size_t count,
				    struct process_table *processes)
{
	static const struct symbolizer_ops ops = {
		.name = "fake",
		.resolve = fake_resolve,
		.free = fake_free,
	};
	struct fake_symbolizer *fake = calloc(1, sizeof(*fake));

	if (!fake)
		abort();
	fake->symbolizer.ops = &ops;
	fake->symbols = symbols;
	fake->count = count;
	fake->processes = processes;
	return &fake->symbolizer;
}

size_t fake_symbols_asked(const struct symbolizer *symbolizer)
{
	return ((const struct fake_symbolizer *)symbolizer)->asked;
}
