// SPDX-License-Identifier: BSD-2-Clause
/* Remembers what was read of scripts, functions and code, and checks it again. */
#include "symbol/jit/v8_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/hash_map.h"
#include "symbol/jit/v8_budget.h"
#include "symbol/jit/v8_label.h"
#include "v8/v8_function.h"
#include "v8/v8_script.h"
#include "v8/v8_string.h"

/* Pieces of code that are remembered; more are searched for again. */
#define MAX_CODES 8192
#define NO_SCRIPT UINT32_MAX
/* Addresses that a function has had: V8 moves what describes it. */
#define MAX_ADDRESSES	(4U * V8_MACHINE_MAX_FUNCTIONS)
#define MAX_SCRIPT_KEYS (4U * V8_MACHINE_MAX_SCRIPTS)
/* Attempts to read a source. */
#define MOST_READINGS 4
/* Addresses without code are remembered, and searched again after this time. */
#define MISSES	256
#define MISS_NS NS_PER_SECOND

struct function {
	uint64_t shared, identity; /* shared: reference, of where it was last */
	uint32_t script;	   /* NO_SCRIPT: not read */
	int32_t start, end;
	const char *name;  /* alone */
	const char *label; /* with file and line of its definition; NULL: no room */
	bool has_lines;	   /* the label was written when the lines of the script were known */
};

struct script {
	struct v8_script script;
	const char *path; /* NULL: it has none */
	uint32_t source_length;
	uint32_t readings;
};

/* An address that is in no code. */
struct miss {
	uint64_t pc, until_ns;
};

struct v8_machine {
	struct v8_budget budget;
	struct v8_memory memory; /* by the budget */
	uint64_t now_ns;
	uint64_t seed; /* the process chooses what is hashed */
	const struct v8_layout *layout;
	struct v8_bytecode_sizes sizes;
	struct v8_names *names;
	ARRAY_OF(struct function) functions;
	ARRAY_OF(struct script) scripts;
	ARRAY_OF(struct v8_place) places;
	ARRAY_OF(struct v8_code) codes; /* by start */
	struct hash_map by_function, by_content, by_script, by_place;
	size_t line_count;
	struct miss misses[MISSES];
};

struct v8_machine *v8_machine_new(const struct v8_memory *memory, const struct v8_layout *layout,
				  const struct v8_bytecode_sizes *sizes, struct v8_names *names)
{
	struct v8_machine *machine = calloc(1, sizeof(*machine));

	if (!machine)
		return NULL;
	machine->budget.memory = *memory;
	machine->memory = (struct v8_memory){v8_budget_read, &machine->budget};
	machine->seed = hash_random_seed();
	machine->layout = layout;
	machine->sizes = *sizes;
	machine->names = names;
	return machine;
}

void v8_machine_free(struct v8_machine *machine)
{
	if (!machine)
		return;
	array_foreach(&machine->scripts, script)
		v8_script_done(&script->script);
	array_foreach(&machine->places, place)
		free(place->lines);
	array_free(&machine->functions);
	array_free(&machine->scripts);
	array_free(&machine->places);
	array_free(&machine->codes);
	hash_map_done(&machine->by_function);
	hash_map_done(&machine->by_content);
	hash_map_done(&machine->by_script);
	hash_map_done(&machine->by_place);
	free(machine);
}

static uint64_t key_of(const struct v8_machine *machine, uint64_t first, uint64_t second,
		       uint64_t third)
{
	const uint64_t words[] = {first, second, third};

	return hash_bytes(words, sizeof(words), machine->seed);
}

/* NULL: no room. */
static const char *keep(struct v8_names *names, const char *text)
{
	size_t count = string_pool_count(names->strings), size = strlen(text) + 1;
	uint32_t string = names->bytes + size <= names->max_bytes
				  ? string_pool_add(names->strings, text)
				  : STRING_POOL_NONE;

	if (string == STRING_POOL_NONE) {
		names->dropped++;
		return NULL;
	}
	names->bytes += string_pool_count(names->strings) > count ? size : 0;
	return string_pool_get(names->strings, string);
}

/* ---- scripts ---- */

/* Where a function was written. */
struct origin {
	uint64_t script; /* reference */
	int32_t script_id;
	uint32_t source_length;
	char path[V8_PATH_BYTES];
};

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length > end_length && !strcmp(text + length - end_length, end);
}

static void read_lines(struct v8_machine *machine, uint64_t reference, struct script *script)
{
	struct v8_script read;

	if (machine->line_count >= V8_MACHINE_MAX_LINES ||
	    !v8_budget_has(&machine->budget, script->source_length)) {
		machine->names->dropped++;
		return;
	}
	script->readings++;
	if (v8_script_read(&machine->memory, machine->layout, reference, &read))
		return;
	/* Another script, or another source, may have the memory by now. */
	if (!read.has_lines || read.id != script->script.id ||
	    read.source_length != script->source_length) {
		v8_script_done(&read);
		return;
	}
	if (machine->line_count + read.lines.count > V8_MACHINE_MAX_LINES) {
		machine->names->dropped++;
		script->readings = MOST_READINGS;
		v8_script_done(&read);
		return;
	}
	machine->line_count += read.lines.count;
	/* A record has only the end of a long path. */
	if (script->path && ends_with(read.path, script->path))
		script->path = keep(machine->names, read.path);
	script->script = read;
}

static struct script *add_script(struct v8_machine *machine, const struct origin *origin)
{
	struct script *script = machine->scripts.count < V8_MACHINE_MAX_SCRIPTS
					? array_add(&machine->scripts)
					: NULL;

	if (!script)
		return NULL;
	script->script.id = origin->script_id;
	script->source_length = origin->source_length;
	script->path = origin->path[0] ? keep(machine->names, origin->path) : NULL;
	return script;
}

static struct script *find_script(const struct v8_machine *machine, uint64_t key)
{
	const uint64_t *known = hash_map_find(&machine->by_script, key);

	return known ? &machine->scripts.items[*known] : NULL;
}

/* V8 moves scripts: one with a path is known by that, too. */
static uint32_t script_of(struct v8_machine *machine, const struct origin *origin)
{
	uint64_t key = key_of(machine, origin->script, (uint32_t)origin->script_id,
			      origin->source_length),
		 path_key = key_of(machine,
				   hash_bytes(origin->path, strlen(origin->path), machine->seed),
				   (uint32_t)origin->script_id, origin->source_length);
	bool has_room = machine->by_script.count < MAX_SCRIPT_KEYS;
	struct script *script = find_script(machine, key);

	if (!script) {
		script = origin->path[0] ? find_script(machine, path_key) : NULL;
		script = script || !has_room ? script : add_script(machine, origin);
		if (!script)
			return NO_SCRIPT;
		if (has_room) {
			uint64_t number = (uint64_t)(script - machine->scripts.items);

			hash_map_put(&machine->by_script, key, number);
			if (origin->path[0])
				hash_map_put(&machine->by_script, path_key, number);
		}
	}
	if (!script->path && origin->path[0])
		script->path = keep(machine->names, origin->path);
	/* V8 may have moved its source while it was read. */
	if (!script->script.has_lines && script->readings < MOST_READINGS)
		read_lines(machine, origin->script, script);
	return (uint32_t)(script - machine->scripts.items);
}

/* ---- functions ---- */

static void label_function(struct v8_machine *machine, struct function *function)
{
	const struct script *script = &machine->scripts.items[function->script];
	char label[V8_LABEL_BYTES];

	v8_label_write(label, function->name, script->path ? script->path : "",
		       v8_script_line(&script->script, function->start));
	function->label = keep(machine->names, label);
	function->has_lines = script->script.has_lines;
}

static struct function *find_function(const struct v8_machine *machine, uint64_t shared,
				      uint64_t identity)
{
	const uint64_t *known =
		hash_map_find(&machine->by_function, key_of(machine, shared, identity, 0));
	struct function *function = known ? &machine->functions.items[*known] : NULL;

	return function && function->label ? function : NULL;
}

/* Of what does not change when V8 moves a function. */
static uint64_t content_key(const struct v8_machine *machine, const struct function *function,
			    uint32_t script, const char *name)
{
	const uint64_t words[] = {
		function->identity,
		script,
		(uint32_t)function->start,
		(uint32_t)function->end,
		hash_bytes(name, strlen(name), machine->seed),
		machine->scripts.items[script].script.has_lines,
	};

	return hash_bytes(words, sizeof(words), machine->seed);
}

static bool is_same(const struct function *function, const struct function *wanted, uint32_t script,
		    const char *name)
{
	return function->label && function->identity == wanted->identity &&
	       function->script == script && function->start == wanted->start &&
	       function->end == wanted->end && !strcmp(function->name, name);
}

/* NULL: no room. */
static struct function *new_function(struct v8_machine *machine, const struct function *wanted,
				     uint32_t script, const char *name, uint64_t content)
{
	struct function *function = machine->functions.count < V8_MACHINE_MAX_FUNCTIONS
					    ? array_add(&machine->functions)
					    : NULL;

	if (!function)
		return NULL;
	*function = *wanted;
	function->script = script;
	function->name = keep(machine->names, name);
	machine->names->dropped += !strcmp(name, V8_NAME_UNREADABLE);
	if (function->name)
		label_function(machine, function);
	if (!function->label ||
	    !hash_map_put(&machine->by_content, content, machine->functions.count - 1)) {
		machine->functions.count--;
		return NULL;
	}
	return function;
}

/* The function has its address and identity from now on. NULL: no room, and what had them has no
 * name any more. */
static struct function *add_function(struct v8_machine *machine, const struct function *wanted,
				     const char *name, const struct origin *origin)
{
	uint64_t key = key_of(machine, wanted->shared, wanted->identity, 0), content;
	uint32_t script = script_of(machine, origin);
	struct function *function = NULL;
	const uint64_t *known;

	hash_map_remove(&machine->by_function, key);
	if (script != NO_SCRIPT && machine->by_function.count < MAX_ADDRESSES) {
		content = content_key(machine, wanted, script, name);
		known = hash_map_find(&machine->by_content, content);
		if (known && is_same(&machine->functions.items[*known], wanted, script, name))
			function = &machine->functions.items[*known];
		else
			function = new_function(machine, wanted, script, name, content);
	}
	if (!function || !hash_map_put(&machine->by_function, key,
				       (uint64_t)(function - machine->functions.items))) {
		machine->names->dropped++;
		return NULL;
	}
	function->shared = wanted->shared;
	return function;
}

static void read_path(const struct v8_machine *machine,
		      const struct pkbpf_event_v8_function *record, char path[V8_PATH_BYTES])
{
	uint32_t length;

	if (v8_script_identify(&machine->memory, record->script, &length, path) ||
	    length != record->source_length)
		path[0] = '\0';
}

static void read_name(const struct v8_machine *machine, const struct function *function,
		      char name[V8_NAME_BYTES])
{
	struct v8_function read;
	bool is_read =
		!v8_function_read(&machine->memory, machine->layout, function->shared, &read) &&
		read.identity == function->identity && read.start == function->start &&
		read.end == function->end;

	snprintf(name, V8_NAME_BYTES, "%s", is_read ? read.name : V8_NAME_UNREADABLE);
}

void v8_machine_note(struct v8_machine *machine, const struct pkbpf_event_v8_function *record,
		     uint64_t now_ns)
{
	struct function function = {
		.shared = record->shared + 1,
		.identity = record->identity,
		.start = record->start,
		.end = record->end,
	};
	struct origin origin = {
		.script = record->script,
		.script_id = record->script_id,
		.source_length = record->source_length,
	};
	char name[V8_NAME_BYTES]; /* cut as the reader cuts it */
	uint64_t refused = machine->budget.refused;

	v8_budget_begin(&machine->budget, now_ns);
	v8_string_text(&record->path, origin.path, sizeof(origin.path));
	v8_string_text(&record->name, name, sizeof(name));
	/* Strings that V8 has put together are read here. */
	if (!record->path.width)
		read_path(machine, record, origin.path);
	if (!record->name.width && v8_is_object(record->name.reference))
		read_name(machine, &function, name);
	add_function(machine, &function, name, &origin);
	machine->names->dropped += machine->budget.refused > refused;
}

/* Is the function still at its address? Then its script and code were its own. */
static bool is_there(const struct v8_machine *machine, const struct function *function)
{
	struct v8_function read;

	return !v8_function_read(&machine->memory, machine->layout, function->shared, &read) &&
	       read.identity == function->identity && read.start == function->start &&
	       read.end == function->end && !strcmp(read.name, function->name);
}

/* A function that was inlined into another one. NULL: not known. */
static struct function *inlined_function(struct v8_machine *machine, uint64_t shared)
{
	uint64_t identity = v8_function_identity(&machine->memory, machine->layout, shared);
	struct function *known = find_function(machine, shared, identity), wanted;
	struct origin origin;
	struct v8_function read;

	if (known)
		return known;
	if (v8_function_read(&machine->memory, machine->layout, shared, &read) ||
	    v8_script_identify(&machine->memory, read.script, &origin.source_length, origin.path))
		return NULL;
	origin.script = read.script;
	origin.script_id = read.script_id;
	wanted = (struct function){
		.shared = shared,
		.identity = read.identity,
		.start = read.start,
		.end = read.end,
	};
	return add_function(machine, &wanted, read.name, &origin);
}

/* ---- code ---- */

/* Index of the first code that starts above pc. */
static size_t code_above(const struct v8_machine *machine, uint64_t pc)
{
	size_t low = 0, high = machine->codes.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (machine->codes.items[middle].start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void remove_codes(struct v8_machine *machine, size_t from, size_t to)
{
	if (from == to)
		return;
	memmove(&machine->codes.items[from], &machine->codes.items[to],
		(machine->codes.count - to) * sizeof(*machine->codes.items));
	machine->codes.count -= to - from;
}

/* In the place of those that it overlaps. */
static void add_code(struct v8_machine *machine, const struct v8_code *code)
{
	size_t from = code_above(machine, code->start), to = from;

	while (from > 0 &&
	       machine->codes.items[from - 1].start + machine->codes.items[from - 1].size >
		       code->start)
		from--;
	while (to < machine->codes.count &&
	       machine->codes.items[to].start < code->start + code->size)
		to++;
	remove_codes(machine, from, to);
	if (machine->codes.count >= MAX_CODES)
		machine->codes.count = from = 0;
	if (!array_add(&machine->codes))
		return;
	memmove(&machine->codes.items[from + 1], &machine->codes.items[from],
		(machine->codes.count - 1 - from) * sizeof(*machine->codes.items));
	machine->codes.items[from] = *code;
}

/* false: there is none. */
static bool code_at(struct v8_machine *machine, uint64_t pc, struct v8_code *ret_code)
{
	size_t above = code_above(machine, pc);
	const struct v8_code *known = above ? &machine->codes.items[above - 1] : NULL;
	struct miss *miss;

	if (known && pc - known->start < known->size &&
	    v8_code_is_there(&machine->memory, machine->layout, known)) {
		*ret_code = *known;
		return true;
	}
	miss = &machine->misses[hash_bytes(&pc, sizeof(pc), machine->seed) % MISSES];
	if (miss->pc == pc && machine->now_ns < miss->until_ns)
		return false;
	if (v8_code_find(&machine->memory, machine->layout, pc, ret_code)) {
		*miss = (struct miss){pc, machine->now_ns + MISS_NS};
		return false;
	}
	add_code(machine, ret_code);
	return true;
}

/* ---- places ---- */

struct lines {
	struct symbol_line items[V8_MAX_INLINED + 1];
	uint32_t count;
};

static void add_line(const struct v8_machine *machine, const struct function *function,
		     int32_t position, bool inlined, struct lines *lines)
{
	const struct script *script = &machine->scripts.items[function->script];
	uint32_t line = script->path ? v8_script_line(&script->script, position) : 0;

	/* Without a line the file says nothing that the name does not. */
	lines->items[lines->count++] = (struct symbol_line){
		.function = function->label,
		.file = line ? script->path : NULL,
		.line = line,
		.inlined = inlined,
	};
}

static void add_frames(struct v8_machine *machine, uint32_t outer, const struct v8_code *code,
		       uint64_t pc, struct lines *lines)
{
	struct v8_frame frames[V8_MAX_INLINED];
	size_t count = v8_code_frames(&machine->memory, machine->layout, code, pc, frames);

	for (size_t i = 0; i + 1 < count; i++) {
		const struct function *function = inlined_function(machine, frames[i].shared);

		if (function)
			add_line(machine, function, frames[i].position, true, lines);
		else
			lines->count = 0; /* what it calls would get its caller */
	}
	add_line(machine, &machine->functions.items[outer], frames[count - 1].position, false,
		 lines);
}

static void read_optimized(struct v8_machine *machine, uint32_t outer, const struct v8_code *code,
			   const struct v8_site *site, struct lines *lines)
{
	const struct function *entered;
	uint64_t identity = machine->functions.items[outer].identity, shared;

	if (!v8_code_function(&machine->memory, machine->layout, code, &shared)) {
		if (v8_function_identity(&machine->memory, machine->layout, shared) == identity) {
			add_frames(machine, outer, code, site->pc, lines);
			return;
		}
		/* A leaf in code of another function: that one is being entered, or left. */
		entered = site->is_leaf ? inlined_function(machine, shared) : NULL;
		if (entered)
			add_line(machine, entered, entered->start, false, lines);
	}
	add_line(machine, &machine->functions.items[outer], -1, false, lines);
}

static int32_t position_of(const struct v8_machine *machine, const struct function *function,
			   const struct v8_site *site, const struct v8_code *code)
{
	uint32_t offset = pkbpf_v8_offset(site->words[0], site->words[1]);

	if (code)
		return v8_code_is_baseline_of(&machine->memory, code, function->shared)
			       ? v8_code_baseline_position(&machine->memory, machine->layout,
							   &machine->sizes, code, function->shared,
							   site->pc)
			       : -1;
	return site->pc || offset == PKBPF_V8_NO_OFFSET
		       ? -1
		       : v8_code_bytecode_position(&machine->memory, machine->layout,
						   function->shared, offset);
}

static bool add_place(struct v8_machine *machine, uint64_t key, const struct lines *lines)
{
	struct v8_place *place =
		machine->places.count < V8_MACHINE_MAX_PLACES ? array_add(&machine->places) : NULL;

	if (!place)
		return false;
	place->lines = calloc(lines->count, sizeof(*place->lines));
	if (!place->lines || !hash_map_put(&machine->by_place, key, machine->places.count - 1)) {
		free(place->lines);
		machine->places.count--;
		return false;
	}
	memcpy(place->lines, lines->items, lines->count * sizeof(*place->lines));
	place->line_count = lines->count;
	return true;
}

/* false: the function is not there any more, and has no lines but its own. */
static bool read_lines_of(struct v8_machine *machine, uint32_t number, const struct v8_site *site,
			  const struct v8_code *code, bool want_lines, struct lines *lines)
{
	const struct function *function = &machine->functions.items[number];

	if (code && code->is_optimized)
		read_optimized(machine, number, code, site, lines);
	else
		add_line(machine, function,
			 want_lines ? position_of(machine, function, site, code) : -1, false,
			 lines);
	/* Was the memory reused during reading? */
	function = &machine->functions.items[number];
	if (is_there(machine, function))
		return true;
	lines->count = 0;
	add_line(machine, function, -1, false, lines);
	return false;
}

/* Other code may have the memory of code that was thrown away. */
static uint64_t code_key(const struct v8_machine *machine, uint32_t function,
			 const struct v8_code *code, const struct v8_site *site)
{
	uint64_t kind = (uint64_t)code->is_optimized << 1 | code->is_baseline;

	return key_of(machine, function | (uint64_t)code->size << 32,
		      key_of(machine, code->object, code->start, kind),
		      site->pc << 1 | site->is_leaf);
}

static uint32_t find_place(struct v8_machine *machine, const struct v8_site *site, bool want_lines)
{
	uint64_t shared = pkbpf_v8_shared(site->words[0]) + 1, key;
	struct function *function =
		find_function(machine, shared, pkbpf_v8_identity_of(site->words[1]));
	uint32_t offset = want_lines && !site->pc ? pkbpf_v8_offset(site->words[0], site->words[1])
						  : PKBPF_V8_NO_OFFSET;
	struct lines lines = {.count = 0};
	struct v8_code code;
	const uint64_t *known;
	uint32_t number;
	bool has_code;

	if (!function)
		return UINT32_MAX;
	/* Workers have functions of the same content, each at its address. */
	function->shared = shared;
	number = (uint32_t)(function - machine->functions.items);
	has_code = site->pc && code_at(machine, site->pc, &code);
	key = has_code ? code_key(machine, number, &code, site)
		       : key_of(machine, number, offset, 0);
	known = hash_map_find(&machine->by_place, key);
	if (known)
		return (uint32_t)*known;
	/* Unread lines are not cached: the next sample tries again. */
	if (!read_lines_of(machine, number, site, has_code ? &code : NULL, want_lines, &lines)) {
		key = key_of(machine, number, PKBPF_V8_NO_OFFSET, 0);
		known = hash_map_find(&machine->by_place, key);
	}
	if (known || add_place(machine, key, &lines))
		return known ? (uint32_t)*known : (uint32_t)machine->places.count - 1;
	machine->names->dropped++;
	return UINT32_MAX;
}

uint32_t v8_machine_find(struct v8_machine *machine, const struct v8_site *site, bool want_lines,
			 uint64_t now_ns)
{
	uint64_t refused = machine->budget.refused;
	uint32_t number;

	machine->now_ns = now_ns;
	v8_budget_begin(&machine->budget, now_ns);
	number = find_place(machine, site, want_lines);
	machine->names->dropped += machine->budget.refused > refused;
	return number;
}

size_t v8_machine_function_count(const struct v8_machine *machine)
{
	return machine->functions.count;
}

const struct v8_place *v8_machine_place(const struct v8_machine *machine, uint32_t number)
{
	return number < machine->places.count ? &machine->places.items[number] : NULL;
}
