// SPDX-License-Identifier: BSD-2-Clause
/* Names of blobs, and of the methods in them. */
#include "symbol/jit/hotspot_place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pkbpf/hotspot.h>

#include "hotspot/hotspot_method.h"

void hotspot_place_done(struct hotspot_place *place)
{
	free(place->lines);
	place->lines = NULL;
}

/* NULL: it is not kept. */
static const char *keep(struct hotspot_place_names *names, const char *text)
{
	size_t known = string_pool_count(names->strings);
	uint32_t string;

	if (names->bytes >= names->max_bytes &&
	    string_pool_find(names->strings, text) == STRING_POOL_NONE)
		return NULL;
	string = string_pool_add(names->strings, text);
	if (string_pool_count(names->strings) > known)
		names->bytes += strlen(text) + 1;
	return string == STRING_POOL_NONE ? NULL : string_pool_get(names->strings, string);
}

static void leave_unnamed(struct hotspot_place *place, enum symbol_result reason)
{
	hotspot_place_done(place);
	place->state = HOTSPOT_PLACE_UNNAMED;
	place->line_count = 0;
	place->reason = reason;
}

static bool begin_lines(struct hotspot_place *place, size_t count)
{
	place->state = HOTSPOT_PLACE_NAMED;
	place->line_count = 0;
	place->lines = calloc(count, sizeof(*place->lines));
	if (!place->lines)
		leave_unnamed(place, SYMBOL_NO_MEMORY);
	return place->lines != NULL;
}

static bool is_glue_blob(const struct hotspot_place *place, const struct hotspot_blob *blob,
			 uint64_t call_stub_return)
{
	return blob->kind == HOTSPOT_ADAPTER || blob->kind == HOTSPOT_VTABLE ||
	       blob->kind == HOTSPOT_METHOD_HANDLES ||
	       (blob->kind == HOTSPOT_STUB_ROUTINES && place->address + 1 == call_stub_return);
}

static void name_blob(struct hotspot_place *place, struct hotspot_place_names *names,
		      const struct hotspot_blob *blob)
{
	char text[sizeof(blob->name) + 4];

	snprintf(text, sizeof(text), "[%s]",
		 blob->kind == HOTSPOT_INTERPRETER ? "interpreter" : blob->name);
	place->lines[0].function = keep(names, text);
	place->line_count = 1;
}

/* The word has 16 bits of the address of the bytecode: no method has more. 0: not in the method. */
static uint32_t line_of_word(const struct hotspot_memory *memory,
			     const struct hotspot_layout *layout,
			     const struct hotspot_method *method, uint64_t word)
{
	uint32_t index = (pkbpf_hotspot_bytecode(word) - (uint32_t)method->bytecodes) & 0xffff;

	return index < method->bytecode_bytes
		       ? hotspot_method_line(memory, layout, method, (int32_t)index)
		       : 0;
}

/* false: no room. */
static bool take_method(struct hotspot_place_names *names, const struct hotspot_method *method,
			struct symbol_line *line)
{
	*line = (struct symbol_line){.function = keep(names, method->name), .inlined = true};
	return line->function != NULL;
}

/* No file without a line: native methods have none. */
static void set_line(struct hotspot_place_names *names, const struct hotspot_method *method,
		     uint32_t line, struct symbol_line *symbol_line)
{
	if (!line || !method->file[0])
		return;
	symbol_line->file = keep(names, method->file);
	symbol_line->line = symbol_line->file ? line : 0;
}

/* 0; -ENODATA: it is left out; -ENOSPC; an error of reading. */
static int name_scope(const struct hotspot_process *process, struct hotspot_place_names *names,
		      const struct hotspot_scope *scope, bool want_lines, struct symbol_line *line)
{
	const struct hotspot_memory *memory = hotspot_process_memory(process);
	const struct hotspot_layout *layout = hotspot_process_layout(process);
	struct hotspot_method method;
	int err = hotspot_method_read(memory, layout, scope->method, &method);

	if (err)
		return err;
	if (method.is_glue)
		return -ENODATA;
	if (!take_method(names, &method, line))
		return -ENOSPC;
	if (want_lines)
		set_line(names, &method, hotspot_method_line(memory, layout, &method, scope->bci),
			 line);
	return 0;
}

static void name_methods(struct hotspot_place *place, struct hotspot_place_names *names,
			 const struct hotspot_process *process, const struct hotspot_blob *blob,
			 bool want_lines)
{
	struct hotspot_scope scopes[HOTSPOT_MAX_INLINED];
	size_t count = hotspot_scopes_at(blob, hotspot_process_layout(process)->unsigned5_minimum,
					 place->address, scopes);

	for (size_t i = 0; i < count; i++) {
		int err = name_scope(process, names, &scopes[i], want_lines,
				     &place->lines[place->line_count]);

		if (!err) {
			place->line_count++;
		} else if (err == -ENOSPC) {
			names->dropped++;
			leave_unnamed(place, SYMBOL_NAME_DROPPED);
			return;
		} else if (err != -ENODATA) {
			/* Its class was unloaded, or the process has ended. */
			leave_unnamed(place, SYMBOL_METHOD_GONE);
			return;
		}
	}
	place->is_glue = !place->line_count;
	if (place->line_count)
		place->lines[place->line_count - 1].inlined = false;
}

void hotspot_place_name(struct hotspot_place *place, struct hotspot_place_names *names,
			const struct hotspot_process *process, const struct hotspot_blob *blob,
			uint64_t call_stub_return, bool want_lines)
{
	struct symbol_line *fitting;

	if (!begin_lines(place, HOTSPOT_PLACE_MAX_LINES))
		return;
	if (blob->method) {
		name_methods(place, names, process, blob, want_lines);
	} else {
		name_blob(place, names, blob);
		place->is_glue = is_glue_blob(place, blob, call_stub_return);
		if (!place->lines[0].function)
			leave_unnamed(place, SYMBOL_NAME_DROPPED);
	}
	fitting = place->line_count
			  ? realloc(place->lines, place->line_count * sizeof(*place->lines))
			  : NULL;
	if (fitting)
		place->lines = fitting;
}

void hotspot_place_name_interpreted(struct hotspot_place *place, struct hotspot_place_names *names,
				    const struct hotspot_process *process, uint64_t word,
				    bool is_at_bytecode, bool want_lines)
{
	const struct hotspot_memory *memory = hotspot_process_memory(process);
	const struct hotspot_layout *layout = hotspot_process_layout(process);
	struct hotspot_method method;

	if (!begin_lines(place, 1))
		return;
	if (hotspot_method_read(memory, layout, pkbpf_hotspot_method(word), &method)) {
		leave_unnamed(place, SYMBOL_METHOD_GONE);
		return;
	}
	place->is_glue = method.is_glue;
	if (!take_method(names, &method, &place->lines[0])) {
		names->dropped++;
		leave_unnamed(place, SYMBOL_NAME_DROPPED);
		return;
	}
	place->lines[0].inlined = false;
	place->line_count = 1;
	/* Frames of 8 have their bytecode elsewhere. */
	if (want_lines && is_at_bytecode && layout->frame_bytecode == PKBPF_HOTSPOT_BYTECODE_AT)
		set_line(names, &method, line_of_word(memory, layout, &method, word),
			 &place->lines[0]);
}
