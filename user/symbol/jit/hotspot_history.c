// SPDX-License-Identifier: BSD-2-Clause
/* Follows the JVMs of sampled processes, and names the places in their code. */
#include "symbol/jit/hotspot_history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash_map.h"
#include "symbol/jit/hotspot_code.h"
#include "symbol/jit/hotspot_jvm.h"
#include "symbol/jit/hotspot_place.h"

/* A process without a JVM, or whose JVM is just starting, is searched again after this time: at
 * first, and later. Generated code of other run-times is no reason to search all the time. */
#define FIRST_SEARCH_REST_NS (20 * NS_PER_MS)
#define FIRST_SEARCHES	     100
#define SEARCH_REST_NS	     NS_PER_SECOND
/* Samples cause no more looks than one in this time. */
#define LOOK_REST_NS	(5 * NS_PER_MS)
#define METHOD_CHECK_NS NS_PER_SECOND
#define MAX_CODELETS	1024 /* the interpreter has 300 */
/* Without samples it is looked at once a second. */
#define BUSY_NS	     (5 * NS_PER_SECOND)
#define IDLE_LOOK_NS NS_PER_SECOND
/* Of an ended process stacks come so late at most. */
#define LATE_NS (PROCESS_LATE_NS + NS_PER_SECOND)

struct jvm {
	uint32_t process, pid; /* incarnation id */
	uint64_t start_ns;
	struct hotspot_code code; /* .process NULL: no JVM is known */
	uint64_t call_stub_return;
	struct hotspot_codelet *codelets; /* of the interpreter; NULL: not read yet */
	size_t codelet_count;
	ARRAY_OF(struct hotspot_place) places;
	struct hash_map by_code; /* address and serial number of its blob -> place */
	size_t waiting;		 /* places from here on may have no code yet */
	uint32_t first_number;
	uint64_t next_search_ns, tried_ns, used_ns;
	uint32_t searches;
	bool is_unknown; /* a version that is not known */
};

struct hotspot_history {
	const struct symbolizer_options *options;
	struct process_table *processes;
	struct string_pool *strings;
	ARRAY_OF(struct jvm *) items;
	struct hash_map by_process;
	struct hotspot_place_names names;
	uint32_t next_number;
	uint64_t dropped;
	size_t jvm_count;
	struct symbol_line lines[HOTSPOT_PLACE_MAX_LINES]; /* of the last answer */
};

struct hotspot_history *hotspot_history_new(const struct symbolizer_options *options,
					    struct process_table *processes,
					    struct string_pool *strings)
{
	struct hotspot_history *history = calloc(1, sizeof(*history));

	if (!history)
		return NULL;
	history->options = options;
	history->processes = processes;
	history->strings = strings;
	history->names.strings = strings;
	history->names.max_bytes = HOTSPOT_HISTORY_MAX_NAME_BYTES;
	return history;
}

static void stop_following(struct hotspot_history *history, struct jvm *jvm)
{
	if (!jvm->code.process)
		return;
	hotspot_code_done(&jvm->code);
	history->jvm_count--;
}

static void free_jvm(struct hotspot_history *history, struct jvm *jvm)
{
	stop_following(history, jvm);
	array_foreach(&jvm->places, place)
		hotspot_place_done(place);
	array_free(&jvm->places);
	hash_map_done(&jvm->by_code);
	free(jvm->codelets);
	free(jvm);
}

void hotspot_history_free(struct hotspot_history *history)
{
	if (!history)
		return;
	array_foreach(&history->items, each)
		free_jvm(history, *each);
	array_free(&history->items);
	hash_map_done(&history->by_process);
	free(history);
}

/* ---- processes ---- */

static const struct process *known_as(const struct hotspot_history *history, const struct jvm *jvm)
{
	const struct process *known = process_table_by_id(history->processes, jvm->process);

	return known && known->pid == jvm->pid && known->start_ns == jvm->start_ns ? known : NULL;
}

static struct jvm *find_jvm(const struct hotspot_history *history, uint32_t process)
{
	const uint64_t *item = hash_map_find(&history->by_process, process);

	return item ? history->items.items[*item] : NULL;
}

static void remove_jvm(struct hotspot_history *history, size_t item)
{
	struct jvm *jvm = history->items.items[item],
		   *last = history->items.items[history->items.count - 1];

	hash_map_remove(&history->by_process, jvm->process);
	if (jvm != last) {
		history->items.items[item] = last;
		*hash_map_find(&history->by_process, last->process) = item;
	}
	history->items.count--;
	free_jvm(history, jvm);
}

static struct jvm *add_jvm(struct hotspot_history *history, const struct process *known)
{
	struct jvm *jvm = calloc(1, sizeof(*jvm));

	if (!jvm || !array_reserve(&history->items, history->items.count + 1) ||
	    !hash_map_put(&history->by_process, known->id, history->items.count)) {
		free(jvm);
		return NULL;
	}
	*array_add(&history->items) = jvm;
	jvm->process = known->id;
	jvm->pid = known->pid;
	jvm->start_ns = known->start_ns;
	return jvm;
}

/* NULL: out of memory, or an unknown process. */
static struct jvm *get_jvm(struct hotspot_history *history, uint32_t process)
{
	const struct process *known = process_table_by_id(history->processes, process);
	struct jvm *jvm = find_jvm(history, process);

	if (!known)
		return NULL;
	if (jvm && !known_as(history, jvm)) {
		remove_jvm(history, *hash_map_find(&history->by_process, process));
		jvm = NULL;
	}
	return jvm ? jvm : add_jvm(history, known);
}

static void search(struct hotspot_history *history, struct jvm *jvm, uint64_t now_ns)
{
	const struct process *known;
	const struct address_space *space;
	int err;

	if (jvm->code.process || jvm->is_unknown || now_ns < jvm->next_search_ns ||
	    history->jvm_count >= HOTSPOT_HISTORY_MAX_JVMS)
		return;
	known = known_as(history, jvm);
	space = known && !known->end_ns ? process_table_mappings(history->processes, known) : NULL;
	if (!space)
		return;
	jvm->next_search_ns =
		now_ns + (jvm->searches < FIRST_SEARCHES ? FIRST_SEARCH_REST_NS : SEARCH_REST_NS);
	jvm->searches++;
	err = hotspot_jvm_find(process_table_files(history->processes), space, &jvm->pid, NULL,
			       &jvm->code.process);
	jvm->is_unknown = err == -ENOTSUP;
	if (err)
		return;
	history->jvm_count++;
	jvm->first_number = history->next_number;
	history->next_number = (history->next_number + HOTSPOT_HISTORY_MAX_PLACES) %
			       (HOTSPOT_HISTORY_MAX_NUMBER / 2);
}

/* ---- places ---- */

static uint64_t key_of(uint64_t address, uint64_t serial)
{
	const uint64_t words[] = {address, serial};

	return hash_bytes(words, sizeof(words), 1);
}

/* Names a place, once its code is known. */
static void name_place(struct hotspot_history *history, struct jvm *jvm,
		       struct hotspot_place *place)
{
	const struct hotspot_blob *blob =
		hotspot_code_at(&jvm->code, place->address, place->time_ns);

	if (!blob)
		return;
	hotspot_place_name(place, &history->names, jvm->code.process, blob, jvm->call_stub_return,
			   history->options->lines);
}

static void name_waiting(struct hotspot_history *history, struct jvm *jvm)
{
	for (size_t i = jvm->waiting; i < jvm->places.count; i++)
		if (jvm->places.items[i].state == HOTSPOT_PLACE_WAITING)
			name_place(history, jvm, &jvm->places.items[i]);
	while (jvm->waiting < jvm->places.count &&
	       (jvm->places.items[jvm->waiting].state != HOTSPOT_PLACE_WAITING ||
		jvm->places.items[jvm->waiting].time_ns + BUSY_NS < jvm->code.looked_ns))
		jvm->waiting++;
}

static void look(struct hotspot_history *history, struct jvm *jvm, uint64_t now_ns)
{
	const struct process *known = known_as(history, jvm);
	uint64_t before_ns = jvm->code.looked_ns;
	int result;

	/* Another process may have the pid of one that has ended. */
	if (now_ns < jvm->tried_ns + LOOK_REST_NS || !known || known->end_ns)
		return;
	jvm->tried_ns = now_ns;
	result = hotspot_code_look(&jvm->code, now_ns);
	history->dropped += jvm->code.dropped;
	jvm->code.dropped = 0;
	if (!jvm->call_stub_return)
		jvm->call_stub_return = hotspot_process_call_stub_return(jvm->code.process);
	if (result > 0 || jvm->code.looked_ns != before_ns)
		name_waiting(history, jvm);
}

/* NULL: too many, or no memory. */
static struct hotspot_place *add_place(struct jvm *jvm, uint64_t key, uint64_t address,
				       uint64_t time_ns)
{
	struct hotspot_place *place;

	if (jvm->places.count >= HOTSPOT_HISTORY_MAX_PLACES ||
	    !array_reserve(&jvm->places, jvm->places.count + 1) ||
	    !hash_map_put(&jvm->by_code, key, jvm->places.count))
		return NULL;
	place = array_add(&jvm->places);
	place->address = address;
	place->time_ns = time_ns;
	return place;
}

/* UINT32_MAX: too many, or no memory. */
static uint32_t place_at(struct hotspot_history *history, struct jvm *jvm, uint64_t address,
			 uint64_t time_ns)
{
	const struct hotspot_blob *blob = hotspot_code_at(&jvm->code, address, time_ns);
	/* Unlisted code: the time of the last look is part of the key. */
	uint64_t key = key_of(address, blob ? blob->serial : ~jvm->code.looked_ns);
	const uint64_t *known = hash_map_find(&jvm->by_code, key);
	struct hotspot_place *place;

	if (known)
		return (uint32_t)*known;
	place = add_place(jvm, key, address, time_ns);
	if (!place)
		return UINT32_MAX;
	if (blob)
		hotspot_place_name(place, &history->names, jvm->code.process, blob,
				   jvm->call_stub_return, history->options->lines);
	return (uint32_t)(jvm->places.count - 1);
}

uint32_t hotspot_history_at(struct hotspot_history *history, uint32_t process, uint64_t address,
			    uint64_t time_ns)
{
	uint64_t now_ns = clock_now_ns();
	struct jvm *jvm = get_jvm(history, process);
	uint32_t place;

	if (!jvm)
		return 0;
	search(history, jvm, now_ns);
	if (!jvm->code.process)
		return 0;
	jvm->used_ns = now_ns;
	if (time_ns > jvm->code.looked_ns)
		look(history, jvm, now_ns);
	if (!hotspot_process_is_code(jvm->code.process, address))
		return 0;
	place = place_at(history, jvm, address, time_ns);
	if (place == UINT32_MAX) {
		history->dropped++;
		return 0;
	}
	return jvm->first_number + place + 1;
}

/* ---- interpreted methods ---- */

/* Code of the interpreter that belongs to no bytecode has something else in its register. */
static bool is_at_bytecode(const struct jvm *jvm, uint64_t leaf)
{
	for (size_t i = 0; i < jvm->codelet_count && leaf; i++)
		if (leaf >= jvm->codelets[i].code_begin && leaf < jvm->codelets[i].code_end)
			return jvm->codelets[i].bytecode >= 0;
	return !leaf;
}

static void read_codelets(struct jvm *jvm)
{
	if (jvm->codelets)
		return;
	jvm->codelets = calloc(MAX_CODELETS, sizeof(*jvm->codelets));
	if (jvm->codelets)
		jvm->codelet_count =
			hotspot_process_codelets(jvm->code.process, jvm->codelets, MAX_CODELETS);
}

/* The address of a method may be given to another one: its name is read again now and then. Returns
 * whether it is still the same. */
static bool is_still_named(struct hotspot_history *history, const struct jvm *jvm,
			   struct hotspot_place *place, uint64_t now_ns)
{
	struct hotspot_place again = {0};
	bool same;

	if (now_ns < place->checked_ns + METHOD_CHECK_NS)
		return true;
	place->checked_ns = now_ns;
	hotspot_place_name_interpreted(&again, &history->names, jvm->code.process, place->address,
				       false, false);
	/* Of a process that has ended nothing can be read. */
	same = again.state != HOTSPOT_PLACE_NAMED ||
	       (place->state == HOTSPOT_PLACE_NAMED &&
		again.lines[0].function == place->lines[0].function);
	hotspot_place_done(&again);
	return same;
}

static uint32_t interpreted_place(struct hotspot_history *history, struct jvm *jvm, uint64_t word,
				  bool has_bytecode, uint64_t time_ns)
{
	uint64_t now_ns = clock_now_ns(), key = key_of(word, has_bytecode ? 0 : UINT64_MAX);
	const uint64_t *known = hash_map_find(&jvm->by_code, key);
	struct hotspot_place *place;

	if (known && is_still_named(history, jvm, &jvm->places.items[*known], now_ns))
		return (uint32_t)*known;
	place = add_place(jvm, key, word, time_ns);
	if (!place)
		return UINT32_MAX;
	place->checked_ns = now_ns;
	hotspot_place_name_interpreted(place, &history->names, jvm->code.process, word,
				       has_bytecode, history->options->lines);
	return (uint32_t)(jvm->places.count - 1);
}

uint32_t hotspot_history_interpreted(struct hotspot_history *history, uint32_t process,
				     uint64_t word, uint64_t leaf, uint64_t time_ns)
{
	struct jvm *jvm = get_jvm(history, process);
	uint32_t place;

	if (!jvm)
		return 0;
	search(history, jvm, clock_now_ns());
	if (!jvm->code.process)
		return 0;
	read_codelets(jvm);
	place = interpreted_place(history, jvm, word, is_at_bytecode(jvm, leaf), time_ns);
	if (place == UINT32_MAX) {
		history->dropped++;
		return 0;
	}
	/* Nobody knows what it is: the interpreter's code stands for it. */
	return jvm->places.items[place].state == HOTSPOT_PLACE_NAMED ? jvm->first_number + place + 1
								     : 0;
}

/* ---- names ---- */

void hotspot_history_name(struct hotspot_history *history, uint32_t process, uint32_t number,
			  bool is_final, struct symbol *ret_symbol)
{
	const struct jvm *jvm = find_jvm(history, process);
	const struct hotspot_place *place = NULL;

	if (jvm && number - jvm->first_number - 1 < jvm->places.count)
		place = &jvm->places.items[number - jvm->first_number - 1];
	if (!place || place->state == HOTSPOT_PLACE_WAITING) {
		ret_symbol->result = place && !is_final ? SYMBOL_PENDING : SYMBOL_NOT_LISTED;
		return;
	}
	if (place->state == HOTSPOT_PLACE_UNNAMED) {
		ret_symbol->result = place->reason;
		return;
	}
	ret_symbol->result = SYMBOL_FOUND;
	if (place->is_glue)
		ret_symbol->flags |= SYMBOL_IS_GLUE;
	for (size_t i = 0; i < place->line_count; i++)
		history->lines[i] = place->lines[i];
	ret_symbol->lines = history->lines;
	ret_symbol->line_count = place->line_count;
}

/* ---- over time ---- */

void hotspot_history_work(struct hotspot_history *history, uint64_t now_ns)
{
	array_foreach(&history->items, each) {
		struct jvm *jvm = *each;
		const struct process *known = known_as(history, jvm);
		uint64_t rest_ns = now_ns - jvm->used_ns < BUSY_NS ? 0 : IDLE_LOOK_NS;

		if (jvm->code.process && known && !known->end_ns &&
		    now_ns >= jvm->tried_ns + rest_ns)
			look(history, jvm, now_ns);
	}
}

void hotspot_history_mark_processes(const struct hotspot_history *history, bool *is_used)
{
	array_foreach(&history->items, each)
		is_used[(*each)->process] = true;
}

void hotspot_history_forget_ended(struct hotspot_history *history, uint64_t now_ns)
{
	for (size_t i = history->items.count; i > 0; i--) {
		const struct process *known = known_as(history, history->items.items[i - 1]);

		if (!known || (known->end_ns && now_ns > known->end_ns + LATE_NS))
			remove_jvm(history, i - 1);
	}
}

uint64_t hotspot_history_dropped(const struct hotspot_history *history)
{
	return history->dropped + history->names.dropped;
}
