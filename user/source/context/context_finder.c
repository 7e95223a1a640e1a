// SPDX-License-Identifier: BSD-2-Clause
#include "source/context/context_finder.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process_memory.h"
#include "capture/session/session.h"
#include "process/procfs_maps.h"
#include "process/process_table.h"
#include "source/context/context_files.h"
#include "source/context/context_variable.h"

/* Files that are asked about, and lists of mappings that are read, in one look. */
#define FILES_PER_LOOK 64U
#define MAPS_PER_LOOK  4U
/* Records of the kernel wait meanwhile. */
#define LOOK_NS	   (20 * NS_PER_MS)
#define READ_TRIES 3
#define REFRESH_NS NS_PER_SECOND

enum finding {
	UNKNOWN, /* has not been looked at with these mappings */
	WITHOUT, /* has no variable */
	WAITING, /* has the variable, but says nothing about it yet */
	FOUND,
	REFUSED,
};

struct found_process {
	uint32_t pid;
	enum finding finding;
	size_t mappings; /* when it was looked at */
	uint64_t next_ns;
	uint64_t rest_ns;      /* until the look after that */
	uint64_t header;       /* address of the process context */
	uint64_t published_ns; /* as it said */
	struct pkbpf_context_process entry;
};

struct context_finder {
	struct session *session;
	const struct context_labels *labels;
	context_ended_fn *ended;
	void *context;
	struct context_files files;
	uint32_t next;			      /* process that the next look begins with */
	ARRAY_OF(struct found_process) items; /* by id of the process */
	int proc_fd;
	uint32_t count;
};

struct context_finder *context_finder_new(struct session *session,
					  const struct context_labels *labels,
					  context_ended_fn *ended, void *context)
{
	struct context_finder *finder = calloc(1, sizeof(*finder));

	if (!finder)
		return NULL;
	finder->session = session;
	finder->labels = labels;
	finder->ended = ended;
	finder->context = context;
	finder->proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return finder;
}

void context_finder_free(struct context_finder *finder)
{
	if (!finder)
		return;
	if (finder->proc_fd >= 0)
		close(finder->proc_fd);
	context_files_done(&finder->files);
	array_free(&finder->items);
	free(finder);
}

uint32_t context_finder_count(const struct context_finder *finder)
{
	return finder->count;
}

/* ---- what a process says about its contexts ---- */

static void take_mapping(void *context, const struct procfs_mapping *mapping)
{
	uint64_t *address = context;

	if (!*address && process_context_is_name(mapping->path))
		*address = mapping->start;
}

static int read_header(const struct found_process *item, struct process_context_header *header)
{
	uint32_t pid = item->pid;
	int err = process_memory_read(&pid, item->header, header, sizeof(*header));

	if (err)
		return err;
	return process_context_is_header(header) ? 0 : -EAGAIN;
}

/* It may change while it is read. */
static int read_message(const struct found_process *item, void *message,
			struct process_context_header *header)
{
	struct process_context_header after;
	uint32_t pid = item->pid;

	for (int i = 0; i < READ_TRIES; i++) {
		int err = read_header(item, header);

		err = err ? err : process_memory_read(&pid, header->address, message, header->size);
		err = err ? err : read_header(item, &after);
		if (err)
			return err;
		if (after.published_ns == header->published_ns)
			return 0;
	}
	return -EAGAIN;
}

/* Index of each label that is wanted. -ENOTSUP: the program keeps its contexts in a way that is not
 * known. */
static int read_keys(struct context_finder *finder, struct found_process *item)
{
	void *message = malloc(PROCESS_CONTEXT_MAX_BYTES);
	struct process_context_header header;
	struct process_context_keys keys;
	int err = message ? read_message(item, message, &header) : -ENOMEM;

	if (!err)
		err = context_ask_keys(session_options(finder->session)->readers, message,
				       header.size, finder->labels->keys, finder->labels->count,
				       &keys);
	free(message);
	if (err)
		return err;
	if (!keys.has_schema)
		return keys.is_unknown ? -ENOTSUP : -EAGAIN;
	memcpy(item->entry.labels, keys.places, sizeof(item->entry.labels));
	item->published_ns = header.published_ns;
	return 0;
}

/* ---- the kernel side ---- */

static int put(const struct found_process *item, int map_fd)
{
	struct pkbpf_context_process entry = item->entry, known;

	/* The kernel side counts sets there. */
	if (bpf_map_lookup_elem(map_fd, &item->pid, &known) == 0)
		entry.sets = known.sets;
	return bpf_map_update_elem(map_fd, &item->pid, &entry, BPF_ANY) ? -errno : 0;
}

static void forget(const struct context_finder *finder, struct found_process *item, int map_fd)
{
	if (item->finding == FOUND) {
		bpf_map_delete_elem(map_fd, &item->pid);
		finder->ended(finder->context, item->pid);
	}
	*item = (struct found_process){0};
}

/* ---- one process ---- */

static bool has_musl(struct mapped_file_table *table, const struct mapping_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct mapped_file *file =
			mapping_has_file(&list->items[i])
				? mapped_file_table_get(table, list->items[i].file)
				: NULL;

		const char *name = file ? strrchr(file->path, '/') : NULL;

		/* Also as a name of the program interpreter. glibc has libc.so.6. */
		if (name && (strcmp(name, "/libc.so") == 0 ||
			     strncmp(name, "/ld-musl-", strlen("/ld-musl-")) == 0 ||
			     strncmp(name, "/libc.musl-", strlen("/libc.musl-")) == 0))
			return true;
	}
	return false;
}

static void wait_for_more(struct found_process *item, uint64_t now_ns)
{
	item->finding = WAITING;
	item->rest_ns = item->rest_ns ? 2 * NS_PER_SECOND : NS_PER_SECOND / 10;
	item->next_ns = now_ns + item->rest_ns;
}

static void say_found(const struct context_finder *finder, const struct found_process *item)
{
	uint32_t known = 0;

	for (size_t i = 0; i < PKBPF_CONTEXT_KEYS; i++)
		known += item->entry.labels[i] != 0;
	log_info(session_options(finder->session)->log,
		 "process %u publishes thread contexts, with %u of %zu labels", item->pid, known,
		 finder->labels->count);
}

/* The first file in the order of addresses that leads to a variable. */
static int resolve(struct context_finder *finder, struct found_process *item,
		   const struct mapping_list *list, unsigned int *budget)
{
	const struct session_options *options = session_options(finder->session);
	struct mapped_file_table *table = process_table_files(options->processes);
	uint32_t pid = item->pid;
	struct context_process_view view = {.read = process_memory_read, .context = &pid};
	int err = -ENOENT;

	for (size_t i = 0; i < list->count && err; i++) {
		const struct mapping *mapping = &list->items[i];
		const struct context_place *place;

		if (!mapping_has_file(mapping))
			continue;
		place = context_files_find(&finder->files, table, options->readers, mapping,
					   budget);
		if (!place)
			continue;
		view.is_musl = has_musl(table, list);
		err = context_variable_resolve(&view, place, mapping->start, &item->entry);
	}
	return err;
}

static void look_at(struct context_finder *finder, struct found_process *item,
		    const struct mapping_list *list, int map_fd, unsigned int *files,
		    unsigned int *maps)
{
	uint64_t now_ns = clock_now_ns();
	int err = resolve(finder, item, list, files);

	if (err == -ENOENT) {
		/* Others have to be asked about first. */
		item->finding = *files ? WITHOUT : UNKNOWN;
		return;
	}
	if (!*maps) {
		item->finding = UNKNOWN;
		return;
	}
	--*maps;
	item->header = 0;
	if (!err)
		procfs_maps_read(finder->proc_fd, item->pid, take_mapping, &item->header);
	err = err ? err : item->header ? read_keys(finder, item) : -EAGAIN;
	item->entry.since_ns = now_ns;
	err = err ? err : put(item, map_fd);
	if (err == -ENOTSUP) {
		item->finding = REFUSED;
		log_warning(session_options(finder->session)->log,
			    "thread contexts of process %u are not read: it keeps them in a way "
			    "that this version of pkbpf does not know",
			    item->pid);
		return;
	}
	if (err) {
		wait_for_more(item, now_ns);
		return;
	}
	item->finding = FOUND;
	item->next_ns = now_ns + REFRESH_NS;
	finder->count++;
	say_found(finder, item);
}

/* Keys are added while a program runs. */
static void refresh(struct context_finder *finder, struct found_process *item, int map_fd)
{
	struct process_context_header header;

	item->next_ns = clock_now_ns() + REFRESH_NS;
	if (read_header(item, &header) == 0 && header.published_ns != item->published_ns &&
	    read_keys(finder, item) == 0)
		put(item, map_fd);
}

static bool is_due(const struct found_process *item, const struct mapping_list *list,
		   uint64_t now_ns)
{
	switch (item->finding) {
	case UNKNOWN:
		return true;
	case WAITING:
		return item->mappings != list->count || now_ns >= item->next_ns;
	case WITHOUT:
		return item->mappings != list->count;
	default:
		return false;
	}
}

static bool is_target(const struct context_finder *finder, const struct process *process)
{
	return session_options(finder->session)->target_mode != PKBPF_TARGET_PROCESS ||
	       session_follows(finder->session, process->pid);
}

static void look_at_process(struct context_finder *finder, uint32_t id, int map_fd,
			    unsigned int *files, unsigned int *maps)
{
	struct process_table *table = session_options(finder->session)->processes;
	const struct process *process = process_table_by_id(table, id);
	struct found_process *item = &finder->items.items[id];
	const struct address_space *space;
	const struct mapping_list *list;

	if (!process || process->end_ns)
		return;
	item->pid = process->pid;
	if (item->finding == FOUND) {
		if (clock_now_ns() >= item->next_ns)
			refresh(finder, item, map_fd);
		return;
	}
	space = process_table_mappings(table, process);
	list = space ? address_space_mappings(space) : NULL;
	if (!list || !is_due(item, list, clock_now_ns()) || !is_target(finder, process))
		return;
	item->mappings = list->count;
	look_at(finder, item, list, map_fd, files, maps);
}

/* Processes that have ended, before their numbers are those of others. */
static void forget_ended(struct context_finder *finder, struct process_table *table, size_t count,
			 int map_fd)
{
	for (uint32_t id = 0; id < count; id++) {
		const struct process *process = process_table_by_id(table, id);
		struct found_process *item = &finder->items.items[id];

		if (!process || process->end_ns || (item->pid && item->pid != process->pid))
			forget(finder, item, map_fd);
	}
}

void context_finder_look(struct context_finder *finder, int map_fd, bool is_first)
{
	struct process_table *table = session_options(finder->session)->processes;
	unsigned int files = is_first ? UINT32_MAX : FILES_PER_LOOK,
		     maps = is_first ? UINT32_MAX : MAPS_PER_LOOK;
	uint64_t until_ns = clock_now_ns() + LOOK_NS;
	size_t count = process_table_count(table);
	bool is_over = false;

	while (finder->items.count < count)
		if (!array_add(&finder->items))
			return;
	forget_ended(finder, table, count, map_fd);
	/* What there was no room for comes first the next time. */
	for (uint32_t i = 0, first = finder->next; i < count; i++) {
		uint32_t id = (first + i) % count;

		if (!is_first && clock_now_ns() > until_ns)
			files = maps = 0;
		look_at_process(finder, id, map_fd, &files, &maps);
		if (!is_over && (!files || !maps))
			finder->next = id + 1;
		is_over |= !files || !maps;
	}
}
