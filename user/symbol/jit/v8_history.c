// SPDX-License-Identifier: BSD-2-Clause
/* Finds the V8 of sampled processes, and asks it for names. */
#include "symbol/jit/v8_history.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/hash_map.h"
#include "base/process_memory.h"
#include "elf/elf_program.h"

/* A process whose V8 is not found (its mappings are not known yet, its file cannot be opened) is
 * searched again after this time: at first, and later. */
#define FIRST_SEARCH_REST_NS (20 * NS_PER_MS)
#define FIRST_SEARCHES	     100
#define SEARCH_REST_NS	     NS_PER_SECOND
/* Files that are remembered: listing the symbols of one takes tens of milliseconds. */
#define MAX_IMAGES 64
/* Of an ended process stacks come so late at most. */
#define LATE_NS (PROCESS_LATE_NS + NS_PER_SECOND)

/* A process with JavaScript frames. */
struct node {
	uint32_t process, pid; /* incarnation id */
	uint64_t start_ns;
	struct v8_machine *machine; /* NULL: it has none that is known */
	bool ended;		    /* another process may have its pid */
	uint64_t next_search_ns;
	uint32_t searches;
};

/* What a mapped file has. Numbers of forgotten files are given to others. */
struct image {
	uint32_t file, device_major, device_minor;
	uint64_t inode;
	const struct v8_layout *layout; /* NULL: no V8 that is known */
	struct v8_bytecode_sizes sizes;
};

struct v8_history {
	const struct symbolizer_options *options;
	struct process_table *processes;
	struct v8_names names;
	ARRAY_OF(struct node *) items;
	struct hash_map by_process;
	ARRAY_OF(struct image) images;
	size_t next_image; /* to be replaced */
	size_t machine_count;
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

static void free_node(struct v8_history *history, struct node *node)
{
	history->machine_count -= node->machine != NULL;
	v8_machine_free(node->machine);
	free(node);
}

void v8_history_free(struct v8_history *history)
{
	if (!history)
		return;
	array_foreach(&history->items, each)
		free_node(history, *each);
	array_free(&history->items);
	array_free(&history->images);
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

	return node->ended ? -ESRCH : process_memory_read(&node->pid, address, buffer, size);
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
	free_node(history, node);
}

/* Negative errno: the file cannot be opened. */
static int read_image(struct mapped_file_table *files, struct mapped_file *file,
		      struct image *ret_image)
{
	int fd = mapped_file_open(files, file);
	struct elf_file *elf;
	struct v8_image image;
	int err = fd < 0 ? fd : elf_program_open(fd, &elf);

	if (fd < 0 || err == -ENOMEM)
		return err;
	*ret_image = (struct image){
		.file = file->id,
		.device_major = file->device_major,
		.device_minor = file->device_minor,
		.inode = file->inode,
	};
	if (err)
		return 0;
	if (!v8_image_find(elf, &image) && image.layout) {
		ret_image->layout = image.layout;
		v8_image_bytecode_sizes(elf, &ret_image->sizes);
	}
	elf_program_free(elf);
	return 0;
}

/* NULL: it cannot be read. Until the next call. */
static const struct image *image_of(struct v8_history *history, uint32_t number)
{
	struct mapped_file_table *files = process_table_files(history->processes);
	struct mapped_file *file = mapped_file_table_get(files, number);
	struct image *image = NULL, read;

	if (!file)
		return NULL;
	array_foreach(&history->images, each)
		if (each->file == number && each->inode == file->inode &&
		    each->device_major == file->device_major &&
		    each->device_minor == file->device_minor)
			return each;
	if (read_image(files, file, &read))
		return NULL;
	if (history->images.count < MAX_IMAGES)
		image = array_add(&history->images);
	else
		image = &history->images.items[history->next_image++ % MAX_IMAGES];
	if (image)
		*image = read;
	return image;
}

/* The kernel side has found V8 in one of the files that are mapped. */
static void find_machine(struct v8_history *history, struct node *node,
			 const struct address_space *space)
{
	const struct v8_memory memory = {read_memory, node};
	const struct mapping_list *list = address_space_mappings(space);

	for (size_t i = 0; i < list->count && !node->machine; i++) {
		const struct image *image = mapping_has_file(&list->items[i])
						    ? image_of(history, list->items[i].file)
						    : NULL;

		if (image && image->layout)
			node->machine = v8_machine_new(&memory, image->layout, &image->sizes,
						       &history->names);
	}
	history->machine_count += node->machine != NULL;
}

static void search(struct v8_history *history, struct node *node, const struct process *known,
		   uint64_t now_ns)
{
	const struct address_space *space = process_table_mappings(history->processes, known);

	node->ended = known->end_ns;
	if (node->machine || node->ended || !space || now_ns < node->next_search_ns ||
	    history->machine_count >= V8_HISTORY_MAX_MACHINES)
		return;
	node->next_search_ns =
		now_ns + (node->searches < FIRST_SEARCHES ? FIRST_SEARCH_REST_NS : SEARCH_REST_NS);
	node->searches++;
	find_machine(history, node, space);
}

/* NULL: out of memory. */
static struct node *add_node(struct v8_history *history, const struct process *known)
{
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
	return node;
}

/* NULL: there is none. */
static struct node *current_node(const struct v8_history *history, uint32_t process)
{
	struct node *node = find_node(history, process);

	return node && known_as(history, node) ? node : NULL;
}

/* ---- samples ---- */

void v8_history_note(struct v8_history *history, uint32_t process,
		     const struct pkbpf_event_v8_function *record)
{
	const struct process *known = process_table_by_id(history->processes, process);
	struct node *node = current_node(history, process);
	uint64_t now_ns = clock_now_ns();

	if (!known)
		return;
	if (!node && find_node(history, process))
		remove_node(history, *hash_map_find(&history->by_process, process));
	if (!node)
		node = add_node(history, known);
	if (!node)
		return;
	search(history, node, known, now_ns);
	if (node->machine)
		v8_machine_note(node->machine, record, now_ns);
	else
		history->names.dropped++;
}

bool v8_history_knows(const struct v8_history *history, uint32_t process)
{
	return current_node(history, process);
}

uint32_t v8_history_at(struct v8_history *history, uint32_t process, const struct v8_site *site)
{
	struct node *node = current_node(history, process);
	uint64_t now_ns = clock_now_ns();
	uint32_t number;

	if (!node)
		return 0;
	search(history, node, process_table_by_id(history->processes, process), now_ns);
	if (!node->machine) {
		history->names.dropped++;
		return 0;
	}
	number = v8_machine_find(node->machine, site, history->options->lines, now_ns);
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
