// SPDX-License-Identifier: BSD-2-Clause
/* Names Python frames: function, file and the line that ran. */
#include "symbol/python_symbolizer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "python/python_functions.h"
#include "symbol/symbol_notes.h"

struct python_symbolizer {
	struct symbolizer symbolizer;
	const struct python_functions *functions;
	struct symbol_line line; /* of the last answer */
};

static void name_function(struct python_symbolizer *self, const struct python_code *code,
			  uint32_t line, struct symbol *symbol)
{
	self->line = (struct symbol_line){
		.function = code->name,
		.file = code->file,
		.line = line,
	};
	symbol->module = python_short_path(code->file);
	if (python_code_is_ruby(code))
		symbol->flags |= SYMBOL_IS_RUBY;
}

static bool resolve(struct symbolizer *symbolizer, const struct frame_location *location,
		    struct symbol *ret_symbol)
{
	struct python_symbolizer *self = (struct python_symbolizer *)symbolizer;
	const struct python_code *code;

	if (location->space != FRAME_PYTHON)
		return false;
	*ret_symbol = (struct symbol){.result = SYMBOL_FOUND, .flags = SYMBOL_IS_PYTHON};
	code = python_functions_get(self->functions, location->object);
	if (code) {
		name_function(self, code, (uint32_t)location->address, ret_symbol);
	} else if (location->address == PYTHON_UNKNOWN_IS_RUBY) {
		self->line = (struct symbol_line){.function = "[ruby]"};
		ret_symbol->flags |= SYMBOL_IS_RUBY;
	} else { /* Its code object was not readable, or there are too many functions. */
		self->line = (struct symbol_line){.function = "[python]"};
	}
	ret_symbol->lines = &self->line;
	ret_symbol->line_count = 1;
	return true;
}

static void tell(struct symbolizer *symbolizer, struct symbol_notes *notes)
{
	const struct python_symbolizer *self = (const struct python_symbolizer *)symbolizer;
	uint64_t refused = python_functions_refused(self->functions);

	if (refused)
		symbol_notes_add(notes,
				 "%" PRIu64 " Python functions have no names: programs that make "
				 "functions without end have filled the 64 MiB kept for them; "
				 "start pkbpf again",
				 refused);
}

static void free_symbolizer(struct symbolizer *symbolizer)
{
	free(symbolizer);
}

static const struct symbolizer_ops python_ops = {
	.name = "python",
	.resolve = resolve,
	.tell = tell,
	.free = free_symbolizer,
};

struct symbolizer *python_symbolizer_new(const struct python_functions *functions)
{
	struct python_symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));

	if (!symbolizer)
		return NULL;
	symbolizer->symbolizer.ops = &python_ops;
	symbolizer->functions = functions;
	return &symbolizer->symbolizer;
}
