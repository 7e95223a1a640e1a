// SPDX-License-Identifier: BSD-2-Clause
/* Keeps track of the processes that have generated code. */
#include "symbol/jit/code_history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "symbol/jit/code_history_private.h"

#define CODES_PER_PROCESS (CODE_PLACES_MAX_READINGS + 2)
/* In the place of a reading: there are too many. */
#define CODE_TOO_MANY CODE_PLACES_MAX_READINGS
/* Of an ended process, stacks come so late at most. */
#define LATE_NS (PROCESS_LATE_NS + NS_PER_SECOND)
/* A process whose file grew, or that was first seen, so long ago is watched closely. */
#define BUSY_NS (5 * NS_PER_SECOND)
/* A piece of reading: some milliseconds. */
#define PIECE_BYTES (4U << 20)
/* Of forks of forks. */
#define MAX_GENERATIONS 8
/* Of one process: run-times have a handful. */
#define MAX_MEMORY 64
/* Code that moves is rare, and so is a jitdump of more records. Of one process. */
#define MAX_RECORDS_OF_SEARCHES (1U << 20)
/* What is left to be read at the end may take so long, a file a quarter of what is left: some may
 * be made to take hours. */
#define SETTLE_NS    (60 * NS_PER_SECOND)
#define SETTLE_SHARE 4

struct code_history *code_history_new(const struct symbolizer_options *options,
				      struct process_table *processes, struct string_pool *strings)
{
	struct code_history *code = calloc(1, sizeof(*code));

	if (!code)
		return NULL;
	code->options = options;
	code->processes = processes;
	code->strings = strings;
	code->settle_left_ns = SETTLE_NS;
	code->buffer = malloc(CODE_READER_BYTES);
	code->hotspot = hotspot_history_new(options, processes, strings);
	code->v8 = v8_history_new(options, processes, strings);
	if (!code->buffer || !code->hotspot || !code->v8) {
		hotspot_history_free(code->hotspot);
		v8_history_free(code->v8);
		free(code->buffer);
		free(code);
		return NULL;
	}
	return code;
}

static void free_process(struct code_history *code, struct code_process *process)
{
	code_process_close(code, process);
	code->place_count -= process->places.places.count;
	code_file_done(&process->file);
	code_places_done(&process->places);
	array_free(&process->memory);
	free(process);
}

void code_history_free(struct code_history *code)
{
	if (!code)
		return;
	array_foreach(&code->items, each)
		free_process(code, *each);
	array_free(&code->items);
	hash_map_done(&code->by_process);
	hotspot_history_free(code->hotspot);
	v8_history_free(code->v8);
	free(code->buffer);
	free(code);
}

/* ---- processes ---- */

static struct code_process *find_process(const struct code_history *code, uint32_t process)
{
	const uint64_t *item = hash_map_find(&code->by_process, process);

	return item ? code->items.items[*item] : NULL;
}

/* Ids are given to others. */
static bool is_of(const struct code_process *process, const struct process *known)
{
	return known && process->pid == known->pid && process->start_ns == known->start_ns;
}

const struct process *code_history_known(const struct code_history *code,
					 const struct code_process *process)
{
	const struct process *known = process_table_by_id(code->processes, process->process);

	return is_of(process, known) ? known : NULL;
}

struct code_process *code_history_parent(const struct code_history *code,
					 const struct code_process *process)
{
	struct code_process *parent =
		process->parent == NO_PARENT ? NULL : find_process(code, process->parent);

	return parent && parent->pid == process->parent_pid &&
			       parent->start_ns <= process->forked_ns
		       ? parent
		       : NULL;
}

static bool parent_is_known(const struct code_history *code, const struct code_process *process)
{
	const struct process *parent =
		process->parent == NO_PARENT
			? NULL
			: process_table_by_id(code->processes, process->parent);

	return parent && parent->pid == process->parent_pid &&
	       parent->start_ns <= process->forked_ns;
}

/* The image that a process was forked from, if that is known. */
static uint32_t parent_of(const struct code_history *code, const struct process *process)
{
	const struct process *parent = process_table_find(code->processes, process->parent_pid);

	if (process->execed || !process->started_inside || !process->parent_pid)
		return NO_PARENT;
	if (parent && parent->id != process->id && parent->start_ns <= process->born_ns)
		return parent->id;
	/* It executes another program since, or has ended. */
	array_foreach(&code->items, each) {
		parent = process_table_by_id(code->processes, (*each)->process);
		if (parent && parent->pid == process->parent_pid && parent->id != process->id &&
		    parent->start_ns <= process->born_ns &&
		    (!parent->end_ns || parent->end_ns >= process->born_ns))
			return parent->id;
	}
	return NO_PARENT;
}

static struct code_process *add_process(struct code_history *code, const struct process *known)
{
	struct code_process *process = calloc(1, sizeof(*process));

	if (!process || !array_reserve(&code->items, code->items.count + 1) ||
	    !hash_map_put(&code->by_process, known->id, code->items.count)) {
		free(process);
		return NULL;
	}
	*array_add(&code->items) = process;
	process->process = known->id;
	process->pid = known->pid;
	process->start_ns = known->start_ns;
	process->parent_pid = known->parent_pid;
	process->forked_ns = known->born_ns;
	process->parent = parent_of(code, known);
	process->used_ns = clock_now_ns();
	process->moves_left = MAX_RECORDS_OF_SEARCHES;
	process->first_code = code->next_first_code;
	code->next_first_code = (code->next_first_code + CODES_PER_PROCESS) % CODE_OF_HOTSPOT;
	code_file_init(&process->file, code->buffer);
	return process;
}

static void remove_process(struct code_history *code, size_t item)
{
	struct code_process *process = code->items.items[item],
			    *last = code->items.items[code->items.count - 1];

	hash_map_remove(&code->by_process, process->process);
	if (process != last) {
		code->items.items[item] = last;
		*hash_map_find(&code->by_process, last->process) = item;
	}
	code->items.count--;
	free_process(code, process);
}

/* NULL: out of memory. */
static struct code_process *code_history_get(struct code_history *code, uint32_t id)
{
	const struct process *known = process_table_by_id(code->processes, id);
	const uint64_t *item = hash_map_find(&code->by_process, id);
	struct code_process *process = item ? code->items.items[*item] : NULL;

	if (!known)
		return NULL;
	if (process && !is_of(process, known)) {
		remove_process(code, *item);
		process = NULL;
	}
	return process ? process : add_process(code, known);
}

/* What code without a name is in. */
static void note_memory(struct code_history *code, struct code_process *process,
			const struct mapping *mapping)
{
	const struct mapped_file *file =
		mapped_file_table_get(process_table_files(code->processes), mapping->file);
	const char *name = file ? strrchr(file->path, '/') : NULL;
	struct code_memory *memory = NULL;
	uint32_t string;

	array_foreach(&process->memory, each) {
		if (each->start < mapping->end && each->end > mapping->start)
			memory = each;
	}
	if (!name || (!memory && process->memory.count >= MAX_MEMORY))
		return;
	string = string_pool_add(code->strings, name + 1);
	if (!memory)
		memory = array_add(&process->memory);
	if (memory && string != STRING_POOL_NONE)
		*memory = (struct code_memory){
			.start = mapping->start,
			.end = mapping->end,
			.offset = mapping->file_offset,
			.module = string_pool_get(code->strings, string),
		};
}

void code_history_expect(struct code_history *code, uint32_t id, const struct mapping *mapping)
{
	struct code_process *process = find_process(code, id);
	bool is_known = process && is_of(process, process_table_by_id(code->processes, id));

	if (!is_known)
		process = code_history_get(code, id);
	if (!process)
		return;
	if (mapping_has_file(mapping))
		note_memory(code, process, mapping);
	if (!is_known)
		code_process_look(code, process, clock_now_ns());
}

/* ---- samples ---- */

static void make_room(struct code_history *code)
{
	uint32_t hits = 2;

	while (code->place_count > CODE_HISTORY_MAX_PLACES / 4 * 3) {
		code->place_count = 0;
		array_foreach(&code->items, each) {
			code->dropped += code_places_forget_rare(&(*each)->places, hits);
			code->place_count += (*each)->places.places.count;
		}
		hits *= 2;
	}
}

static struct code_place *get_place(struct code_history *code, struct code_process *process,
				    uint64_t address)
{
	struct code_place *place = code_places_find(&process->places, address);

	if (place)
		return place;
	if (code->place_count >= CODE_HISTORY_MAX_PLACES)
		make_room(code);
	place = code_places_add(&process->places, address);
	if (!place)
		return NULL;
	code->place_count++;
	if (process->file.known.offset > process->file.begin.offset)
		process->has_unread = true;
	else
		place->read_to = process->file.known.offset;
	return place;
}

static bool has_boundary(const void *context, uint64_t a_ns, uint64_t b_ns)
{
	return code_file_has_boundary(context, a_ns, b_ns);
}

/* CODE_NO_READING: no memory, or too many. */
static uint32_t read_place(struct code_history *code, uint32_t id, uint64_t address,
			   uint64_t time_ns, unsigned int generation, uint32_t *ret_first_code)
{
	struct code_process *process = code_history_get(code, id);
	uint32_t inherited = CODE_NO_READING, first_code;
	struct code_place *place;

	if (!process)
		return CODE_NO_READING;
	*ret_first_code = process->first_code;
	process->used_ns = clock_now_ns();
	if (time_ns > process->looked_ns)
		code_process_look(code, process, process->used_ns);
	place = code_places_find(&process->places, address);
	if (!place && generation < MAX_GENERATIONS && parent_is_known(code, process))
		inherited = read_place(code, process->parent, address, process->forked_ns,
				       generation + 1, &first_code);
	if (!place)
		place = get_place(code, process, address);
	if (!place)
		return CODE_NO_READING;
	if (inherited != CODE_NO_READING)
		place->inherited = inherited;
	place->hits++;
	if (place->read_to >= process->file.known.offset)
		return code_places_read(&process->places, place, time_ns);
	return code_places_wait(&process->places, place, time_ns, has_boundary, &process->file);
}

uint32_t code_history_at(struct code_history *code, uint32_t process, uint64_t address,
			 uint64_t time_ns)
{
	uint32_t first_code = 0, reading;
	uint32_t java = hotspot_history_at(code->hotspot, process, address, time_ns);

	if (java)
		return java | CODE_OF_HOTSPOT;
	reading = read_place(code, process, address, time_ns, 0, &first_code);
	if (reading == CODE_NO_READING) {
		code->dropped++;
		reading = CODE_TOO_MANY;
	}
	return first_code + reading + 1;
}

uint32_t code_history_interpreted(struct code_history *code, uint32_t process, uint64_t word,
				  uint64_t leaf, uint64_t time_ns)
{
	uint32_t java = hotspot_history_interpreted(code->hotspot, process, word, leaf, time_ns);

	return java ? java | CODE_OF_HOTSPOT : 0;
}

void code_history_note_javascript(struct code_history *code, uint32_t process,
				  const struct pkbpf_event_v8_function *record)
{
	v8_history_note(code->v8, process, record);
}

bool code_history_has_javascript(const struct code_history *code, uint32_t process)
{
	return v8_history_knows(code->v8, process);
}

uint32_t code_history_javascript(struct code_history *code, uint32_t process,
				 const struct v8_site *site)
{
	return v8_history_at(code->v8, process, site);
}

/* ---- work ---- */

static bool lives(const struct process *known)
{
	return known && !known->end_ns;
}

static void look_again(struct code_history *code, struct code_process *process, uint64_t now_ns)
{
	const struct process *known = code_history_known(code, process);

	if (!lives(known)) {
		if (!process->ended) {
			process->ended = true;
			code_process_look(code, process, now_ns);
		}
		return;
	}
	if (code_file_is_open(&process->file) ||
	    (!process->file.inode && now_ns >= process->next_open_ns))
		code_process_look(code, process, now_ns);
	if (now_ns - process->grew_ns < BUSY_NS ||
	    (!process->file.inode && now_ns - process->used_ns < BUSY_NS))
		code->is_busy = true;
}

static bool may_be_forgotten(const struct code_history *code, const struct code_process *process,
			     uint64_t now_ns)
{
	const struct process *known = code_history_known(code, process);

	return !known ||
	       (process->ended && !process->has_unread && now_ns > known->end_ns + LATE_NS);
}

/* true: there is more. */
static bool read_more(struct code_history *code, struct code_process *process, bool at_once,
		      uint64_t until_ns)
{
	uint64_t now_ns;

	if (!process->has_unread)
		return false;
	now_ns = clock_now_ns();
	while (process->has_unread && (at_once || process->ended || process->is_scanning ||
				       now_ns >= process->next_scan_ns)) {
		if (now_ns >= until_ns)
			return true;
		if (!code_file_is_open(&process->file))
			code_process_look(code, process, now_ns);
		code_process_scan(code, process, PIECE_BYTES, now_ns);
		now_ns = clock_now_ns();
	}
	return false;
}

bool code_history_work(struct code_history *code, uint64_t until_ns)
{
	uint64_t now_ns = clock_now_ns();
	size_t count = code->items.count;
	bool more = false;

	code->is_settled = false;
	if (now_ns >= code->next_look_ns) {
		code->next_look_ns = now_ns + CODE_HISTORY_LOOK_NS;
		hotspot_history_work(code->hotspot, now_ns);
		code->is_busy = false;
		code->ended_count = 0;
		for (size_t i = 0; i < count; i++) {
			struct code_process *process = code->items.items[i];

			look_again(code, process, now_ns);
			code->ended_count += may_be_forgotten(code, process, now_ns);
		}
	}
	for (size_t i = 0; i < count && !more; i++) {
		if (code->next_item >= count)
			code->next_item = 0;
		more = read_more(code, code->items.items[code->next_item], false, until_ns);
		code->next_item += !more;
	}
	return more;
}

bool code_history_is_busy(const struct code_history *code)
{
	return code->is_busy;
}

static void settle(struct code_history *code, struct code_process *process)
{
	uint64_t begin_ns = clock_now_ns(), left_ns = code->settle_left_ns, took_ns;

	read_more(code, process, true, begin_ns + left_ns / SETTLE_SHARE);
	took_ns = clock_now_ns() - begin_ns;
	code->settle_left_ns -= took_ns < left_ns ? took_ns : left_ns;
}

void code_history_settle(struct code_history *code)
{
	hotspot_history_work(code->hotspot, clock_now_ns());
	for (size_t i = 0; i < code->items.count; i++) {
		struct code_process *process = code->items.items[i];
		const struct process *known = code_history_known(code, process);

		process->ended |= !lives(known);
		process->next_open_ns = 0;
		code_process_look(code, process, clock_now_ns());
		settle(code, process);
	}
	code->is_settled = true;
}

/* ---- the end ---- */

size_t code_history_ended_count(const struct code_history *code)
{
	return code->ended_count + v8_history_ended_count(code->v8, clock_now_ns());
}

void code_history_mark_processes(const struct code_history *code, bool *is_used)
{
	hotspot_history_mark_processes(code->hotspot, is_used);
	v8_history_mark_processes(code->v8, is_used);
	array_foreach(&code->items, each) {
		is_used[(*each)->process] = true;
		if ((*each)->parent != NO_PARENT)
			is_used[(*each)->parent] = true;
	}
}

static void count_children(struct code_history *code)
{
	array_foreach(&code->items, each)
		(*each)->children = 0;
	array_foreach(&code->items, each) {
		struct code_process *parent = code_history_parent(code, *each);

		if (parent)
			parent->children++;
	}
}

void code_history_forget_ended(struct code_history *code)
{
	uint64_t now_ns = clock_now_ns();

	hotspot_history_forget_ended(code->hotspot, now_ns);
	v8_history_forget_ended(code->v8, now_ns);
	count_children(code);
	for (size_t i = code->items.count; i > 0; i--) {
		struct code_process *process = code->items.items[i - 1];

		if (may_be_forgotten(code, process, now_ns) && !process->children)
			remove_process(code, i - 1);
	}
	code->ended_count = 0;
}

uint64_t code_history_dropped(const struct code_history *code)
{
	return code->dropped + hotspot_history_dropped(code->hotspot) +
	       v8_history_dropped(code->v8);
}
