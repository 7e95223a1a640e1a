// SPDX-License-Identifier: BSD-2-Clause
/* The table of names: src/builtins/builtins-definitions.h. */
#include "symbol/v8_glue.h"

#include <string.h>

#include "base/array.h"

static const char prefix[] = "Builtins_";

/* What these begin with. */
static const char *const passing[] = {
	"InterpreterEntryTrampoline",
	"InterpreterPushArgs",
	"JSEntry",
	"Call_",
	"CallFunction_",
	"CEntry_",
	"WasmCEntry",
	"Construct",
	"JSConstruct",
	"JSBuiltinsConstruct",
	"FastConstruct",
	"InterpreterOnStackReplacement",
	"BaselineOutOfLinePrologue",
	"BaselineLeaveFrame",
};

/* Bytecode handlers are the interpreter: "LdaGlobalHandler", "ShortStarHandler". */
static bool is_handler(const char *name)
{
	static const char end[] = "Handler";
	size_t length = strlen(name);

	return length > sizeof(end) - 1 && !strcmp(name + length - (sizeof(end) - 1), end);
}

static bool is_glue(const char *name)
{
	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return false;
	name += sizeof(prefix) - 1;
	for (size_t i = 0; i < ARRAY_SIZE(passing); i++)
		if (!strncmp(name, passing[i], strlen(passing[i])))
			return true;
	return is_handler(name);
}

void v8_glue_mark(struct symbol *symbol, enum frame_neighbours neighbours)
{
	if (neighbours == FRAME_AMONG_JAVASCRIPT && symbol->line_count == 1 &&
	    symbol->lines[0].function && is_glue(symbol->lines[0].function))
		symbol->flags |= SYMBOL_IS_GLUE;
}
