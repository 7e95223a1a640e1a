// SPDX-License-Identifier: BSD-2-Clause
/* Finds the V8 of sampled processes, and asks it for names. */
#include "symbol/jit/v8_history.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/hash_map.h"
#include "elf/elf_program.h"

/* Of an ended process stacks come so late at most. */
#define LATE_NS (PROCESS_LATE_NS + NS_PER_SECOND)

/* A process with JavaScript frames. */
struct node {
	uint32_t process, pid; /* incarnation id */
	uint64_t start_ns;
	struct v8_machine *machine; /* NULL: it has none that is known */
	bool ended;		    /* another process may have its pid */
};

struct v8_history {
	const struct symbolizer_options *options;
	struct process_table *processes;
	struct v8_names names;
	ARRAY_OF(struct node *) items;
	struct hash_map by_process;
};

struct v8_history *v8_history_new(const struct symbolizer_options *options,
				  struct process_table *processes, struct string_pool *strings)
{
	struct v8_history *history = calloc(1, sizeof(*history));

	if (!history)
		return NULL;
	history->options = options;
	history->processes = processes;
	history->names.strings = strings;
	history->names.max_bytes = V8_HISTORY_MAX_NAME_BYTES;
	return history;
}

static void free_node(struct node *node)
{
	v8_machine_free(node->machine);
	free(node);
}

void v8_history_free(struct v8_history *history)
{
	if (!history)
		return;
	array_foreach(&history->items, each)
		free_node(*each);
	array_free(&history->items);
	hash_map_done(&history->by_process);
	free(history);
}

static bool is_over(const struct process *known, uint64_t now_ns)
{
	return !known || (known->end_ns && now_ns > known->end_ns + LATE_NS);
}

static int read_memory(void *context, uint64_t address, void *buffer, size_t size)
{
	struct node *node = context;

	return node->ended ? -ESRCH : v8_memory_read_process(&node->pid, address, buffer, size);
}

/* ---- processes ---- */

static const struct process *known_as(const struct v8_history *history, const struct node *node)
{
	const struct process *known = process_table_by_id(history->processes, node->process);

	return known && known->pid == node->pid && known->start_ns == node->start_ns ? known : NULL;
}

static struct node *find_node(const struct v8_history *history, uint32_t process)
{
	const uint64_t *item = hash_map_find(&history->by_process, process);

	return item ? history->items.items[*item] : NULL;
}

static void remove_node(struct v8_history *history, size_t item)
{
	struct node *node = history->items.items[item],
		    *last = history->items.items[history->items.count - 1];

	hash_map_remove(&history->by_process, node->process);
	if (node != last) {
		history->items.items[item] = last;
		*hash_map_find(&history->by_process, last->process) = item;
	}
	history->items.count--;
	free_node(node);
}

/* -ENOENT: the file has no V8 that is known. */
static int read_image(struct mapped_file_table *files, uint32_t number,
		      const struct v8_layout **ret_layout, struct v8_bytecode_sizes *ret_sizes)
{
	int fd = mapped_file_open(files, mapped_file_table_get(files, number));
	struct elf_file *file;
	struct v8_image image;
	int err = fd < 0 ? fd : elf_program_open(fd, &file);

	if (err)
		return err;
	err = v8_image_find(file, &image);
	if (!err && !image.layout)
		err = -ENOENT;
	if (!err) {
		*ret_layout = image.layout;
		v8_image_bytecode_sizes(file, ret_sizes);
	}
	elf_program_free(file);
	return err;
}

/* The kernel side has found V8 in one of the files that are mapped. */
static void find_machine(struct v8_history *history, struct node *node,
			 const struct address_space *space)
{
	const struct v8_memory memory = {read_memory, node};
	const struct mapping_list *list = address_space_mappings(space);
	struct v8_bytecode_sizes sizes;
	const struct v8_layout *layout;

	for (size_t i = 0; i < list->count && !node->machine; i++)
		if (mapping_has_file(&list->items[i]) &&
		    !read_image(process_table_files(history->processes), list->items[i].file,
				&layout, &sizes))
			node->machine = v8_machine_new(&memory, layout, &sizes, &history->names);
}

static struct node *add_node(struct v8_history *history, const struct process *known)
{
	const struct address_space *space = process_table_mappings(history->processes, known);
	struct node *node = calloc(1, sizeof(*node));

	if (!node || !array_reserve(&history->items, history->items.count + 1) ||
	    !hash_map_put(&history->by_process, known->id, history->items.count)) {
		free(node);
		return NULL;
	}
	*array_add(&history->items) = node;
	node->process = known->id;
	node->pid = known->pid;
	node->start_ns = known->start_ns;
	if (space && !known->end_ns)
		find_machine(history, node, space);
	return node;
}

/* NULL: out of memory, too many, or nobody knows the process. */
static struct node *get_node(struct v8_history *history, uint32_t process)
{
	const struct process *known = process_table_by_id(history->processes, process);
	struct node *node = find_node(history, process);

	if (!known)
		return NULL;
	if (node && !known_as(history, node)) {
		remove_node(history, *hash_map_find(&history->by_process, process));
		node = NULL;
	}
	if (!node && history->items.count >= V8_HISTORY_MAX_MACHINES) {
		history->names.dropped++;
		return NULL;
	}
	node = node ? node : add_node(history, known);
	if (node)
		node->ended = known->end_ns;
	return node;
}

/* ---- samples ---- */

void v8_history_note(struct v8_history *history, uint32_t process,
		     const struct pkbpf_event_v8_function *record)
{
	struct node *node = get_node(history, process);

	if (node && node->machine)
		v8_machine_note(node->machine, record);
}

uint32_t v8_history_at(struct v8_history *history, uint32_t process, const struct v8_site *site)
{
	struct node *node = get_node(history, process);
	uint32_t number;

	if (!node || !node->machine)
		return 0;
	number = v8_machine_find(node->machine, site, history->options->lines);
	return number == UINT32_MAX ? 0 : number + 1;
}

void v8_history_name(const struct v8_history *history, uint32_t process, uint32_t number,
		     struct symbol *ret_symbol)
{
	const struct node *node = find_node(history, process);
	const struct v8_place *place = node && node->machine && number
					       ? v8_machine_place(node->machine, number - 1)
					       : NULL;

	if (!place) {
		ret_symbol->result = SYMBOL_NAME_DROPPED;
		return;
	}
	ret_symbol->result = SYMBOL_FOUND;
	ret_symbol->lines = place->lines;
	ret_symbol->line_count = place->line_count;
}

void v8_history_mark_processes(const struct v8_history *history, bool *is_used)
{
	array_foreach(&history->items, each)
		is_used[(*each)->process] = true;
}

void v8_history_forget_ended(struct v8_history *history, uint64_t now_ns)
{
	for (size_t i = history->items.count; i > 0; i--) {
		if (is_over(known_as(history, history->items.items[i - 1]), now_ns))
			remove_node(history, i - 1);
	}
}

size_t v8_history_ended_count(const struct v8_history *history, uint64_t now_ns)
{
	size_t count = 0;

	array_foreach(&history->items, each)
		count += is_over(known_as(history, *each), now_ns);
	return count;
}

uint64_t v8_history_dropped(const struct v8_history *history)
{
	return history->names.dropped;
}
