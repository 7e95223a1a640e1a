// SPDX-License-Identifier: BSD-2-Clause
/* Makes names, files and line tables of code objects out of what was read from the target. */
#include "python/python_code.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "python/python_lines.h"
#include "python/python_text.h"

#define ELLIPSIS "\xe2\x80\xa6"

enum cut_side { CUT_END, CUT_START };

static char *decode_string(const struct pkbpf_python_string *string, enum cut_side side)
{
	size_t bytes = string->bytes < sizeof(string->text) ? string->bytes : sizeof(string->text);
	unsigned int width = string->width;
	bool is_cut;

	if (width != 1 && width != 2 && width != 4)
		return strdup("?");
	is_cut = bytes / width < string->length;
	return python_text_utf8(string->text, bytes, width,
				is_cut && side == CUT_START ? ELLIPSIS : "",
				is_cut && side == CUT_END ? ELLIPSIS : "");
}

/* The interpreter's own: entries of its loop, and what an import statement runs before the module.
 * Python itself leaves the latter out of tracebacks. */
static bool is_glue(const struct pkbpf_event_python_code *record, const struct python_code *code)
{
	static const char *const imports[] = {
		"_find_and_load",   "_find_and_load_unlocked",	 "_load_unlocked",
		"_handle_fromlist", "_call_with_frames_removed", "exec_module",
		"_gcd_import",	    "_load_backward_compatible", "_LoaderBasics.exec_module",
	};

	if (record->name.address && record->name.address == record->file.address)
		return true;
	if (strncmp(code->file, "<frozen importlib._bootstrap", 28) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(imports); i++)
		if (!strcmp(code->name, imports[i]))
			return true;
	return false;
}

int python_code_decode(const struct pkbpf_event_python_code *record, size_t size,
		       struct python_code *ret_code)
{
	struct python_code code;

	if (size < sizeof(*record) || record->line_bytes > PKBPF_PYTHON_LINE_BYTES ||
	    record->line_bytes > size - sizeof(*record))
		return -EBADMSG;
	code = (struct python_code){
		.name = decode_string(&record->name, CUT_END),
		.file = decode_string(&record->file, CUT_START),
		.first_line = record->first_line <= INT32_MAX ? record->first_line : 0,
		.minor = record->minor,
		.line_bytes = record->line_bytes,
		.lines_cut = record->line_bytes < record->line_size,
	};
	if (code.line_bytes) {
		code.lines = malloc(code.line_bytes);
		if (code.lines)
			memcpy(code.lines, record->lines, code.line_bytes);
	}
	if (!code.name || !code.file || (code.line_bytes && !code.lines)) {
		python_code_done(&code);
		return -ENOMEM;
	}
	code.is_glue = is_glue(record, &code);
	*ret_code = code;
	return 0;
}

const char *python_short_path(const char *path)
{
	const char *name = strrchr(path, '/'), *folder;

	if (!name || !name[1])
		return path;
	/* Every package has an __init__.py. */
	if (name > path && !strncmp(name, "/__", 3)) {
		folder = memrchr(path, '/', (size_t)(name - path));
		return folder ? folder + 1 : path;
	}
	return name + 1;
}

void python_code_done(struct python_code *code)
{
	free(code->name);
	free(code->file);
	free(code->lines);
	*code = (struct python_code){0};
}

bool python_code_is_ruby(const struct python_code *code)
{
	return code->minor == PYTHON_LINES_RUNS;
}

/* Instructions at the start of a function that make its cells or its generator have no line: they
 * count as its first line. */
#define MAX_PROLOGUE 16

static bool is_prologue(const struct python_lines *lines, uint32_t instruction)
{
	if (instruction >= MAX_PROLOGUE)
		return false;
	while (instruction-- > 0)
		if (python_lines_find(lines, instruction))
			return false;
	return true;
}

uint32_t python_code_line(const struct python_code *code, uint32_t instruction)
{
	struct python_lines lines = {code->lines, code->line_bytes, code->first_line, code->minor};
	uint32_t line;

	if (code->lines_cut || instruction >= PKBPF_PYTHON_NO_INSTRUCTION)
		return 0;
	line = python_lines_find(&lines, instruction);
	return line || !is_prologue(&lines, instruction) ? line : code->first_line;
}
