// SPDX-License-Identifier: BSD-2-Clause
/* Names frames in generated code, or tells why they have no name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <pkbpf/hotspot.h>
#include <pkbpf/v8.h>

#include "base/clock.h"
#include "symbol/jit/code_history_private.h"

/* Of forks of forks, and of readings that read as others. */
#define MAX_STEPS 16

struct code_history_symbolizer {
	struct symbolizer symbolizer;
	struct code_history *code;
	struct symbol_line line;
};

/* Two names that it may have, and what is to be said of one. */
#define MAX_TEXT_BYTES (2 * CODE_MAX_NAME_BYTES + 64)

static const char *text_of(struct code_history *code, const struct code_reading *reading)
{
	char text[MAX_TEXT_BYTES];
	uint32_t string;

	if (reading->others)
		snprintf(text, sizeof(text), "%.1000s, %.1000s or others", reading->name,
			 reading->other);
	else if (reading->other)
		snprintf(text, sizeof(text), "%.1000s or %.1000s", reading->name, reading->other);
	else if (reading->late)
		snprintf(text, sizeof(text), "%.1000s (named later)", reading->name);
	else
		return reading->name;
	string = string_pool_add(code->strings, text);
	return string == STRING_POOL_NONE ? reading->name : string_pool_get(code->strings, string);
}

static enum symbol_result reason_of(const struct code_process *process)
{
	if (process->is_lost)
		return SYMBOL_READ_ERROR;
	if (process->file.inode)
		return SYMBOL_NOT_IN_TABLE;
	if (process->reason == -ESTALE)
		return SYMBOL_OTHERS_PERF_MAP;
	if (process->reason != -ENOENT && process->reason)
		return SYMBOL_PERF_MAP_REFUSED;
	return process->ended ? SYMBOL_PERF_MAP_GONE : SYMBOL_NO_PERF_MAP;
}

static struct code_process *find_process(const struct code_history *code, uint32_t id)
{
	const uint64_t *item = hash_map_find(&code->by_process, id);

	return item ? code->items.items[*item] : NULL;
}

static const struct code_reading *follow(const struct code_process *process, uint32_t number)
{
	const struct code_reading *reading = NULL;

	for (unsigned int i = 0; i < MAX_STEPS && number < process->places.readings.count; i++) {
		reading = &process->places.readings.items[number];
		if (reading->state != CODE_SAME)
			break;
		number = reading->same;
	}
	return reading;
}

static bool has_name(const struct code_reading *reading)
{
	return reading && reading->state == CODE_NAMED;
}

/* The process's own, or what it has inherited from the one that it was forked from: its own line
 * that came later may be of code that came later. NULL: there is none. */
static const struct code_reading *find_reading(const struct code_history *code,
					       struct code_process *process, uint64_t address,
					       uint32_t number)
{
	const struct code_reading *own = follow(process, number), *reading = own;

	for (unsigned int i = 0; i < MAX_STEPS && process; i++) {
		const struct code_place *place = code_places_find(&process->places, address);

		if (has_name(reading) && !reading->after)
			return reading;
		if (!place || place->inherited == CODE_NO_READING)
			break;
		process = code_history_parent(code, process);
		reading = process ? follow(process, place->inherited) : NULL;
	}
	return !has_name(own) && has_name(reading) ? reading : own;
}

/* Nothing will be read any more of the process, nor of those that it inherited code from. */
static bool is_final(const struct code_history *code, const struct code_process *process)
{
	for (unsigned int i = 0; i < MAX_STEPS && process && !code->is_settled; i++) {
		if (!process->ended || process->has_unread)
			return false;
		process = code_history_parent(code, process);
	}
	return true;
}

static void find_module(const struct code_process *process, struct symbol *symbol)
{
	uint64_t address = symbol->module_address;

	array_foreach(&process->memory, memory) {
		if (address < memory->start || address >= memory->end)
			continue;
		symbol->module = memory->module;
		symbol->module_address = address - memory->start + memory->offset;
		return;
	}
}

static void name_reading(struct code_history_symbolizer *symbolizer,
			 const struct code_process *process, const struct code_reading *reading,
			 struct symbol *symbol)
{
	if (!has_name(reading)) {
		find_module(process, symbol);
		symbol->result = reading && reading->state == CODE_UNNAMED ? reason_of(process)
									   : SYMBOL_NAME_DROPPED;
		return;
	}
	symbolizer->line = (struct symbol_line){.function = text_of(symbolizer->code, reading)};
	symbol->result = SYMBOL_FOUND;
	symbol->lines = &symbolizer->line;
	symbol->line_count = 1;
}

/* As if it was sampled just now, by somebody who samples nothing. */
static uint32_t sample_now(struct code_history *code, uint32_t process, uint64_t address)
{
	uint32_t number = code_history_at(code, process, address, clock_now_ns());

	code_history_settle(code);
	return number;
}

/* Of code that is not listed yet there may be a name later. */
static void name_java(struct code_history *code, uint32_t process, uint32_t number,
		      struct symbol *symbol)
{
	const struct process *known = process_table_by_id(code->processes, process);

	hotspot_history_name(code->hotspot, process, number,
			     code->is_settled || !known || known->end_ns, symbol);
}

static bool resolve(struct symbolizer *symbolizer, const struct frame_location *location,
		    struct symbol *ret_symbol)
{
	struct code_history_symbolizer *self = (struct code_history_symbolizer *)symbolizer;
	uint64_t address = location->address - (location->is_return_address ? 1 : 0);
	uint32_t number = location->code;
	struct code_process *process;

	if (location->space != FRAME_ANONYMOUS)
		return false;
	*ret_symbol = (struct symbol){
		.result = SYMBOL_NO_PERF_MAP,
		.flags = SYMBOL_IS_JIT,
		.module_address = location->address,
	};
	if (pkbpf_is_v8(location->address)) {
		v8_history_name(self->code->v8, location->object, number, ret_symbol);
		return true;
	}
	if (!number && !pkbpf_is_hotspot(location->address))
		number = sample_now(self->code, location->object, address);
	if (number & CODE_OF_HOTSPOT) {
		name_java(self->code, location->object, number & ~CODE_OF_HOTSPOT, ret_symbol);
		return true;
	}
	process = find_process(self->code, location->object);
	if (!process)
		return true;
	if (!is_final(self->code, process)) {
		ret_symbol->result = SYMBOL_PENDING;
		return true;
	}
	number -= process->first_code + 1;
	name_reading(self, process, find_reading(self->code, process, address, number), ret_symbol);
	return true;
}

static void free_symbolizer(struct symbolizer *symbolizer)
{
	free(symbolizer);
}

static const struct symbolizer_ops code_history_ops = {
	.name = "generated code",
	.resolve = resolve,
	.free = free_symbolizer,
};

struct symbolizer *code_history_symbolizer_new(struct code_history *code)
{
	struct code_history_symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));

	if (!symbolizer)
		return NULL;
	symbolizer->symbolizer.ops = &code_history_ops;
	symbolizer->code = code;
	return &symbolizer->symbolizer;
}
