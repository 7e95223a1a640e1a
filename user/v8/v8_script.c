// SPDX-License-Identifier: BSD-2-Clause
/* Reads scripts, and splits their sources into lines. */
#include "v8/v8_script.h"

#include <errno.h>
#include <string.h>

#include "v8/v8_string.h"

/* The same in all versions. */
#define SCRIPT_LINE_OFFSET 24

struct splitter {
	struct v8_script *script;
	uint32_t position;
	bool after_return; /* "\r\n" is one end of a line */
	bool failed;
};

static bool begin_line(struct splitter *splitter, uint32_t position)
{
	uint32_t *line = splitter->script->lines.count < V8_SCRIPT_MAX_LINES
				 ? array_add(&splitter->script->lines)
				 : NULL;

	if (line)
		*line = position;
	splitter->failed = !line;
	return line;
}

static bool take_source(void *context, const uint16_t *units, size_t count)
{
	struct splitter *splitter = context;

	for (size_t i = 0; i < count; i++, splitter->position++) {
		uint16_t unit = units[i];

		if (splitter->after_return && unit != '\n' &&
		    !begin_line(splitter, splitter->position))
			return false;
		splitter->after_return = unit == '\r';
		if ((unit == '\n' || unit == 0x2028 || unit == 0x2029) &&
		    !begin_line(splitter, splitter->position + 1))
			return false;
	}
	return true;
}

static void read_lines(const struct v8_memory *memory, uint64_t reference, struct v8_script *script)
{
	struct splitter splitter = {.script = script};
	uint64_t source;

	script->has_lines = !v8_read_word(memory, reference, PKBPF_V8_SCRIPT_SOURCE, &source) &&
			    !v8_string_visit(memory, source, take_source, &splitter) &&
			    !splitter.failed;
	script->source_length = splitter.position;
	if (!script->has_lines)
		array_free(&script->lines);
}

static void read_path(const struct v8_memory *memory, uint64_t reference, char path[V8_PATH_BYTES])
{
	uint64_t name;

	if (v8_read_word(memory, reference, PKBPF_V8_SCRIPT_NAME, &name) ||
	    v8_string_read(memory, name, path, V8_PATH_BYTES))
		path[0] = '\0';
}

int v8_script_identify(const struct v8_memory *memory, uint64_t script, uint32_t *ret_length,
		       char ret_path[V8_PATH_BYTES])
{
	uint64_t source;
	int err = v8_read_word(memory, script, PKBPF_V8_SCRIPT_SOURCE, &source);

	if (!err)
		err = v8_read_bytes(memory, source, PKBPF_V8_STRING_LENGTH, ret_length,
				    sizeof(*ret_length));
	read_path(memory, script, ret_path);
	return err;
}

int v8_script_read(const struct v8_memory *memory, const struct v8_layout *layout,
		   uint64_t reference, struct v8_script *ret_script)
{
	int32_t id;
	int err;

	*ret_script = (struct v8_script){0};
	err = v8_read_smi(memory, reference, layout->kernel.script_id, &ret_script->id);
	if (err)
		return err;
	if (v8_read_smi(memory, reference, SCRIPT_LINE_OFFSET, &ret_script->line_offset))
		ret_script->line_offset = 0;
	read_path(memory, reference, ret_script->path);
	read_lines(memory, reference, ret_script);
	if (v8_read_smi(memory, reference, layout->kernel.script_id, &id) || id != ret_script->id) {
		v8_script_done(ret_script);
		return -ESTALE;
	}
	return 0;
}

void v8_script_done(struct v8_script *script)
{
	array_free(&script->lines);
	script->has_lines = false;
}

uint32_t v8_script_line(const struct v8_script *script, int32_t position)
{
	size_t low = 0, high = script->lines.count;
	int64_t line;

	if (position < 0 || !script->has_lines)
		return 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (script->lines.items[middle] <= (uint32_t)position)
			low = middle + 1;
		else
			high = middle;
	}
	line = (int64_t)low + 1 + script->line_offset;
	return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}
